import { FileSource } from "../../src/io/storage/file_source.ts";
import type { LazySources, SeveralSources } from "../../src/tree/tree.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { isMade, type MadeSource } from "../../src/io/storage/made_source.ts";
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
  used: number;
}

/** LRU cache of the maps of the sources that one thread reads. */
export class MapsOnDemand {
  readonly #sources: LazySources | SeveralSources;
  readonly #most: number;
  readonly #listener: ChangeListener;
  readonly #fileOf: (path: string) => ServedFile | undefined;
  readonly #maps = new Map<number, UsedMap>();
  #time = 0;
  #last: ServedSource | undefined;
  #lastIndex = -1;

  /**
   * @param most Maximum number of maps at a time.
   * @param fileOf Returns the already served file of a path, so that sources decoded from it share its changes.
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

  /** See `ServedSources.at`. */
  at(index: number): ServedSource | undefined {
    if (index === this.#lastIndex && !this.#isStale(index)) return this.#last;
    const map = this.#maps.get(index);
    if (map !== undefined) map.used = ++this.#time;
    this.#last = map ?? this.#find(index);
    this.#lastIndex = index;
    return this.#last;
  }

  /** Whether the last source is made by a container that was closed since, and opened again. */
  #isStale(index: number): boolean {
    const { made } = this.#last ?? {};
    return made !== undefined && this.#sources.at(index) !== made;
  }

  close(): void {
    for (const map of this.#maps.values()) releaseFile(map);
    this.#maps.clear();
    this.#lastIndex = -1;
  }

  #find(index: number): ServedSource | undefined {
    const source = this.#sources.at(index);
    if (source === undefined) return undefined;
    if (isMade(source)) {
      return new ServedMade(source, this.#fileOf(source.storedIn ?? ""));
    }
    if (this.#maps.size >= this.#most) this.#dropOldest();
    const mapped = mapAny(source);
    const file = mapped.file && new ServedFile(mapped.file, this.#listener);
    const map = { ...mapped, file, used: ++this.#time };
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

/** A source without a map. It is not cached here. */
class ServedMade implements ServedSource {
  readonly made: MadeSource;
  readonly file: ServedFile | undefined;
  readonly address = 0;
  readonly size: number;

  constructor(made: MadeSource, file: ServedFile | undefined) {
    this.made = made;
    this.file = file;
    this.size = made.size;
  }

  get name(): string {
    return this.made.name;
  }
}

function mapAny(source: ByteSource): MappedSource {
  if (source instanceof BlockingSource) return mapBlocks(source, source.opened);
  if (source instanceof FileSource) return mapFile(source, false); // more maps than the descriptor limit allows
  throw needsLocal(source);
}
