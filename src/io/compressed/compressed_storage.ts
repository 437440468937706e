import { warnOnConsole } from "../../base/message_text.ts";
import type { MessageListener } from "../../base/named_option.ts";
import {
  DecodedBlocks,
  decodedBlocks,
  type DecodedMemory,
} from "../block_cache/decoded_blocks.ts";
import { mostAtOnce } from "../block_cache/decoded_source.ts";
import type { Steps } from "../concurrency/steps.ts";
import {
  cacheLocation,
  cacheOptionsOf,
} from "../index_cache/cache_location.ts";
import {
  cachedIndex,
  cacheIndex,
  keptIndex,
} from "../index_cache/cached_index.ts";
import type { KeptIndex } from "../index_cache/kept_index.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import {
  LayeredStorage,
  type LayerHandle,
  nameIn,
} from "../storage/layered_storage.ts";
import { openFile } from "../storage/open_file.ts";
import { pathIn } from "../storage/stored_location.ts";
import type {
  FileFacts,
  OpenFileOptions,
  Storage,
} from "../storage/storage.ts";
import {
  type Compression,
  compressionOfFile,
  COMPRESSIONS,
  decompressedName,
  zlibHead,
} from "./compressions.ts";
import { declaredSize, type LiveSource } from "./live_source.ts";
import { CachedParts, stateOf, type StreamState } from "./long_parts.ts";
import { methodOf } from "./methods.ts";
import {
  cachedStreamIndex,
  decompressedSource,
  liveSource,
  type OpenStream,
  STREAM_KIND,
} from "./open_stream.ts";
import type { PartTable, StreamIndex } from "./part_columns.ts";
import { loadPushDecoder } from "./push_decoder.ts";
import { declaredIndex, type DecodingLimits } from "./stream_index.ts";

/** How compressed files are decoded, and what of that is cached. */
export interface CompressedOptions extends DecodingLimits {
  readonly remote?: RemoteOptions | undefined;
  readonly onWarning?: MessageListener | undefined;
}

/** A stream whose parts are known. */
interface KnownStream {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
  readonly compression: Compression["name"];
  readonly index: StreamIndex;
  readonly owner: number;
  readonly state: StreamState | undefined;
}

/** A stream that is being opened. */
interface Opening extends OpenStream {
  readonly path: string;
  readonly state: StreamState | undefined;
}

interface Seed {
  readonly paths: ReadonlyMap<string, string>;
  readonly streams: readonly KnownStream[];
  readonly memory: DecodedMemory;
  readonly options: Omit<CompressedOptions, "onWarning">;
}

/**
 * The files of another storage, some of which are decompressed. Where parts of these begin is found by decoding each
 * once, and cached.
 */
export class CompressedStorage extends LayeredStorage {
  /** Paths in the other storage of files that are decompressed, by their paths here. */
  readonly #paths: ReadonlyMap<string, string>;
  /** These paths in the other storage, by which other threads know them. */
  readonly #stored: ReadonlySet<string>;
  readonly #options: CompressedOptions;
  readonly #blocks: DecodedBlocks;
  readonly #streams = new Map<string, KnownStream>();
  /** Paths of files with long parts that were decoded again, and those parts that were decoded once. */
  readonly #again = new Set<string>();
  readonly #once = new Set<string>();
  readonly #live: LiveSource[] = [];
  #isLive: boolean;

  /**
   * @param paths Paths in `base` of the files that are decompressed, by the paths that they have here.
   * @param isLive Whether streams may be read while they are decoded for the first time, at their declared sizes. What is
   * read holds only once {@linkcode CompressedStorage.settle} has ended.
   */
  constructor(
    base: Storage,
    paths: ReadonlyMap<string, string>,
    options: CompressedOptions,
    blocks = decodedBlocks(),
    isLive = false,
  ) {
    super(base);
    this.#isLive = isLive;
    this.#paths = paths;
    this.#stored = new Set(paths.values());
    this.#options = options;
    this.#blocks = blocks;
  }

  has(path: string): boolean {
    return this.#paths.has(path) || this.#stored.has(path);
  }

  override nameOf(path: string): string {
    const name = nameIn(this.base, path);
    return this.has(path) ? decompressedName(name) : name;
  }

  override storedPath(path: string): string {
    return this.#paths.get(path) ?? path;
  }

  /**
   * Opens a file: decompressed, if it is one of those.
   *
   * @throws {FormatError} If it is damaged, or compressed in a way that is not read (`unsupported`).
   */
  *open(path: string, options?: OpenFileOptions): Steps<ByteSource> {
    if (!this.has(path)) return yield* this.base.open(path, options);
    const stored = this.storedPath(path);
    const origin = yield* openFile(this.base, stored);
    try {
      return yield* this.#decompressed(stored, origin);
    } catch (error) {
      origin.close();
      throw error;
    }
  }

  *list(path: string): Steps<readonly string[] | undefined> {
    const names = yield* this.base.list(path);
    return names?.map((name) => {
      const plain = decompressedName(name);
      return this.#paths.get(pathIn(path, plain)) === pathIn(path, name)
        ? plain
        : name;
    });
  }

  stat(path: string): Steps<FileFacts | undefined> {
    return this.base.stat(this.storedPath(path));
  }

