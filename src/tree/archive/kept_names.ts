import type { Column } from "../../io/kept/kept_tables.ts";
import type { NameTableColumns } from "../names/name_table.ts";

/** Columns of names under one name each, to be kept among others. */
export function namesToKeep(
  { sorted, ...names }: NameTableColumns,
): Record<string, Column> {
  const entries = Object.entries(names)
    .map(([name, column]) => [`names.${name}`, column] as const);
  return {
    ...Object.fromEntries(entries),
    ...sorted === undefined ? {} : { "names.sorted": sorted },
  };
}

/** The columns of names among those that were kept. */
export function keptNames(
  kept: Readonly<Record<string, Column>>,
): NameTableColumns {
  const words = (name: string) => kept[`names.${name}`] as Uint32Array;
  return {
    names: kept["names.names"] as Uint8Array,
    nameStarts: words("nameStarts"),
    nameEnds: words("nameEnds"),
    refs: words("refs"),
    directoryEntries: words("directoryEntries"),
    firstChildren: words("firstChildren"),
    sorted: kept["names.sorted"] as Uint32Array | undefined,
  };
}
