import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import {
  DECODED_BLOCK,
  type DecodedBlocks,
} from "../../io/block_cache/decoded_blocks.ts";
import {
  decodedRange,
  type EncodedRange,
} from "../../io/block_cache/decoded_range.ts";
import type { DecodedSource } from "../../io/block_cache/decoded_source.ts";
import { type Compression, decompress } from "../../io/block_cache/inflate.ts";
import {
  DecodedPieces,
  decodesPieces,
  type EncodedPlace,
  loadPieces,
} from "../../io/block_cache/decoded_pieces.ts";
import { decompressSnappy, loadSnappy } from "../../io/block_cache/snappy.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";

/** Decompressors, by the name in the index. */
const COMPRESSIONS: Readonly<Record<string, Compression | "snappy">> = {
  __proto__: null as never, // indexes contain arbitrary strings
  br: "brotli",
  gz: "gzip",
  snappy: "snappy",
  zstd: "zstd",
};

/** External programs for other compressions, for messages. */
const PROGRAMS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  bz2: "bunzip2 -k",
};

/** Largest decompressed shard in bytes: one read may have to decode all of it. */
const LARGEST = 1 << 30;
/** Largest shard that is decompressed at once, by the system's library; larger ones are decoded piece by piece. */
const MOST_AT_ONCE = 128 << 20;
/** Maximum expansion factor of a zstd or deflate block. */
const MOST_EXPANSION = 1 << 16;

export interface CompressedShard {
  readonly path: string;
  readonly size: number;
  readonly compression: string;
  /** Decompressed size in bytes. */
  readonly rawBytes: number;
}

/**
 * Rejects shards that cannot be decompressed.
 *
 * @throws {FormatError} If the compression is unsupported, the shard is too large, or its declared size is impossible.
 */
export function requireDecodable(
  { path, size, compression, rawBytes }: CompressedShard,
): void {
  const how = COMPRESSIONS[compression];
  if (how === undefined) {
    const program = PROGRAMS[compression];
    throw new FormatError(
      "unsupported",
      `Cannot read ${path}: its compression '${compression}' is ` +
        "unsupported: only zstd, gz, br and snappy are read. Decompress all " +
        `shards${program === undefined ? "" : ` (${program})`} in their ` +
        "directory, and those are read instead",
      { path, actual: compression },
    );
  }
  if (Math.max(rawBytes, size) > LARGEST) {
    throw new FormatError(
      "too-large",
      `Cannot read ${path}: it has ${rawBytes} bytes when it is ` +
        `decompressed, more than the limit of ${LARGEST}. Decompress it in ` +
        "its directory, and that file is read instead",
      { path, actual: rawBytes },
    );
  }
  const most = how === "brotli" ? Infinity : size * MOST_EXPANSION;
  if (rawBytes <= most) return;
  throw new FormatError(
    "absurd-count",
    `Cannot read ${path}: its ${size} bytes cannot decompress to the ${rawBytes} that the index declares: one of them is ` +
      "damaged or hostile. Download them again",
    { path, expected: rawBytes, actual: size },
  );
}

/** Returns the cache size that reading a shard from start to end needs. */
export function bytesKept({ rawBytes }: CompressedShard): number {
  return rawBytes > MOST_AT_ONCE ? 16 << 20 : rawBytes + DECODED_BLOCK;
}

function isDecodedByPieces(how: Compression, rawBytes: number): boolean {
  return rawBytes > MOST_AT_ONCE && decodesPieces(how);
}

/** Loads the decompressor of a shard, if it is not the system's library. */
export function* loadDecoder(
  { compression, rawBytes }: CompressedShard,
): Steps<void> {
  const how = COMPRESSIONS[compression];
  if (how === "snappy") yield* loadSnappy();
  else if (how !== undefined && rawBytes > MOST_AT_ONCE) yield* loadPieces(how);
}

/** Returns a shard's decompressed content, made on demand and cached in `blocks` under `owner` and `number`. */
export function decompressed(
  file: ByteSource,
  shard: CompressedShard,
  blocks: DecodedBlocks,
  owner: number,
  number: number,
): DecodedSource {
  const { path, size: packed, compression, rawBytes } = shard;
  const how = COMPRESSIONS[compression]!;
  const fault = (why: string, cause?: unknown) =>
    new FormatError(
      "bad-structure",
      `Cannot read ${path}: it ${why}: it is damaged, or its size in the ` +
        "index is wrong. Download both again",
      { path, cause },
    );
  // deno-lint-ignore require-yield -- where it lies is known
  const place = function* (): Steps<EncodedPlace> {
    return { source: file, start: 0, packed, size: rawBytes };
  };
  const range: EncodedRange = {
    ...{ file, offset: 0, packed: file.size, size: rawBytes, name: path },
    *decode(bytes, into): Steps<void> {
      if (how === "snappy") yield* decompressSnappy(bytes, into, fault);
      else yield* decompress(bytes, how, into, fault);
    },
    pieces: how !== "snappy" && isDecodedByPieces(how, rawBytes)
      ? () => new DecodedPieces(how, place, fault)
      : undefined,
  };
  return decodedRange(range, blocks, owner, number);
}
