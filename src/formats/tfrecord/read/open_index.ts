import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { crc32cLoaded, crc32cOf } from "../../../io/checksums/crc32c.ts";
import { newExtent } from "../../../tree/tree.ts";
import { isRecordKind, type RecordKind } from "../kinds.ts";
import { compressionOf, FRAME, hasRightSum, HEADER } from "../layout.ts";
import { isNone, noneError } from "./cut.ts";
import {
  areOf,
  locateRecord,
  type RecordColumns,
  type RecordIndex,
} from "./record_columns.ts";
import { scanByDali } from "./dali_index.ts";
import { scanRecords } from "./scan.ts";
import { scanExample } from "../proto/scan_example.ts";
import { WireError, WireFields } from "../proto/wire.ts";

export interface IndexOptions extends IndexCacheOptions {
  readonly checkData?: boolean | undefined;
}

/**
 * Returns the index of a file, from the index cache or by reading all its lengths in sequence. Throws FormatError if it
 * is compressed, or its first length is wrong.
 */
export function* openIndex(
  source: ByteSource,
  options: IndexOptions,
): Steps<RecordIndex> {
  const { checkData = true } = options;
  if (checkData) yield* crc32cLoaded(); // also needed to verify the data
  return yield* cachedIndex<RecordIndex>(source, options, {
    kind: "tfrecord 1",
    entrySize: FRAME,
    // Unverified lengths must not be given to callers that verify them.
    isCacheable: checkData,
    take({ columns: { starts, sums }, facts }) {
      const columns = { starts, sums } as RecordColumns;
      return areOf(columns, source.size) && isRecordKind(facts)
        ? { columns, kind: facts }
        : undefined;
    },
    *make() {
      yield* refuseCompressed(source);
      const known = yield* scanByDali(source);
      const { columns, cut } = known === undefined
        ? yield* scanRecords(source, checkData)
        : { columns: known, cut: undefined };
      if (cut !== undefined && isNone(cut)) {
        throw noneError(source.name);
      }
      const kind = yield* kindIn(source, columns, checkData);
      return { columns, kind, cut };
    },
    count: ({ columns }) => columns.sums.length,
    // A damaged file does not stay for long.
    tables: ({ columns, kind, cut }) =>
      checkData && cut === undefined
        ? { columns: { ...columns }, facts: kind }
        : undefined,
    headerAt: ({ columns }, record) => columns.starts[record]!,
  });
}

/** Records up to this size are scanned completely; of larger ones, only the start is read. */
const LARGE = 1 << 20;
/** Bytes of a tag and a length. */
const START = 8;
/** Limit of damaged records skipped to detect the kind of records. */
const MOST_DAMAGED = 16;

/** Detects the kind of records, from the first one not known to be damaged. */
function* kindIn(
  source: ByteSource,
  columns: RecordColumns,
  checkData: boolean,
): Steps<RecordKind> {
  const most = Math.min(columns.sums.length, 1 + MOST_DAMAGED);
  const extent = newExtent();
  for (let record = 0; record < most; record++) {
    locateRecord(columns, record, 0, extent);
    const { offset, length, checksum } = extent;
    const isWhole = length <= LARGE;
    const bytes = yield* readPart(source, offset, isWhole ? length : START);
    const isDamaged = checkData && isWhole && crc32cOf(bytes) !== checksum;
    if (!isDamaged) return kindOf(bytes, length);
  }
  return "records";
}

/** Throws FormatError if a file begins as a compressed one, and says how to decompress it. */
export function* refuseCompressed(source: ByteSource): Steps<void> {
  const { name: path } = source;
  const head = yield* readPart(source, 0, Math.min(source.size, HEADER));
  const compression = compressionOf(head);
  if (compression === undefined) return;
  if (head.length === HEADER) {
    yield* crc32cLoaded(); // a length may look like anything
    if (hasRightSum(head, new DataView(head.buffer), 0)) return;
  }
  const program = compression === "GZIP" ? "zcat" : "zlib-flate -uncompress";
  const suffix = compression === "GZIP" ? "gz" : "zlib";
  throw new FormatError(
    "unsupported",
    `Cannot open ${path}: it is compressed as a whole (${compression}), which its name does not say. Rename all such ` +
      `shards (${path}.${suffix}), or decompress them (${program} < ${path} > ${path}.plain)`,
    { path, actual: compression },
  );
}

/** Detects the kind of a record, from all or its first {@linkcode START} bytes: an example is features to its end. */
function kindOf(bytes: Uint8Array, length: number): RecordKind {
  if (length === 0) return "records";
  try {
    if (bytes.length === length) {
      const { isSequence, hasOthers } = scanExample(bytes);
      if (hasOthers) return "records";
      return isSequence ? "SequenceExamples" : "Examples";
    }
    // The features of such a large example take it up to its end, unless it has lists.
    const fields = new WireFields(bytes, 0, length);
    const isFeatures = fields.next() && fields.field === 1 && fields.type === 2;
    if (!isFeatures) return "records";
    return fields.end === length ? "Examples" : "SequenceExamples";
  } catch (error) {
    if (error instanceof WireError) return "records";
    throw error;
  }
}