  share(): LayerHandle {
    const { onWarning: _, remote, ...others } = this.#options;
    const { onWarning: __, ...plain } = remote ?? {};
    const data: Seed = {
      paths: this.#paths,
      streams: [...this.#streams.values()],
      memory: this.#blocks.memory,
      options: { ...others, remote: plain },
    };
    return { module: import.meta.url, data };
  }

  /** Adds a stream that another thread has decoded. */
  know(stream: KnownStream): void {
    this.#streams.set(stream.path, stream);
  }

  override *settle(): Steps<void> {
    for (const source of this.#live) yield* source.settle();
  }

  /**
   * Decodes streams that are opened from now on before they are read. Returns whether one that is open was not decoded to
   * its end, or does not have its declared size: what was read of it may be wrong.
   */
  stopLive(): boolean {
    const isUnsure = this.#live.some(({ isSettled }) => !isSettled);
    this.#live.length = 0;
    this.#isLive = false;
    return isUnsure;
  }

  *#decompressed(path: string, origin: ByteSource): Steps<ByteSource> {
    const compression = (yield* compressionOfFile(origin)) ??
      (yield* zlibOf(origin));
    if (compression === undefined) return origin;
    const method = methodOf(compression, path);
    if (method.needsPushDecoder) yield* loadPushDecoder(path);
    const known = this.#streams.get(path);
    const isKnown = known?.size === origin.size &&
      known.mtime === origin.mtime && known.compression === compression.name;
    const state = isKnown
      ? known.state
      : stateOf(cacheLocation(origin, STREAM_KIND, this.#options));
    const { onWarning } = this.#options;
    const remote = cacheOptionsOf(origin, this.#options.remote);
    const blocks = this.#blocks;
    const most = mostAtOnce(blocks);
    const opening: Opening = {
      ...{ path, origin, method, state, blocks, limits: this.#options },
      long: CachedParts.of(state, remote, most, onWarning),
      owner: isKnown ? known.owner : blocks.newOwner(),
      number: 0,
      onLong: (part, index) => this.#noteLong(path, part, index),
    };
    if (isKnown) return decompressedSource(opening, known.index);
    const cached = cachedStreamIndex(opening);
    const size = yield* this.#liveSize(opening, cached);
    if (size !== undefined) {
      const source = liveSource(opening, size, (index) => {
        cacheIndex(origin, this.#options, cached, index);
        this.#learn(opening, index);
      });
      this.#live.push(source);
      return source;
    }
    const index = yield* cachedIndex(origin, this.#options, cached);
    this.#learn(opening, index);
    return decompressedSource(opening, index);
  }

  /** Returns the declared size of a stream that can be read while it is decoded for the first time. */
  *#liveSize(
    { origin, method }: Opening,
    cached: KeptIndex<StreamIndex>,
  ): Steps<number | undefined> {
    const isFar = origin.readAtSync === undefined;
    if (!this.#isLive || isFar || method.needsPushDecoder) return undefined;
    const size = yield* declaredSize(origin, method.compression);
    if (size === undefined) return undefined;
    const isNew =
      (yield* keptIndex(origin, this.#options, cached)) === undefined &&
      (yield* declaredIndex(origin, method, this.#options)) === undefined;
    return isNew ? size : undefined;
  }

  #learn(
    { path, origin: { size, mtime }, method, state, owner }: Opening,
    index: StreamIndex,
  ): void {
    const compression = method.compression.name;
    this.know({ path, size, mtime, compression, index, owner, state });
    this.#warnOfJunk(path, index);
  }

  #noteLong(path: string, part: number, { isDeclared }: PartTable): void {
    const key = `${part} ${path}`;
    // Making an index that is not declared has decoded all parts.
    if (isDeclared && !this.#once.has(key)) this.#once.add(key);
    else this.#warnOfAgain(path);
  }

  #warnOfJunk(path: string, { junk }: StreamIndex): void {
    if (junk === 0) return;
    this.#warn(
      `${path}: its last ${junk} bytes are not part of the compressed data, and are ignored`,
    );
  }

  #warnOfAgain(path: string): void {
    if (this.#again.has(path)) return;
    this.#again.add(path);
    this.#warn(
      `${path} is decompressed again from its start, because it has no random access and the cache does not have all ` +
        "of its content. Compress it in frames or blocks, or give the cache more room",
    );
  }

  #warn(message: string): void {
    const { onWarning = warnOnConsole } = this.#options;
    onWarning(message);
  }
}

/** Returns zlib for a file that is compressed by it, and has no suffix of another compression. */
function* zlibOf(origin: ByteSource): Steps<Compression | undefined> {
  const zlib = COMPRESSIONS.find(({ name }) => name === "zlib")!;
  const isOther = decompressedName(origin.name) !== origin.name &&
    !zlib.suffixes.some((suffix) => origin.name.endsWith(suffix));
  const isZlib = !isOther && (yield* zlibHead(origin)) !== undefined;
  return isZlib ? zlib : undefined;
}

/** Makes the storage in another thread. */
export function reopenLayer(data: unknown, base: Storage): CompressedStorage {
  const { paths, streams, memory, options } = data as Seed;
  const storage = new CompressedStorage(
    base,
    paths,
    { ...options, onWarning() {} }, // the opening thread has warned already
    new DecodedBlocks(memory),
  );
  for (const stream of streams) storage.know(stream);
  return storage;
}
