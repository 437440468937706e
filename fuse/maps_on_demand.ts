import { FileSource } from "../src/io/file_source.ts";
import { unmap } from "../src/io/memory_map.ts";
import type { LazySources } from "../src/tree/tree.ts";
import { mapFile, type MappedSource, needsLocal } from "./mapping.ts";

interface UsedMap extends MappedSource {
  /** When it was last asked for. */
  used: number;
}

/**
 * Maps of the sources that one thread was asked for, up to so many: then the one that was not used for
 * longest goes.
 */
export class MapsOnDemand {
  readonly #sources: LazySources;
  readonly #most: number;
  readonly #maps = new Map<number, UsedMap>();
  #time = 0;
  #last: UsedMap | undefined;
  #lastIndex = -1;

  /** @param most How many maps there may be at a time. */
  constructor(sources: LazySources, most: number) {
    this.#sources = sources;
    this.#most = most;
  }

  get bytes(): number {
    return this.#sources.knownBytes;
  }

  /**
   * The source of that index, which may be sent from until the next call.
   *
   * @throws {RecordfsError} If it can't be opened or mapped.
   */
  at(index: number): MappedSource | undefined {
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
    for (const map of this.#maps.values()) release(map);
    this.#maps.clear();
    this.#lastIndex = -1;
  }

  #add(index: number): UsedMap | undefined {
    const source = this.#sources.at(index);
    if (source === undefined) return undefined;
    if (!(source instanceof FileSource)) throw needsLocal(source);
    if (this.#maps.size >= this.#most) this.#dropOldest();
    const map = { ...mapFile(source), used: 0 };
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
    release(this.#maps.get(oldest)!);
    this.#maps.delete(oldest);
    this.#lastIndex = -1;
  }
}

function release({ address, size }: MappedSource): void {
  if (size > 0) unmap({ address: BigInt(address), size });
}
