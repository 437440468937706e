import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource, SourceList } from "../storage/byte_source.ts";
import {
  type ChecksumKind,
  type ChecksumOf,
  checksumOf,
} from "../checksums/checksum.ts";
import { fill, fillSummed, readPart } from "./read_part.ts";
import { type ReadInto, readSlices } from "./read_slices.ts";
import type { Slice } from "./slice_runs.ts";

/** Range of a source, with the checksum recorded in the container. */
export interface VerifiedContent {
  readonly offset: number;
  readonly length: number;
  /** `undefined` if the container records no checksum. */
  readonly checksumKind: ChecksumKind | undefined;
  readonly checksum: number;
}

/** Makes the error of a checksum mismatch. */
export type Mismatch = (expected: number, actual: number) => Error;

/** Whether a checksum matches the recorded one, or none is recorded. */
export function isRight(
  { checksumKind, checksum }: VerifiedContent,
  actual: number,
): boolean {
  return actual === checksum || checksumKind === undefined;
}

/**
 * Checks a content that was read from start to end. On a mismatch, invalidates the cached range so that the next reader
 * fetches it, and throws what `mismatch` returns.
 */
export function requireRight(
  source: ByteSource,
  content: VerifiedContent,
  actual: number,
  mismatch: Mismatch,
): void {
  if (isRight(content, actual)) return;
  source.invalidate?.(content.offset, content.length);
  throw mismatch(content.checksum, actual);
}

/** Checks a content that is read in pieces, from start to end. */
export class PiecewiseCheck {
  readonly #source: ByteSource;
  readonly #content: VerifiedContent;
  readonly #mismatch: Mismatch;
  readonly #sum: ChecksumOf | undefined;
  #actual = 0;

  constructor(
    source: ByteSource,
    content: VerifiedContent,
    mismatch: Mismatch,
  ) {
    this.#source = source;
    this.#content = content;
    this.#mismatch = mismatch;
    const { checksumKind } = content;
    if (checksumKind !== undefined) this.#sum = checksumOf(checksumKind);
  }

  add(piece: Uint8Array): void {
    if (this.#sum !== undefined) this.#actual = this.#sum(piece, this.#actual);
  }

  end(): void {
    requireRight(this.#source, this.#content, this.#actual, this.#mismatch);
  }
}

/**
 * Reads a content through `into` and checks its checksum. If a remote source's cache is wrong, reads it again. If
 * `into` has the content's length, it holds the content afterwards; a longer content is only checked.
 */
export function* readVerified(
  source: ByteSource,
  content: VerifiedContent,
  into: Uint8Array,
  mismatch: Mismatch,
): Steps<void> {
  const actual = yield* readThrough(source, content, into);
  if (isRight(content, actual)) return;
  yield* readAgain(source, content, into, mismatch, actual);
}

/** {@linkcode readVerified} for a content found to be wrong. `actual` is optional if the source can invalidate. */
export function* readAgain(
  source: ByteSource,
  content: VerifiedContent,
  into: Uint8Array,
  mismatch: Mismatch,
  actual = NaN,
): Steps<void> {
  const { offset, length, checksum } = content;
  if (source.invalidate === undefined) throw mismatch(checksum, actual);
  source.invalidate(offset, length);
  const again = yield* readThrough(source, content, into);
  if (!isRight(content, again)) throw mismatch(checksum, again);
}

function* readThrough(
  source: ByteSource,
  { offset, length, checksumKind }: VerifiedContent,
  into: Uint8Array,
): Steps<number> {
  const sum = checksumKind !== undefined && checksumOf(checksumKind);
  if (into.byteLength === length) {
    return yield* fillSummed(source, into, offset, sum);
  }
  let actual = 0;
  for (let done = 0; done < length; done += into.byteLength) {
    const piece = into.subarray(0, length - done);
    yield* fill(source, piece, offset + done);
    if (sum !== false) actual = sum(piece, actual);
  }
  return actual;
}

/**
 * Reads a batch of contents like {@linkcode readSlices} and checks each, unless `mismatch` is `undefined`. If caches of
 * remote sources are wrong, reads all wrong contents again together.
 */
export function* readVerifiedSlices(
  sources: SourceList,
  contents: readonly (Slice & VerifiedContent)[],
  mismatch:
    | ((i: number, expected: number, actual: number) => Error)
    | undefined,
  into?: ReadInto,
): Steps<Uint8Array<ArrayBuffer>[]> {
  if (mismatch === undefined) {
    return yield* readSlices(sources, contents, undefined, into);
  }
  const wrong: number[] = [];
  const read = yield* readSlices(sources, contents, (i, actual) => {
    const { source, checksum } = contents[i]!;
    if (actual === checksum) return;
    if (sources.at(source)!.invalidate === undefined) {
      throw mismatch(i, checksum, actual);
    }
    wrong.push(i);
  }, into);
  if (wrong.length === 0) return read;
  const again = wrong.map((i) => contents[i]!);
  for (const { source, offset, length } of again) {
    sources.at(source)!.invalidate!(offset, length);
  }
  const places = wrong.map((i) => read[i]!);
  yield* readSlices(sources, again, (k, actual) => {
    const { checksum } = again[k]!;
    if (actual !== checksum) throw mismatch(wrong[k]!, checksum, actual);
  }, places);
  return read;
}

/** Reads and parses a range. If parsing fails and the source is cached, reads and parses it again. */
export function* readParsed<T>(
  source: ByteSource,
  offset: number,
  length: number,
  parse: (bytes: Uint8Array<ArrayBuffer>) => T,
): Steps<T> {
  const bytes = yield* readPart(source, offset, length);
  try {
    return parse(bytes);
  } catch (error) {
    if (source.invalidate === undefined) throw error;
  }
  source.invalidate(offset, length);
  yield* fill(source, bytes, offset);
  return parse(bytes);
}

/**
 * Reads data that only shows afterwards that a range was wrong, such as a table with its checksum. If `wrongIn` returns
 * that range, invalidates it in the cache and reads everything again.
 */
export function* readUnlessWrong<T>(
  source: ByteSource,
  read: () => Steps<T>,
  wrongIn: (
    result: T,
  ) => { readonly offset: number; readonly length: number } | undefined,
): Steps<T> {
  const result = yield* read();
  if (source.invalidate === undefined) return result;
  const wrong = wrongIn(result);
  if (wrong === undefined) return result;
  source.invalidate(wrong.offset, wrong.length);
  return yield* read();
}
