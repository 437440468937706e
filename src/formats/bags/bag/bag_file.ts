import { FormatError } from "../../../errors.ts";
import { FileSource } from "../../../io/storage/file_source.ts";
import type { MemorySource } from "../../../io/storage/memory_source.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Generation } from "../dataset/generation.ts";
import { withTrailer } from "./bag_trailer.ts";
import { ENTRY, readEntry } from "./index_entries.ts";
import { indexPath } from "./index_path.ts";

/** What the bytes of a bag, or of its index, are read from. */
export type BagBytes = FileSource | MemorySource;

/** An opened bag: where its records and their ends are. Records lie back to back from byte 0. */
export interface BagFile<S extends BagBytes = FileSource> {
  /** Path of the `.bag`; what messages call one in memory. */
  readonly path: string;
  readonly generation: Generation;
  /** How many records there are. */
  readonly length: number;
  /** Bytes of the `.bag` that records may lie in. */
  readonly dataEnd: number;
  /** The `.bag`. */
  readonly source: S;
  /** What holds the index: the `.bag` itself, but the `.idx` in generation 3. */
  readonly index: S;
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
  /** Whether it is known to be of generation 1 or 2, so that an `.idx` beside it is not its own. */
  readonly isTrailed?: boolean | undefined;
  /** Told of what is odd but readable. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Closes what {@linkcode openBag} opened. */
export function closeBag({ source, index }: BagFile<BagBytes>): void {
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
  const { generation, isTrailed = false, onWarning } = options;
  let index = isTrailed || generation === 1 || generation === 2
    ? undefined
    : yield* openIndex(indexPath(path));
  let source: FileSource | undefined;
  try {
    if (index !== undefined) {
      // A generation-3 writer may be at work.
      source = yield* FileSource.open(path, { mayGrow: true });
      const isOwn = generation === 3 || !(yield* isStray(index, source));
      if (isOwn) return withIndex(source, index, options);
      onWarning?.(
        `${index.name} is ignored: it is not the index of ${path}, which has its own at its end`,
      );
      source.close();
      index.close();
      index = undefined;
    }
    source = yield* FileSource.open(path);
    if (generation === 3) throw missingIndex(path);
    return yield* withTrailer(source, generation);
  } catch (error) {
    source?.close();
    index?.close();
    throw error;
  }
}

/**
 * Opens a bag that is in memory, or one whose index is not beside it.
 *
 * @param bag Path of the `.bag`, or its bytes.
 * @param index Path of the index of generation 3, or its bytes.
 * @throws {FormatError} If it is no bag, or was cut; or one in memory of generation 3 without index.
 * @throws {RangeError} If an index is given for generation 1 or 2.
 */
export function* openBagParts(
  bag: string | MemorySource,
  index: string | MemorySource | undefined,
  options: BagFileOptions,
): Steps<BagFile<BagBytes>> {
  if (typeof bag === "string" && index === undefined) {
    return yield* openBag(bag, options);
  }
  const { generation } = options;
  if (index === undefined) {
    const source = bag as MemorySource;
    if (generation === 3) throw missingIndex(source.name, "the option index");
    return yield* withTrailer<BagBytes>(source, generation);
  }
  if (generation === 1 || generation === 2) {
    throw new RangeError(
      `Bags of generation ${generation} have their index at their end: leave the option index out`,
    );
  }
  const opened = yield* openPart(index);
  try {
    return withIndex(yield* openPart(bag), opened, options);
  } catch (error) {
    opened.close();
    throw error;
  }
}

function* openPart(part: string | MemorySource): Steps<BagBytes> {
  if (typeof part !== "string") return part;
  return yield* FileSource.open(part, { mayGrow: true }); // a writer may be at work
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

/**
 * Whether an `.idx` is not that of the bag beside it, which is one of generation 1 or 2: it names bytes
 * that are not there, or is none at all, and the bag has a sound index at its end.
 */
function* isStray(index: FileSource, source: FileSource): Steps<boolean> {
  const { size } = index;
  if (size < ENTRY || source.size < ENTRY) return false;
  if (size % ENTRY === 0) {
    const first = readEntry(yield* readPart(index, 0, ENTRY), 0);
    const last = readEntry(yield* readPart(index, size - ENTRY, ENTRY), 0);
    if (first <= last && last <= source.size) return false;
  }
  try {
    yield* withTrailer(source, undefined);
    return true;
  } catch (error) {
    if (error instanceof FormatError) return false; // damage of generation 3, then
    throw error;
  }
}

/** Generation 3. The index is written after the records: what it does not name is not yet there. */
function withIndex<S extends BagBytes>(
  source: S,
  index: S,
  { onWarning }: BagFileOptions,
): BagFile<S> {
  const length = Math.floor(index.size / ENTRY);
  if (length * ENTRY !== index.size) {
    onWarning?.(
      `${index.name}: the index is cut: its last ${
        index.size % ENTRY
      } bytes are no whole entry`,
    );
  }
  return {
    path: source.name,
    generation: 3,
    length,
    dataEnd: source.size,
    source,
    index,
    indexStart: 0,
  };
}

function missingIndex(
  path: string,
  expected = indexPath(path),
): FormatError {
  return new FormatError(
    "missing-index",
    `${path} has no index: ${expected} is missing, which a bag of generation 3 needs`,
    { path, expected },
  );
}
