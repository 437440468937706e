import { FormatError, RecordfsError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { DecodedBlocks } from "../../../io/decoded/decoded_blocks.ts";
import { DecodedSource } from "../../../io/decoded/decoded_source.ts";
import { type Compression, decompress } from "../../../io/decoded/inflate.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";

/** By what the index calls it, how a shard is decompressed. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  __proto__: null as never, // indexes say any words
  br: "brotli",
  gz: "gzip",
  zstd: "zstd",
};

/** What decompresses the others, for messages. */
const PROGRAMS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  bz2: "bunzip2 -k",
  snappy: "python -m snappy -d",
};

/** Bytes of a shard that is decompressed: all of them are in memory for a moment. */
const LARGEST = 1 << 30;
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
 * @throws {FormatError} If it is compressed by something else, or declares what no such file holds.
 * @throws {RecordfsError} With code `too-large`.
 */
export function requireDecodable(
  { path, size, compression, rawBytes }: CompressedShard,
): void {
  const how = COMPRESSIONS[compression];
  if (how === undefined) {
    const program = PROGRAMS[compression];
    throw new FormatError(
      "unsupported",
      `${path} is compressed by '${compression}', and only zstd, gz and br are read here: decompress all shards${
        program === undefined ? "" : ` (${program})`
      } in their directory, and those are read instead`,
      { path, actual: compression },
    );
  }
  if (Math.max(rawBytes, size) > LARGEST) {
    throw new RecordfsError(
      "too-large",
      `${path} has ${rawBytes} bytes when it is decompressed, and up to ${LARGEST} are taken into memory: decompress it ` +
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
  const { path, compression, rawBytes } = shard;
  const fault = (why: string, cause?: unknown) =>
    new FormatError(
      "bad-structure",
      `${path} ${why}: it is damaged, or its size in the index lies; fetch both again`,
      { path, cause },
    );
  const { expect, refetch } = file;
  return new DecodedSource(
    {
      name: path,
      size: rawBytes,
      mtime: file.mtime,
      isLocal: file.readAtSync !== undefined,
      *decode(into): Steps<void> {
        const bytes = yield* readPart(file, 0, file.size);
        yield* decompress(bytes, COMPRESSIONS[compression]!, into, fault);
      },
      expect: expect && (() => file.expect!(0, file.size)),
      refetch: refetch && (() => file.refetch!(0, file.size)),
    },
    blocks,
    owner,
    number,
  );
}
