import { DecodedSource } from "../../src/io/decoded/decoded_source.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import type { LazySources, SeveralSources } from "../../src/tree/tree.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { BlockingSource } from "../fetching/blocking_storage.ts";
import {
  mapBlocks,
  mapFile,
  type MappedSource,
  needsLocal,
  releaseFile,
} from "./mapping.ts";
import type { ServedSource } from "./served_sources.ts";
import { type ChangeListener, ServedFile } from "./served_file.ts";

interface UsedMap extends ServedSource {
  /** When it was last asked for. */
  used: number;
}

/**
 * Maps of the sources that one thread was asked for, up to so many: then the one that was not used for
 * longest goes.
 */
export class MapsOnDemand {
  readonly #sources: LazySources | SeveralSources;
  readonly #most: number;
  readonly #listener: ChangeListener;
  readonly #fileOf: (path: string) => ServedFile | undefined;
  readonly #maps = new Map<number, UsedMap>();
  #time = 0;
  #last: UsedMap | undefined;
  #lastIndex = -1;

  /**
   * @param most How many maps there may be at a time.
   * @param fileOf The file of a path that is served already: what is decoded of it changes with it.
   */
  constructor(
    sources: LazySources | SeveralSources,
    most: number,
    listener: ChangeListener,
    fileOf: (path: string) => ServedFile | undefined = () => undefined,
  ) {
    this.#sources = sources;
    this.#most = most;
    this.#listener = listener;
    this.#fileOf = fileOf;
  }

  get bytes(): number {
    return this.#sources.knownBytes;
  }

  /**
   * The source of that index, which may be sent from until the next call.
   *
   * @throws {RecordfsError} If it can't be opened or mapped.
   */
  at(index: number): ServedSource | undefined {
    if (index === this.#lastIndex) return this.#last;
    let map = this.#maps.get(index);
    if (map === undefined) {
      map = this.#add(index);
      if (map === undefined) return undefined;
    }
    map.used = ++this.#time;
    this.#last = map;
    this.#lastIndex = index;
    return map;
  }

  close(): void {
    for (const map of this.#maps.values()) releaseFile(map);
    this.#maps.clear();
    this.#lastIndex = -1;
  }

  #add(index: number): UsedMap | undefined {
    const source = this.#sources.at(index);
    if (source === undefined) return undefined;
    if (this.#maps.size >= this.#most) this.#dropOldest();
    const mapped = mapAny(source);
    const file = mapped.decoded !== undefined
      ? this.#fileOf(mapped.decoded.storedIn ?? "")
      : mapped.file && new ServedFile(mapped.file, this.#listener);
    const map = { ...mapped, file, used: 0 };
    this.#maps.set(index, map);
    return map;
  }

  #dropOldest(): void {
    let oldest = -1;
    let time = Infinity;
    for (const [index, { used }] of this.#maps) {
      if (used >= time) continue;
      oldest = index;
      time = used;
    }
    releaseFile(this.#maps.get(oldest)!);
    this.#maps.delete(oldest);
    this.#lastIndex = -1;
  }
}

function mapAny(source: ByteSource): MappedSource {
  if (source instanceof BlockingSource) return mapBlocks(source, source.opened);
  if (source instanceof FileSource) return mapFile(source, false); // too many for the descriptor limit
  if (source instanceof DecodedSource) {
    const { name, size } = source;
    return { name, address: 0, size, decoded: source };
  }
  throw needsLocal(source);
}
