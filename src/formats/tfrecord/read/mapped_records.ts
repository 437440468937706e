import { MappedFile } from "../../../io/read/memory_map.ts";
import { sumLike } from "../../../io/sums/content_sum.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { RecordFiles } from "./record_files.ts";

/** Records as views into memory maps of their files, which are made when they are first needed. */
export class MappedRecords {
  readonly #files: RecordFiles;
  readonly #check: boolean;
  /** By their indices. */
  readonly #mapped = new Map<number, MappedFile>();

  /** @param check Whether records are compared with their checksums. */
  constructor(files: RecordFiles, check: boolean) {
    this.#files = files;
    this.#check = check;
  }

  /** Views of records, in the order of `records`. */
  views(records: readonly number[]): Uint8Array<ArrayBuffer>[] {
    const { table } = this.#files;
    const sizeIsKnown = new Set<MappedFile>();
    const extent = newExtent();
    return records.map((record) => {
      table.locate(record, extent);
      const { source, offset, length, crc32 } = extent;
      const file = this.#fileOf(source);
      const view = file.unchecked().subarray(offset, offset + length);
      if (!this.#check) return view;
      if (!sizeIsKnown.has(file)) file.checkSize(); // once a batch
      sizeIsKnown.add(file);
      const crc = sumLike(crc32)(view);
      if (crc !== crc32) throw table.mismatch(record, crc32, crc);
      return view;
    });
  }

  /** Lets go of the maps: each goes away with its last view. */
  close(): void {
    for (const file of this.#mapped.values()) file.close();
    this.#mapped.clear();
  }

  #fileOf(source: number): MappedFile {
    let file = this.#mapped.get(source);
    if (file === undefined) {
      file = new MappedFile(this.#files.sources[source]!);
      this.#mapped.set(source, file);
    }
    return file;
  }
}
