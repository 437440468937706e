import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { ENTRY, readEntry } from "../../../tree/limits/limit_entries.ts";
import { checkTable, tableAtTail } from "../../../tree/limits/table_at_tail.ts";
import { Bag, indexPath } from "./bag.ts";
import { openFile, openIfThere } from "../../../io/storage/open_file.ts";

export interface OpenBagOptions {
  /** Storage of the bag. Defaults to the local disk. */
  readonly storage?: Storage | undefined;
  /** Opens the bag as this generation instead of detecting it. */
  readonly generation?: Generation | undefined;
  /** Index of generation 3, or its path, if it is not the `.idx` next to the bag. */
  readonly index?: string | ByteSource | undefined;
  /** Whether the bag is known to be of generation 1 or 2, so that an `.idx` next to it does not belong to it. */
  readonly isTrailed?: boolean | undefined;
  /** Called with warnings about content that is odd but readable. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A generation-3 writer may be appending. */
const MAY_GROW = { mayGrow: true } as const;

/**
 * Opens a bag, by path or from its bytes. Reads only the first and last page of its index, however long it is.
 *
 * @throws {FormatError} If it is not a bag, was truncated, or is of generation 3 and has no index.
 * @throws {RangeError} If an index is given for generation 1 or 2.
 */
export function* openBag(
  bag: string | ByteSource,
  options: OpenBagOptions = {},
): Steps<Bag> {
  const { generation, index, storage = LOCAL_DISK } = options;
  if (index !== undefined) return yield* openWith(bag, index, options);
  if (typeof bag === "string") return yield* openAt(storage, bag, options);
  if (generation === 3) throw missingIndex(bag.name, "the option index");
  const otherwise =
    "; a bag of generation 3 needs its index: give it by the option index";
  return yield* withTrailer(bag, generation, otherwise);
}

function* openAt(
  storage: Storage,
  path: string,
  options: OpenBagOptions,
): Steps<Bag> {
  const { generation, isTrailed = false, onWarning } = options;
  const hasTrailer = isTrailed || generation === 1 || generation === 2;
  const idx = indexPath(path);
  const otherwise =
    `; a bag of generation 3 needs ${idx} next to it (no index: neither ` +
    "a trailer nor an .idx file)";
  let index = hasTrailer
    ? undefined
    : yield* openIfThere(storage, idx, MAY_GROW);
  let source: ByteSource | undefined;
  try {
    if (index !== undefined) {
      source = yield* openFile(storage, path, MAY_GROW);
      const isOwn = generation === 3 ||
        !(yield* isStray(index, source, otherwise));
      if (isOwn) return withIndex(source, index, options);
      onWarning?.(
        `${index.name} is ignored: it is not the index of ${path}, which has its own at its end`,
      );
      source.close();
      index.close();
      index = undefined;
    }
    source = yield* openFile(storage, path);
    if (generation === 3) throw missingIndex(path, idx);
    return yield* withTrailer(source, generation, otherwise);
  } catch (error) {
    source?.close();
    index?.close();
    throw error;
  }
}

function* openWith(
  bag: string | ByteSource,
  index: string | ByteSource,
  options: OpenBagOptions,
): Steps<Bag> {
  const { generation, storage = LOCAL_DISK } = options;
  if (generation === 1 || generation === 2) {
    throw new RangeError(
      `The option index is not for bags of generation ${generation}, ` +
        "which have their index at their end",
    );
  }
  const open = function* (part: string | ByteSource): Steps<ByteSource> {
    if (typeof part !== "string") return part;
    return yield* openFile(storage, part, MAY_GROW);
  };
  const opened = yield* open(index);
  try {
    return withIndex(yield* open(bag), opened, options);
  } catch (error) {
    opened.close();
    throw error;
  }
}

/**
 * Whether an `.idx` is not that of the bag next to it, of generation 1 or 2: it is malformed or points past the bag,
 * and the bag ends in a valid index.
 */
function* isStray(
  index: ByteSource,
  source: ByteSource,
  otherwise: string,
): Steps<boolean> {
  const { size } = index;
  if (size < ENTRY || source.size < ENTRY) return false;
  if (size % ENTRY === 0) {
    const first = readEntry(yield* readPart(index, 0, ENTRY), 0);
    const last = readEntry(yield* readPart(index, size - ENTRY, ENTRY), 0);
    if (first <= last && last <= source.size) return false;
  }
  try {
    yield* withTrailer(source, undefined, otherwise);
    return true;
  } catch (error) {
    if (error instanceof FormatError) return false; // damaged bag of generation 3
    throw error;
  }
}

/** Opens generation 3. The index is written after the records, so a record without an entry does not exist yet. */
function withIndex(
  source: ByteSource,
  index: ByteSource,
  { onWarning }: OpenBagOptions,
): Bag {
  const surplus = index.size % ENTRY;
  if (surplus !== 0) {
    onWarning?.(
      `${index.name}: the index is truncated: its last ${surplus} bytes ` +
        "are not a whole entry",
    );
  }
  const length = (index.size - surplus) / ENTRY;
  return new Bag(3, length, source.size, source, index);
}

/**
 * Opens a bag of generation 1 or 2. The index follows the records; its last number is the offset where it starts. Reads
 * only the first and last page of the index.
 *
 * @param forced Opens the bag as this generation instead of detecting it.
 * @param otherwise Other possible causes, for messages.
 */
function* withTrailer(
  source: ByteSource,
  forced: 1 | 2 | undefined,
  otherwise: string,
): Steps<Bag> {
  const { name: path, size } = source;
  if (size === 0 && forced !== 1) return new Bag(2, 0, 0, source);
  const end = yield* tableAtTail(source, "bag", otherwise);
  const first = readEntry(yield* readPart(source, end, ENTRY), 0);
  if (forced === 1 && first !== 0) {
    throw new FormatError(
      "bad-index",
      `Cannot read ${path}: the first limit must be 0 in generation 1, ` +
        `not ${first}`,
      { path, offset: end, expected: 0, actual: first },
    );
  }
  const entries = (size - end) / ENTRY;
  const generation = forced ?? (first === 0 ? 1 : 2);
  const surplus = generation === 1 ? 1 : 0; // start of the first record
  const start = end + surplus * ENTRY;
  const bag = new Bag(
    generation,
    entries - surplus,
    end,
    source,
    source,
    start,
  );
  yield* checkTable(bag, otherwise);
  return bag;
}

function missingIndex(path: string, expected: string): FormatError {
  return new FormatError(
    "missing-index",
    `Cannot open ${path}: it has no index: ${expected} is missing, ` +
      "which a bag of generation 3 needs",
    { path, expected },
  );
}
