import { FormatError } from "../../errors.ts";
import { FileSource } from "../../io/file_source.ts";
import { readPart } from "../../io/read_part.ts";
import type { Steps } from "../../io/steps.ts";
import type { Generation } from "./generation.ts";
import { checkIndexPage, ENTRY, readEntry } from "./index_entries.ts";

/** An opened bag: where its records and their ends are. Records lie back to back from byte 0. */
export interface BagFile {
  /** Path of the `.bag`. */
  readonly path: string;
  readonly generation: Generation;
  /** How many records there are. */
  readonly length: number;
  /** Bytes of the `.bag` that records may lie in. */
  readonly dataEnd: number;
  /** The `.bag`. */
  readonly source: FileSource;
  /** The file that holds the index: the `.bag` itself, but the `.idx` in generation 3. */
  readonly index: FileSource;
  /**
   * Where in `index` the ends of the records start, `length` u64 each: the generations differ in no
   * more than that, since generation 1 has one more number before, which is 0.
   */
  readonly indexStart: number;
}

/** How to open a bag. */
export interface BagFileOptions {
  /** Takes the bag for one of this generation instead of looking at its content. */
  readonly generation?: Generation | undefined;
  /** Told of what is odd but readable. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The index of a generation-3 bag: `foo.idx` for `foo.bag`. */
export function indexPath(bagPath: string): string {
  return bagPath.replace(/\.[^./]*$/, "") + ".idx";
}

/** Closes what {@linkcode openBag} opened. */
export function closeBag({ source, index }: BagFile): void {
  source.close();
  if (index !== source) index.close();
}

/**
 * Opens a bag. Of its index, the first and the last page are looked at, however long it is.
 *
 * @param path The `.bag`.
 * @throws {FormatError} If it is no bag, or was cut.
 */
export function* openBag(
  path: string,
  options: BagFileOptions = {},
): Steps<BagFile> {
  const { generation } = options;
  const index = generation === undefined || generation === 3
    ? yield* openIndex(indexPath(path))
    : undefined;
  let source: FileSource | undefined;
  try {
    // A generation-3 writer may be at work.
    source = yield* FileSource.open(path, { mayGrow: index !== undefined });
    if (index !== undefined) return withIndex(source, index, options);
    if (generation === 3) throw missingIndex(path);
    const bag = yield* withTrailer(source, generation);
    yield* checkIndex(bag);
    return bag;
  } catch (error) {
    source?.close();
    index?.close();
    throw error;
  }
}

/** The `.idx`, or `undefined` where there is none. */
function* openIndex(path: string): Steps<FileSource | undefined> {
  try {
    return yield* FileSource.open(path, { mayGrow: true });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Generation 3. The index is written after the records: what it does not name is not yet there. */
function withIndex(
  source: FileSource,
  index: FileSource,
  { onWarning }: BagFileOptions,
): BagFile {
  const length = Math.floor(index.size / ENTRY);
  if (length * ENTRY !== index.size) {
    onWarning?.(
      `${index.name}: the index is cut: its last ${
        index.size % ENTRY
      } bytes are no whole entry`,
    );
  }
  return {
    path: source.path,
    generation: 3,
    length,
    dataEnd: source.size,
    source,
    index,
    indexStart: 0,
  };
}

/** Generations 1 and 2: the last number is where the index starts. */
function* withTrailer(
  source: FileSource,
  forced: 1 | 2 | undefined,
): Steps<BagFile> {
  const { path, size } = source;
  if (size < ENTRY) {
    if (size === 0 && forced !== 1) return trailed(source, 2, 0, 0);
    throw new FormatError(
      "truncated",
      `${path} is too short for a bag: it has ${size} bytes, an index at least ${ENTRY}` +
        noIndexFile(path),
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
        noIndexFile(path),
      { path, offset: size - ENTRY, expected: size - ENTRY, actual: end },
    );
  }
  if ((size - end) % ENTRY !== 0) {
    throw new FormatError(
      "truncated",
      `${path}: the index does not fit the file: the index length is no multiple of ${ENTRY}: ` +
        `it starts at byte ${end} of ${size}. The file was cut, or it is no bag` +
        noIndexFile(path),
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

function trailed(
  source: FileSource,
  generation: 1 | 2,
  end: number,
  entries: number,
): BagFile {
  return {
    path: source.path,
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
function* checkIndex(bag: BagFile): Steps<void> {
  const { path, index, indexStart, length } = bag;
  if (length === 0) return;
  const head = Math.min(length, PAGE);
  const first = yield* readPart(index, indexStart, head * ENTRY);
  checkIndexPage(bag, first, 0, noIndexFile(path));
  const tail = Math.max(head, length - PAGE);
  if (tail === length) return;
  const start = indexStart + tail * ENTRY;
  const bytes = yield* readPart(index, start, (length - tail) * ENTRY);
  checkIndexPage(bag, bytes, tail, noIndexFile(path));
}

function noIndexFile(path: string): string {
  return `; a bag of generation 3 needs ${indexPath(path)} beside it ` +
    "(no index: neither a trailer nor an .idx file)";
}

function missingIndex(path: string): FormatError {
  const expected = indexPath(path);
  return new FormatError(
    "missing-index",
    `${path} has no index: ${expected} is missing, which a bag of generation 3 needs`,
    { path, expected },
  );
}
