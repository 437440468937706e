import { FormatError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { OpenAs } from "../entry.ts";
import { readStructureAt } from "./packed_files.ts";
import type { OpenOptions, RecordFiles } from "../read/record_files.ts";
import { notPacked, type PlacedStructure } from "./structure.ts";
import { endsInStructure } from "./structure_magic.ts";

/**
 * The structures that files show when they are opened `as` that; none for plain samples.
 *
 * @throws {FormatError} If they must be packed folders and are not.
 */
export function* structuresAs(
  as: OpenAs,
  files: RecordFiles,
  options: OpenOptions,
): Steps<PlacedStructure[]> {
  if (as === "samples") return [];
  const placed = yield* findStructures(files, options);
  if (as === "packed" && placed.length === 0) throw notPacked(files.index.name);
  return placed;
}

/**
 * Finds the structures that files show as: none for plain samples; one for a packed folder, which
 * may be spread over all files; one a file where each file is a packed folder.
 */
function* findStructures(
  files: RecordFiles,
  options: OpenOptions,
): Steps<PlacedStructure[]> {
  const { index } = files;
  if (index.length === 0) return [];
  if (!(yield* lastIsStructure(files))) return [];
  if (index.parts.length > 1 && (yield* eachIsPacked(files))) {
    const placed: PlacedStructure[] = [];
    for (const [part, { path, count }] of index.parts.entries()) {
      const first = index.startOf(part);
      const last = first + count - 1;
      const structure = yield* readStructureAt(files, first, last, options);
      placed.push({ structure, folder: folderName(path) });
    }
    return placed;
  }
  const last = index.length - 1;
  const structure = yield* readStructureAt(files, 0, last, options);
  return [{ structure, folder: undefined }];
}

function* lastIsStructure(files: RecordFiles): Steps<boolean> {
  try {
    return yield* endsInStructure(files, files.index.length - 1);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    // Numbered samples would be a surprise where there were names before the damage.
    throw new FormatError(
      error.code,
      `${error.message}. Whether it was a packed folder can't be told any ` +
        'more; the option `format: "ffrecord-samples"` shows the samples that are left',
      { ...error, cause: error },
    );
  }
}

function* eachIsPacked(files: RecordFiles): Steps<boolean> {
  const { index } = files;
  for (const [part, { count }] of index.parts.entries()) {
    if (count === 0) return false;
    const last = index.startOf(part) + count - 1;
    if (!(yield* endsInStructure(files, last))) return false;
  }
  return true;
}

function folderName(file: string): string {
  const name = process.getBuiltinModule("node:path").basename(file);
  return name === ".ffr" ? name : name.slice(0, -".ffr".length);
}
