import type { DecodedBlocks } from "../block_cache/decoded_blocks.ts";
import type { KeptIndex } from "../index_cache/kept_index.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { DecompressedSource } from "./decompressed_source.ts";
import { LiveSource } from "./live_source.ts";
import type { CachedParts } from "./long_parts.ts";
import type { Method } from "./methods.ts";
import type { PartTable, StreamIndex } from "./part_columns.ts";
import {
  declaredIndex,
  type DecodingLimits,
  ENTRY,
  headerOf,
  indexOf,
  indexStream,
  StreamIndexing,
  tablesOf,
} from "./stream_index.ts";

/** Version of the indexes in the cache. */
export const STREAM_KIND = "compressed stream 1";

/** A compressed file, or a range of one, that is being opened. */
export interface OpenStream {
  /** Encoded bytes; closed with what is made of them. */
  readonly origin: ByteSource;
  readonly method: Method;
  readonly limits: DecodingLimits;
  /** Long parts on the disk, if they may be cached. */
  readonly long: CachedParts | undefined;
  readonly blocks: DecodedBlocks;
  /** Numbers of the container in the cache of blocks, and of the stream in it. */
  readonly owner: number;
  readonly number: number;
  /** Decoded bytes between checkpoints, at least, if not the default. */
  readonly leastInterval?: number | undefined;
  /** Called when a long part is decoded from its start. */
  onLong(part: number, index: PartTable): void;
}

/** Returns how the index of a stream is made and cached. */
export function cachedStreamIndex(
  stream: OpenStream,
): KeptIndex<StreamIndex> {
  const { origin, method, limits } = stream;
  return {
    kind: STREAM_KIND,
    entrySize: ENTRY,
    isCacheable: true,
    take(tables) {
      const index = indexOf(origin, tables);
      // Only the libraries of the system go on in the middle of a member.
      const isUseless = method.needsPushDecoder &&
        index !== undefined && index.windows.length > 0;
      return isUseless ? undefined : index;
    },
    *make() {
      const declared = yield* declaredIndex(origin, method, limits);
      if (declared !== undefined) return declared;
      return yield* indexStream(indexingOf(stream));
    },
    count: ({ size }) => size / ENTRY,
    tables: tablesOf,
    headerAt: headerOf,
    travels: ({ isDeclared }) => !isDeclared,
  };
}

function indexingOf(
  { origin, method, limits, long, leastInterval }: OpenStream,
): StreamIndexing {
  return new StreamIndexing(origin, method, limits, long, leastInterval);
}

/** Returns the content of a stream whose parts are known. */
export function decompressedSource(
  stream: OpenStream,
  index: PartTable,
): DecompressedSource {
  const { origin, method, blocks, owner, number, long } = stream;
  const onLong = (part: number) => stream.onLong(part, index);
  return new DecompressedSource(origin, {
    ...{ method, index, blocks, owner, number, long, onLong },
  });
}

/**
 * Returns the content of a stream that is decoded as it is read.
 *
 * @param size Declared size.
 * @param onIndex Called once it is decoded.
 */
export function liveSource(
  stream: OpenStream,
  size: number,
  onIndex: (index: StreamIndex) => void,
): LiveSource {
  const { origin, long } = stream;
  const indexing = indexingOf(stream);
  return new LiveSource({
    origin,
    size,
    indexing,
    fromDisk: (part, into, offset) => long?.read(part, into, offset) ?? 0,
    sourceOf: (parts) => decompressedSource(stream, parts),
    settled() {
      const index = indexing.finish();
      onIndex(index);
      return decompressedSource(stream, index);
    },
  });
}
