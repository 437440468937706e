import type { ByteSource } from "../storage/byte_source.ts";
import { MappedFile } from "./memory_map.ts";

/** Returns a view of a range of a source. */
export type ViewOf = (
  source: number,
  offset: number,
  length: number,
) => Uint8Array<ArrayBuffer>;

/** Sources as memory maps of their files, mapped on first use. */
export class MappedSources {
  readonly #sources: readonly ByteSource[];
  readonly #mapped = new Map<number, MappedFile>();

  constructor(sources: readonly ByteSource[]) {
    this.#sources = sources;
  }

  /** Returns the views of a batch. If `check`, checks once per batch that no file was truncated. */
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

  /** Releases the maps. Each is unmapped with its last view. */
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
