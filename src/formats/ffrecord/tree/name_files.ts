import { FormatError } from "../../../errors.ts";
import type { NameTable } from "../../../tree/name_table.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { buildNameTable, type PlacedStructure } from "../folder/structure.ts";

/**
 * Makes the table of names that opened files show.
 *
 * @param placed What `findStructures` found of them; not empty.
 * @throws {FormatError} If the structures are damaged, or are not those of these files.
 */
export function nameFiles(
  files: RecordFiles,
  placed: readonly PlacedStructure[],
): NameTable {
  const names = buildNameTable(placed);
  const whole = placed[0]!.folder === undefined;
  if (whole && files.sources.length > 1) {
    refuseMixture(files, names, placed[0]!);
  }
  return names;
}

/**
 * In a folder spread over files, every sample but the last is one of its files. Where that is not
 * so, the last file is a packed folder of its own among others, and its indices mean its own samples.
 */
function refuseMixture(
  files: RecordFiles,
  names: NameTable,
  { structure }: PlacedStructure,
): void {
  const { refs, directoryEntries } = names.columns;
  const named = refs.length - directoryEntries.length;
  const samples = files.index.length - 1;
  if (named === samples) return;
  throw new FormatError(
    "bad-structure",
    `${structure.path} names ${named} files, but it and the .ffr files ` +
      `before it hold ${samples} samples: they are not one packed folder; ` +
      `open them one by one`,
    { path: structure.path, expected: samples, actual: named },
  );
}
