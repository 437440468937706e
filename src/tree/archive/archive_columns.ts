import type { Column } from "../../io/index_cache/tables_format.ts";

/** Flattens columns for the index cache; columns of a group become `GROUP.COLUMN`. */
export function columnsToKeep(groups: object): Record<string, Column> {
  const entries = Object.entries(groups).flatMap(([name, column]) => {
    if (column === undefined) return [];
    if (ArrayBuffer.isView(column)) return [[name, column]];
    const own = Object.entries(columnsToKeep(column));
    return own.map(([inner, column]) => [`${name}.${inner}`, column]);
  });
  return Object.fromEntries(entries);
}

/** Restores the groups of cached columns. */
export function keptColumns(kept: Readonly<Record<string, Column>>): object {
  const groups = Map.groupBy(
    Object.entries(kept),
    ([name]) => name.split(".", 1)[0]!,
  );
  const entries = [...groups].map(([group, columns]) => {
    const [[name, only]] = columns as [[string, Column]];
    if (name === group) return [name, only];
    const start = group.length + 1;
    const own = columns.map(([name, column]) => [name.slice(start), column]);
    return [group, Object.fromEntries(own)];
  });
  return Object.fromEntries(entries);
}
