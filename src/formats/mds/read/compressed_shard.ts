import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  BLOCK,
  type DecodedBlocks,
} from "../../../io/decoded/decoded_blocks.ts";
import { DecodedSource } from "../../../io/decoded/decoded_source.ts";
import { type Compression, decompress } from "../../../io/decoded/inflate.ts";
import {
  DecodedPieces,
  decodesPieces,
  type EncodedPlace,
  loadPieces,
} from "../../../io/decoded/decoded_pieces.ts";
import { decompressSnappy, loadSnappy } from "../../../io/decoded/snappy.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";

/** By what the index calls it, how a shard is decompressed. */
const COMPRESSIONS: Readonly<Record<string, Compression | "snappy">> = {
  __proto__: null as never, // indexes say any words
  br: "brotli",
  gz: "gzip",
  snappy: "snappy",
  zstd: "zstd",
};

/** What decompresses the others, for messages. */
const PROGRAMS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  bz2: "bunzip2 -k",
};

/** Bytes of a shard that is decompressed: a read in it may have to decode all of them. */
const LARGEST = 1 << 30;
/** Bytes up to which a shard is decompressed at once, by the system's library; a larger one piece by piece. */
const MOST_AT_ONCE = 128 << 20;
/** No block of zstd or deflate makes more bytes of each of its own. */
const MOST_EXPANSION = 1 << 16;

/** A compressed shard, as the index describes it. */
export interface CompressedShard {
  readonly path: string;
  /** Bytes of the file. */
  readonly size: number;
  readonly compression: string;
  /** Bytes of what is compressed in it. */
  readonly rawBytes: number;
}

/**
 * Makes sure that a shard can be decompressed.
 *
 * @throws {FormatError} If it is compressed by something else, too large, or declares what no such file holds.
 */
export function requireDecodable(
  { path, size, compression, rawBytes }: CompressedShard,
): void {
  const how = COMPRESSIONS[compression];
  if (how === undefined) {
    const program = PROGRAMS[compression];
    throw new FormatError(
      "unsupported",
      `${path} is compressed by '${compression}', and only zstd, gz, br and snappy are read here: decompress all shards${
        program === undefined ? "" : ` (${program})`
      } in their directory, and those are read instead`,
      { path, actual: compression },
    );
  }
  if (Math.max(rawBytes, size) > LARGEST) {
    throw new FormatError(
      "too-large",
      `${path} has ${rawBytes} bytes when it is decompressed, and up to ${LARGEST} are decompressed: decompress it ` +
        "in its directory, and that file is read instead",
      { path, actual: rawBytes },
    );
  }
  const most = how === "brotli" ? Infinity : size * MOST_EXPANSION;
  if (rawBytes <= most) return;
  throw new FormatError(
    "absurd-count",
    `${path} has ${size} bytes, which never become the ${rawBytes} that the index declares: one of them is damaged, or ` +
      "hostile; fetch them again",
    { path, expected: rawBytes, actual: size },
  );
}

/** Bytes that reading a shard from its start to its end has to keep of what is compressed in it. */
export function bytesKept({ rawBytes }: CompressedShard): number {
  return rawBytes > MOST_AT_ONCE ? 16 << 20 : rawBytes + BLOCK;
}

function isDecodedByPieces(how: Compression, rawBytes: number): boolean {
  return rawBytes > MOST_AT_ONCE && decodesPieces(how);
}

/** Loads what decompresses a shard, where that is not the system's library. */
export function* loadDecoder(
  { compression, rawBytes }: CompressedShard,
): Steps<void> {
  const how = COMPRESSIONS[compression];
  if (how === "snappy") yield* loadSnappy();
  else if (how !== undefined && rawBytes > MOST_AT_ONCE) yield* loadPieces(how);
}

/**
 * What is compressed in a shard, as a source: decompressed once, as a whole, and kept as long as there is room.
 *
 * @param file The shard as it lies.
 * @param owner The dataset, among those that have blocks.
 * @param number The shard in it.
 */
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
      `${path} ${why}: it is damaged, or its size in the index lies; fetch both again`,
      { path, cause },
    );
  const { expect, invalidate } = file;
  // deno-lint-ignore require-yield -- where it lies is known
  const place = function* (): Steps<EncodedPlace> {
    return { source: file, start: 0, packed, size: rawBytes };
  };
  return new DecodedSource(
    {
      name: path,
      size: rawBytes,
      mtime: file.mtime,
      isLocal: file.readAtSync !== undefined,
      *decode(into): Steps<void> {
        const bytes = yield* readPart(file, 0, file.size);
        if (how === "snappy") yield* decompressSnappy(bytes, into, fault);
        else yield* decompress(bytes, how, into, fault);
      },
      pieces: how !== "snappy" && isDecodedByPieces(how, rawBytes)
        ? () => new DecodedPieces(how, place, fault)
        : undefined,
      expect: expect && (() => file.expect!(0, file.size)),
      invalidate: invalidate && (() => file.invalidate!(0, file.size)),
    },
    blocks,
    owner,
    number,
  );
}
