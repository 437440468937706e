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
import { type DecodeFault, decompress } from "../../io/block_cache/inflate.ts";
import { decompressSnappy, loadSnappy } from "../../io/block_cache/snappy.ts";
import { isInParts, LargeSource } from "../../io/compressed/large_source.ts";
import { MemberReader } from "../../io/compressed/member_reader.ts";
import { innerMethodOf, loadInner } from "../../io/compressed/methods.ts";
import type { RemoteOptions } from "../../io/remote/remote_options.ts";
import { MemorySource } from "../../io/storage/memory_source.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";

type Compression = "brotli" | "bzip2" | "gzip" | "snappy" | "zstd";

/** Decompressors, by the name in the index. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  __proto__: null as never, // indexes contain arbitrary strings
  br: "brotli",
  bz2: "bzip2",
  gz: "gzip",
  snappy: "snappy",
  zstd: "zstd",
};

/** Largest decompressed shard in bytes: one read may have to decode all of it. */
const LARGEST = 1 << 30;
/**
 * Largest shards that are decompressed at once and cached; larger ones are decoded in parts. Parts of a gzip stream can be
 * decoded by themselves, others must be cached on the disk.
 */
const MOST_AT_ONCE = 128 << 20;
const MOST_GZIP_AT_ONCE = 16 << 20;
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
    throw new FormatError(
      "unsupported",
      `Cannot read ${path}: its compression '${compression}' is ` +
        "unsupported: only zstd, gz, bz2, br and snappy are read. Decompress " +
        "all shards in their directory, and those are read instead",
      { path, actual: compression },
    );
  }
  if (how === "bzip2") innerMethodOf(how, path); // needs a library
  if (Math.max(rawBytes, size) > LARGEST) {
    throw new FormatError(
      "too-large",
      `Cannot read ${path}: it has ${rawBytes} bytes when it is ` +
        `decompressed, more than the limit of ${LARGEST}. Decompress it in ` +
        "its directory, and that file is read instead",
      { path, actual: rawBytes },
    );
  }
  const isUnbounded = how === "brotli" || how === "bzip2";
  const most = isUnbounded ? Infinity : size * MOST_EXPANSION;
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

function isDecodedInParts(how: Compression, rawBytes: number): boolean {
  if (how === "snappy" || rawBytes <= MOST_GZIP_AT_ONCE) return false;
  const method = innerMethodOf(how);
  const hasCheckpoints = how === "gzip" && !method.needsPushDecoder;
  return (hasCheckpoints || rawBytes > MOST_AT_ONCE) && isInParts(method);
}

/** Loads the decompressor of a shard, if it is not the system's library. */
export function* loadDecoder(
  { compression, rawBytes }: CompressedShard,
): Steps<void> {
  const how = COMPRESSIONS[compression];
  if (how === "snappy") yield* loadSnappy();
  else if (how !== undefined && rawBytes > MOST_AT_ONCE) {
    yield* loadInner([how]);
  }
}

/** Returns a shard's decompressed content, made on demand and cached in `blocks` under `owner` and `number`. */
export function decompressed(
  file: ByteSource,
  shard: CompressedShard,
  blocks: DecodedBlocks,
  owner: number,
  number: number,
  cache?: RemoteOptions["cache"],
): DecodedSource | LargeSource {
  const { path, size: packed, compression, rawBytes } = shard;
  const how = COMPRESSIONS[compression]!;
  const fault = (why: string, cause?: unknown) =>
    new FormatError(
      "bad-structure",
      `Cannot read ${path}: it ${why}: it is damaged, or its size in the ` +
        "index is wrong. Download both again",
      { path, cause },
    );
  if (how !== "snappy" && isDecodedInParts(how, rawBytes)) {
    const { mtime, prefetch, invalidate } = file;
    const content = {
      ...{ file, name: path, packed, size: rawBytes, mtime, fault },
      method: innerMethodOf(how, path),
      // deno-lint-ignore require-yield -- it is the whole file
      *locate(): Steps<number> {
        return 0;
      },
      prefetch: prefetch && (() => file.prefetch!(0, packed)),
      invalidate: invalidate && (() => file.invalidate!(0, packed)),
    };
    return new LargeSource(content, {
      ...{ blocks, owner, number, remote: { cache } },
    });
  }
  const range: EncodedRange = {
    ...{ file, offset: 0, packed: file.size, size: rawBytes, name: path },
    *decode(bytes, into): Steps<void> {
      if (how === "snappy") yield* decompressSnappy(bytes, into, fault);
      else if (how === "bzip2") {
        yield* decompressBzip2(bytes, path, into, fault);
      } else yield* decompress(bytes, how, into, fault);
    },
  };
  return decodedRange(range, blocks, owner, number);
}

function* decompressBzip2(
  bytes: Uint8Array<ArrayBuffer>,
  path: string,
  into: Uint8Array,
  fault: DecodeFault,
): Steps<void> {
  const source = new MemorySource(bytes, path);
  const reader = new MemberReader(source, innerMethodOf("bzip2", path));
  try {
    yield* reader.fill(into);
    yield* reader.endAt(bytes.length);
  } catch (cause) {
    const isOwn = cause instanceof FormatError && cause.code !== "changed";
    throw isOwn
      ? fault(`can't be decompressed (${cause.message})`, cause)
      : cause;
  } finally {
    reader.close();
  }
}
