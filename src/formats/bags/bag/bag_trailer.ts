import { FormatError } from "../../../errors.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BagBytes, BagFile } from "./bag_file.ts";
import { checkIndexPage, ENTRY, readEntry } from "./index_entries.ts";
import { indexPath } from "./index_path.ts";

/**
 * Finds the index of a bag of generation 1 or 2, behind its records: the last number is where it
 * starts. Of the index, the first and the last page are looked at.
 *
 * @param forced Takes the bag for one of this generation instead of looking at its content.
 * @throws {FormatError} If it is no bag, or was cut.
 */
export function* withTrailer<S extends BagBytes>(
  source: S,
  forced: 1 | 2 | undefined,
): Steps<BagFile<S>> {
  const bag = yield* findTrailer(source, forced);
  yield* checkIndex(bag);
  return bag;
}

function* findTrailer<S extends BagBytes>(
  source: S,
  forced: 1 | 2 | undefined,
): Steps<BagFile<S>> {
  const { name: path, size } = source;
  const otherwise = noIndexFile(source);
  if (size < ENTRY) {
    if (size === 0 && forced !== 1) return trailed(source, 2, 0, 0);
    throw new FormatError(
      "truncated",
      `${path} is too short for a bag: it has ${size} bytes, an index at least ${ENTRY}` +
        otherwise,
      { path, expected: ENTRY, actual: size },
    );
  }
  const last = yield* readPart(source, size - ENTRY, ENTRY);
  const end = readEntry(last, 0);
  if (end > size - ENTRY) {
    throw new FormatError(
      "truncated",
      `${path}: the index does not fit the file: its last entry says that the index starts ` +
        `past the end of the file, at byte ${end} of ${size}. The file was cut, or it is no bag` +
        otherwise,
      { path, offset: size - ENTRY, expected: size - ENTRY, actual: end },
    );
  }
  if ((size - end) % ENTRY !== 0) {
    throw new FormatError(
      "truncated",
      `${path}: the index does not fit the file: the index length is no multiple of ${ENTRY}: ` +
        `it starts at byte ${end} of ${size}. The file was cut, or it is no bag` +
        otherwise,
      { path, offset: size - ENTRY, actual: end },
    );
  }
  const first = readEntry(yield* readPart(source, end, ENTRY), 0);
  if (forced === 1 && first !== 0) {
    throw new FormatError(
      "bad-index",
      `${path}: the first limit must be 0 in generation 1, it is ${first}`,
      { path, offset: end, expected: 0, actual: first },
    );
  }
  const entries = (size - end) / ENTRY;
  const generation = forced ?? (first === 0 ? 1 : 2);
  return trailed(source, generation, end, entries);
}

function trailed<S extends BagBytes>(
  source: S,
  generation: 1 | 2,
  end: number,
  entries: number,
): BagFile<S> {
  return {
    path: source.name,
    generation,
    length: generation === 1 ? entries - 1 : entries,
    dataEnd: end,
    source,
    index: source,
    indexStart: generation === 1 ? end + ENTRY : end,
  };
}

/** Entries that are looked at on opening, at either end of the index. */
const PAGE = 512;

/**
 * Tells an index from record bytes that a lost tail has made look like one.
 *
 * @throws {FormatError} If it is none.
 */
function* checkIndex(bag: BagFile<BagBytes>): Steps<void> {
  const { source, index, indexStart, length } = bag;
  const otherwise = noIndexFile(source);
  if (length === 0) return;
  const head = Math.min(length, PAGE);
  const first = yield* readPart(index, indexStart, head * ENTRY);
  checkIndexPage(bag, first, 0, otherwise);
  const tail = Math.max(head, length - PAGE);
  if (tail === length) return;
  const start = indexStart + tail * ENTRY;
  const bytes = yield* readPart(index, start, (length - tail) * ENTRY);
  checkIndexPage(bag, bytes, tail, otherwise);
}

function noIndexFile(source: BagBytes): string {
  return source instanceof MemorySource
    ? "; a bag of generation 3 needs its index: give it by the option index"
    : `; a bag of generation 3 needs ${indexPath(source.path)} beside it ` +
      "(no index: neither a trailer nor an .idx file)";
}
