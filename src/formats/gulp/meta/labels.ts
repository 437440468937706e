import { parseObjectEntries } from "../../../codecs/json/parts.ts";
import { FormatError } from "../../../base/errors.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { readFile } from "../../../io/read/read_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { LABEL_FILE } from "../read/chunk_files.ts";

/** Reads `label2idx.json`, if there is one: the number of each label. Throws FormatError if it is damaged. */
export function* readLabels(
  file: string | undefined,
  storage: Storage = LOCAL_DISK,
): Steps<Map<string, number> | undefined> {
  if (file === undefined) return undefined;
  return parseLabels(file, yield* readFile(file, storage));
}

/** Parses `label2idx.json`, in file order; throws FormatError if it is not an object of integers. */
export function parseLabels(
  file: string,
  bytes: Uint8Array,
): Map<string, number> {
  try {
    const labels = parseObjectEntries(bytes);
    const isNumbered = labels?.values().every(Number.isSafeInteger);
    if (!isNumbered) {
      throw new TypeError("it is not an object of whole numbers");
    }
    return labels as Map<string, number>;
  } catch (cause) {
    throw new FormatError(
      "bad-meta",
      `Cannot read ${file} as ${LABEL_FILE}: ${(cause as Error).message}`,
      { path: file, cause },
    );
  }
}
