import type { ByteSource } from "../storage/byte_source.ts";
import { MappedFile } from "./memory_map.ts";

/** Gives a view of a part of a source. */
export type ViewOf = (
  source: number,
  offset: number,
  length: number,
) => Uint8Array<ArrayBuffer>;

/** Sources as memory maps of their files, which are made when they are first needed. */
export class MappedSources {
  readonly #sources: readonly ByteSource[];
  /** By their indices. */
  readonly #mapped = new Map<number, MappedFile>();

  constructor(sources: readonly ByteSource[]) {
    this.#sources = sources;
  }

  /**
   * What gives the views of a batch.
   *
   * @param check Whether it is looked whether files have been cut, once a batch.
   */
  batch(check: boolean): ViewOf {
    const sizeIsKnown = new Set<MappedFile>();
    return (source, offset, length) => {
      const file = this.#fileOf(source);
      const view = file.unchecked().subarray(offset, offset + length);
      if (check && !sizeIsKnown.has(file)) {
        file.checkSize();
        sizeIsKnown.add(file);
      }
      return view;
    };
  }

  /** Lets go of the maps: each goes away with its last view. */
  close(): void {
    for (const file of this.#mapped.values()) file.close();
    this.#mapped.clear();
  }

  #fileOf(source: number): MappedFile {
    let file = this.#mapped.get(source);
    if (file === undefined) {
      file = new MappedFile(this.#sources[source]!);
      this.#mapped.set(source, file);
    }
    return file;
  }
}
