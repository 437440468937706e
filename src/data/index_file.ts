import { readNpy } from "../codecs/numpy/npy.ts";
import { RecordfsError } from "../base/errors.ts";
import {
  type ByteSource,
  type WaitOptions,
} from "../io/storage/byte_source.ts";
import { localPath } from "../io/storage/local_path.ts";
import {
  type LocationOptions,
  storedAt,
} from "../io/storage/stored_location.ts";
import type { Storage } from "../io/storage/storage.ts";
import { readPart } from "../io/read/read_part.ts";
import { runAsync, type Steps, unaborted } from "../io/concurrency/steps.ts";
import { utf8Text, withoutByteOrderMark } from "../base/utf8.ts";
import { DataError } from "./data_error.ts";
import { newNumbers, type WholeNumbers } from "../tree/shared_numbers.ts";
import { GrowingNumbers } from "../tree/growing_numbers.ts";
import { IndexOutput } from "./index_output.ts";

/** Bytes of a text file read at a time. */
const PIECE = 1 << 20;

/** Bytes at the start of a text file that are searched for comments. */
const HEAD = 4096;

/** Comment that identifies the indexed samples, as {@linkcode indexLine} writes it, with its `#`. */
const INDEX_LINE = /^#\s*recordfs-index\s+(.*)$/;
const INDEX_FACTS = /^1 samples=(\d+) names=([0-9a-f]+)$/;

/** Start of a `.npy` file. */
const NPY_MAGIC = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/** UTF-8 byte order mark, which some editors write. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const HASH = 0x23;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Reads an index file: decimal indices, one per line; or a NumPy `.npy` file of whole numbers in one dimension. In
 * text, empty lines, lines that start with `#`, a byte order mark and carriage returns at line ends are ignored. A
 * line `# recordfs-index 1 samples=N names=HASH` before the first index, which `recordfs split` writes, gives the
 * number of samples that there must be.
 *
 * @param path Location of the file.
 * @param length Number of samples; each index is checked against it.
 * @returns The indices in the order of the file, in shared memory: a `Uint32Array` if all samples' indices are
 * below 2^32.
 * @throws {DataError} With code `bad-indices` if the file contains anything else or an index that does not exist,
 * or indexes another number of samples. The message names the line.
 */
export function readIndexFile(
  path: string | URL,
  length: number,
  options: WaitOptions & LocationOptions = {},
): Promise<Uint32Array | Float64Array> {
  const { path: file, storage } = storedAt(path, options);
  return runAsync(readIndices(storage, file, length), options.signal);
}

/**
 * Reads an index file as {@linkcode readIndexFile} does, and checks the hash of the samples' names if the file has
 * one.
 *
 * @param hashOfNames Computes the hash of the samples' names, or `undefined` if they are unknown. Called only if
 * the file has a hash.
 * @throws {DataError} As `readIndexFile` does, and if the file indexes other samples.
 */
export async function readIndexOf(
  path: string | URL,
  length: number,
  hashOfNames: () => Promise<string | undefined>,
  options: WaitOptions & LocationOptions = {},
): Promise<WholeNumbers> {
  const { path: file, storage } = storedAt(path, options);
  let expected: string | undefined;
  const indices = await runAsync(
    readIndices(storage, file, length, (names) => expected = names),
    options.signal,
  );
  if (expected === undefined) return indices;
  const actual = await hashOfNames();
  if (actual === undefined || actual === expected) return indices;
  throw badIndices(file, "first comment", OTHER_SAMPLES);
}

/** Returns the comment that identifies the indexed samples, without its `#`. */
export function indexLine(samples: number, hashOfNames: string): string {
  return `recordfs-index 1 samples=${samples} names=${hashOfNames}`;
}

const OTHER_SAMPLES =
  "it is an index file of other samples: their names or shards differ from those of this container. " +
  "Split this container, or open that one";

/** @param onNames Called with the hash of the samples' names, if the file has it. */
function* readIndices(
  storage: Storage,
  path: string,
  length: number,
  onNames?: (names: string) => void,
): Steps<WholeNumbers> {
  const source = yield* storage.open(path);
  try {
    const head = yield* readPart(source, 0, Math.min(source.size, HEAD));
    const isNpy = NPY_MAGIC.every((byte, i) => head[i] === byte);
    if (isNpy) return yield* readArray(source, length);
    const names = namesIn(head, path, length);
    if (names !== undefined) onNames?.(names);
    return yield* readText(source, length);
  } finally {
    source.close();
  }
}

/**
 * Returns the hash of the samples' names in the comments before the first index, if any.
 *
 * @throws {DataError} If the comment is of an unknown version or names another number of samples.
 */
function namesIn(
  head: Uint8Array,
  path: string,
  length: number,
): string | undefined {
  const lines = withoutByteOrderMark(utf8Text(head)).split(/\r?\n/);
  for (const [i, line] of lines.entries()) {
    if (line !== "" && !line.startsWith("#")) break;
    const [, facts] = INDEX_LINE.exec(line) ?? [];
    if (facts === undefined) continue;
    const [, samples, names] = INDEX_FACTS.exec(facts.trimEnd()) ?? [];
    const bad = (what: string) => badIndices(path, `line ${i + 1}`, what);
    if (names === undefined) {
      throw bad(
        "this version of index files is unknown. Install a newer recordfs, or remove the line",
      );
    }
    if (Number(samples) !== length) {
      throw bad(
        `it is an index file of ${samples} samples, and this container has ${length}. ` +
          "Split this container, or open that one",
      );
    }
    return names;
  }
  return undefined;
}

