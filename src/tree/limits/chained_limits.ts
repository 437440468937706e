import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { IndexCacheOptions } from "../../io/index_cache/cache_location.ts";
import { cachedIndex } from "../../io/index_cache/cached_index.ts";
import { HeadWindows } from "../../io/read/head_windows.ts";
import { readUnlessWrong } from "../../io/read/verified_content.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openIfThere } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { GrowingNumbers } from "../growing_numbers.ts";
import type { WholeNumbers } from "../shared_numbers.ts";
import { listedLimits } from "./listed_limits.ts";

/** Where the records of a file lie. */
export interface FoundLimits {
  /** Per record: its start; then the end of the last. In memory that threads share. */
  readonly limits: WholeNumbers;
  /** Per record: its key in an index, if all are whole numbers. */
  readonly keys?: WholeNumbers | undefined;
  /** Why some are missing. */
  readonly damage?: FormatError | undefined;
  /** Whether they are those of an index next to the file. */
  readonly isListed?: boolean;
}

/** Part of a record, as its header says. */
export interface ChainedPart {
  /** Bytes with header and padding. */
  readonly stored: number;
  /** Whether it begins a record, and whether it ends one. */
  readonly begins: boolean;
  readonly ends: boolean;
}

/**
 * A file of records that follow one another, each in one or several parts with a header.
 *
 * @typeParam F What is known of a file besides: plain data.
 */
export interface Chain<F> {
  /** Kind and version of cached tables. */
  readonly kind: string;
  /** Size of a header in bytes. */
  readonly header: number;
  /** Reads a header; `undefined` if there is none. */
  partAt(view: DataView, at: number): ChainedPart | undefined;
  /** Whether data that anybody may have made are what is known of a file of so many records. */
  areFacts(data: unknown, records: number): data is F;
  /** Looks at records, to cache what they tell along with their limits. */
  look(source: ByteSource, limits: WholeNumbers): Steps<F>;
}

/**
 * Finds the records of a file in the index cache; by the index next to it, as {@linkcode listedLimits} does; or by
 * reading all headers.
 *
 * @param indexPath Path of the index, which may be missing.
 */
export function chainedLimits<F>(
  source: ByteSource,
  indexPath: string,
  chain: Chain<F>,
  { storage, ...options }: IndexCacheOptions & { readonly storage: Storage },
): Steps<FoundLimits & { readonly facts: F }> {
  const { kind, header, areFacts } = chain;
  return cachedIndex<FoundLimits & { readonly facts: F }>(source, options, {
    kind,
    entrySize: header,
    isCacheable: true,
    take({ columns, facts }) {
      const limits = columns["limits"] as WholeNumbers | undefined;
      const isOf = limits?.[0] === 0 && limits.at(-1) === source.size &&
        limits.every((end, i) =>
          i === 0 || Number.isInteger(end) && end >= limits[i - 1]! + header
        );
      return isOf && areFacts(facts, limits.length - 1)
        ? { limits, facts }
        : undefined;
    },
    *make() {
      const found = yield* find(source, indexPath, chain, storage);
      return { ...found, facts: yield* chain.look(source, found.limits) };
    },
    count: ({ limits }) => limits.length - 1,
    // An index that is next to the file may be replaced.
    tables: ({ limits, facts, damage, isListed }) =>
      damage || isListed ? undefined : { columns: { limits }, facts },
    headerAt: ({ limits }, record) => limits[record]!,
  });
}

function* find(
  source: ByteSource,
  indexPath: string,
  chain: Chain<unknown>,
  storage: Storage,
): Steps<FoundLimits> {
  const index = yield* openIfThere(storage, indexPath);
  using _ = { [Symbol.dispose]: () => index?.close() };
  if (index !== undefined) return yield* listedLimits(source, index, chain);
  // A wrong header may be a cache error of a remote file: it is then fetched again.
  return yield* readUnlessWrong(
    source,
    () => scan(source, chain),
    ({ damage }) => damage && { offset: damage.offset!, length: chain.header },
  );
}

function* scan(
  source: ByteSource,
  { header, partAt }: Chain<unknown>,
): Steps<FoundLimits> {
  const { name: path, size } = source;
  const windows = new HeadWindows(source, header, header);
  const view = new DataView(windows.bytes.buffer);
  const limits = new GrowingNumbers(size + 1);
  limits.push(0);
  let [offset, first] = [0, 0];
  let passed: number | undefined;
  while (offset + header <= size) {
    let at = windows.find(offset, header);
    if (at < 0) {
      yield* windows.move(offset, passed);
      at = 0;
    }
    const part = partAt(view, at);
    if (part === undefined || (offset === first) !== part.begins) break;
    const end = offset + part.stored;
    if (end > size) break;
    [offset, passed] = [end, part.stored];
    if (part.ends) limits.push(first = end);
  }
  const sample = limits.length - 1;
  const damage = first === size ? undefined : new FormatError(
    "truncated-data",
    `Cannot read record ${sample} of ${path}, nor those after it: at byte ${offset} of ${size}, no whole record is found. ` +
      "Download the file again",
    { path, offset, sample },
  );
  return { limits: limits.finish(), damage };
}
