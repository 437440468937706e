import type { Extent } from "../../../tree/tree.ts";
import type { FileSource } from "../../../io/storage/file_source.ts";
import type { BagBytes, BagFile } from "./bag_file.ts";
import { checkLimits } from "./index_entries.ts";
import { PagedFile } from "./paged_file.ts";

/** A bag whose index is read page by page. */
export class IndexedBag<S extends BagBytes = FileSource> {
  readonly file: BagFile<S>;
  readonly #index: PagedFile;

  constructor(file: BagFile<S>) {
    this.file = file;
    this.#index = new PagedFile(file.index, file.indexStart);
  }

  /**
   * Says where a record is. The extent's `source` is left to the caller.
   *
   * @throws {FormatError} If the index is wrong there.
   */
  locate(record: number, into: Extent): void {
    const before = record < 2 ? 0 : this.#index.entry(record - 2);
    const start = record === 0 ? 0 : this.#index.entry(record - 1);
    const end = this.#index.entry(record);
    checkLimits(this.file, record, start, end, before);
    into.offset = start;
    into.length = end - start;
    into.crc32 = -1;
    into.bytes = undefined;
  }
}