function* readText(
  source: ByteSource,
  length: number,
): Steps<WholeNumbers> {
  const indices = new GrowingNumbers(length);
  let line = 1;
  let index = 0; // value of the line's digits so far
  let digits = 0;
  let inComment = false;
  let isEnding = false; // by a carriage return, which a line feed must follow
  const bad = (what: string, sample?: number) =>
    badIndices(source.name, `line ${line}`, what, sample);
  const endLine = () => {
    if (digits > 0) {
      if (!Number.isSafeInteger(index)) {
        throw bad("the number is larger than 2^53 - 1");
      }
      if (index >= length) throw bad(missing(index, length), index);
      indices.push(index);
    }
    line++;
    index = 0;
    digits = 0;
    inComment = false;
    isEnding = false;
  };
  const take = (bytes: Uint8Array) => {
    for (const byte of bytes) {
      if (byte === LINE_FEED) endLine();
      else if (byte === CARRIAGE_RETURN) isEnding = true;
      else if (isEnding) throw bad(LONE_RETURN);
      else if (inComment) continue;
      else if (byte >= ZERO && byte <= NINE) {
        index = index * 10 + (byte - ZERO);
        digits++;
      } else if (byte === HASH && digits === 0) inComment = true;
      else throw bad("not an index file: expected one whole number per line");
    }
  };
  const mark = yield* readPart(source, 0, Math.min(source.size, 3));
  const start = BYTE_ORDER_MARK.every((byte, i) => mark[i] === byte) ? 3 : 0;
  for (let offset = start; offset < source.size; offset += PIECE) {
    const size = Math.min(PIECE, source.size - offset);
    take(yield* readPart(source, offset, size));
  }
  endLine();
  return indices.finish();
}

const LONE_RETURN =
  "a lone carriage return: lines must end in a line feed, or in both";

/** Integer dtypes. */
const INTEGERS = /^(<[iu][248]|\|[iu]1)$/;

function* readArray(
  source: ByteSource,
  length: number,
): Steps<WholeNumbers> {
  const path = source.name;
  const bytes = yield* readPart(source, 0, source.size);
  let array: ReturnType<typeof readNpy>;
  try {
    array = readNpy(bytes);
  } catch (cause) {
    if (!(cause instanceof RecordfsError)) throw cause;
    throw badIndices(path, "its array", cause.message, undefined, cause);
  }
  const { dtype, shape, data } = array;
  if (!INTEGERS.test(dtype) || shape.length !== 1) {
    throw badIndices(
      path,
      "its array",
      `it is of ${dtype} in ${shape.length} dimensions: indices must be ` +
        "whole numbers in one",
    );
  }
  const indices = newNumbers(data.length, length);
  for (let i = 0; i < indices.length; i++) {
    const index = Number(data[i]);
    if (index < 0 || index >= length) {
      throw badIndices(path, `element ${i}`, missing(index, length), index);
    }
    indices[i] = index;
  }
  return indices;
}

function missing(index: number, length: number): string {
  return length === 0
    ? `there is no sample ${index}: the container has no samples`
    : `there is no sample ${index}: valid indices are 0 to ${length - 1}`;
}

function badIndices(
  path: string,
  place: string,
  what: string,
  sample?: number,
  cause?: unknown,
): DataError {
  return new DataError(
    "bad-indices",
    `Cannot read ${path}, ${place}: ${what}`,
    {
      path,
      sample,
      cause,
    },
  );
}

/**
 * Writes the indices of a subset, for {@linkcode readIndexFile}, `Subset.fromFile` and `--subset` of the command.
 * The file appears when it is complete.
 *
 * @param path Location of the file; an existing one is replaced.
 * @param indices Indices in the order in which they are to be read.
 * @param options Comments for the start of the file, and a signal.
 * @throws {RangeError} If an index is not a whole number ≥ 0.
 * @throws {WriteError} If the file cannot be written.
 */
export function writeIndexFile(
  path: string | URL,
  indices: Iterable<number>,
  { comments = [], signal }: WaitOptions & {
    /** Lines for human readers at the start of the file. */
    readonly comments?: readonly string[] | undefined;
  } = {},
): Promise<void> {
  return runAsync(writeIndices(localPath(path), indices, comments), signal);
}

function* writeIndices(
  path: string,
  indices: Iterable<number>,
  comments: readonly string[],
): Steps<void> {
  const output = yield* IndexOutput.create(path, comments);
  try {
    for (const index of indices) {
      if (!Number.isSafeInteger(index) || index < 0) {
        throw new RangeError(
          `An index must be a whole number from 0 on, not ${index}`,
        );
      }
      output.add(index);
      if (output.full) yield* output.flush();
    }
    yield* output.finish();
    yield* unaborted(() => output.publish());
  } finally {
    output.discard();
  }
}
