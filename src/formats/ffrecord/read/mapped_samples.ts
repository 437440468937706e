import { crc32Of } from "../../../io/read/crc32_of.ts";
import { MappedFile } from "../../../io/read/mapped_file.ts";
import type { MemoryMap } from "../../../io/read/memory_map.ts";
import { newExtent } from "../../../tree/tree.ts";
import { verifySample } from "./read_samples.ts";
import type { RecordFiles } from "./record_files.ts";

/** Samples as views into memory maps of their files, which are made when they are first needed. */
export class MappedSamples {
  readonly #files: RecordFiles;
  readonly #check: boolean;
  /** By their indices. */
  readonly #mapped = new Map<number, MappedFile>();

  /** @param check Whether samples are compared with their checksums. */
  constructor(files: RecordFiles, check: boolean) {
    this.#files = files;
    this.#check = check;
  }

  /** Views of samples, in the order of `samples`. */
  views(samples: readonly number[]): Uint8Array<ArrayBuffer>[] {
    const { index } = this.#files;
    const sizeIsKnown = new Set<MemoryMap>();
    const extent = newExtent();
    return samples.map((sample) => {
      index.locate(sample, extent);
      const { source, offset, length, crc32 } = extent;
      if (length === 0) { // which cannot be mapped, and may be what a cut has left
        if (this.#check) verifySample(index, sample, 0, crc32);
        return new Uint8Array();
      }
      const map = this.#mapOf(source);
      const view = map.bytes.subarray(offset, offset + length);
      if (this.#check) {
        if (!sizeIsKnown.has(map)) map.checkSize(); // once a batch
        sizeIsKnown.add(map);
        verifySample(index, sample, crc32Of(view), crc32);
      }
      return view;
    });
  }

  /** Lets go of the maps: each goes away with its last view. */
  close(): void {
    for (const file of this.#mapped.values()) file.close();
    this.#mapped.clear();
  }

  #mapOf(part: number): MemoryMap {
    const mapped = this.#mapped.get(part);
    if (mapped !== undefined) return mapped.map();
    const file = new MappedFile(this.#files.sources[part]!);
    this.#mapped.set(part, file);
    return file.map();
  }
}
