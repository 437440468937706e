import { RecordfsError } from "../../../base/errors.ts";
import { DECODED, optionText } from "../../../base/named_option.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import { reopenSource } from "../../../io/storage/open_sources.ts";
import { storageInThread } from "../../../io/storage/thread_storage.ts";
import { atOnce } from "../../../tree/not_loaded.ts";
import { orNoExample, readRecords } from "../read/record_samples.ts";
import type { RecordTable } from "../read/record_table.ts";
import { newExtent } from "../../../tree/tree.ts";
import { NodeNames } from "./layout_names.ts";
import {
  type Content,
  formOf,
  layOut,
  type RecordLayout,
} from "./record_layout.ts";

/** Limit of cached layouts in bytes; a larger one is cached until the next is made. */
const MOST_KEPT = 64 << 20;
/** Largest record that is decoded, in bytes. */
const LARGEST = 256 << 20;

/** Cached record: its files, and the contents of number files accessed so far. */
interface CachedRecord {
  readonly layout: RecordLayout;
  readonly forms: Map<Content, Uint8Array>;
  weight: number;
}

/** Files that show records as examples, made on first access, with an LRU cache. */
export class DecodedRecords {
  readonly #table: RecordTable;
  readonly #check: boolean;
  readonly #sampleView: boolean;
  /** Opened on demand if the tree has none. */
  readonly #sources: ByteSource[];
  readonly #isBorrowed: boolean;
  readonly #kept = new LruCache<CachedRecord>(MOST_KEPT);
  /** Number of ids per record. */
  readonly nodes: number;

  /** @param sources Open files; without them, this thread opens its own. */
  constructor(
    table: RecordTable,
    nodes: number,
    { checkData, sampleView }: {
      readonly checkData: boolean;
      readonly sampleView: boolean;
    },
    sources?: readonly ByteSource[],
  ) {
    this.#table = table;
    this.nodes = nodes;
    this.#check = checkData;
    this.#sampleView = sampleView;
    this.#isBorrowed = sources !== undefined;
    this.#sources = sources === undefined ? [] : [...sources];
  }

  /** Returns the files of a record; throws FormatError if it is not an example, NotLoaded if it must be waited for. */
  layout(record: number): RecordLayout {
    return this.#of(record).layout;
  }

  /** Returns the content of a number file. */
  form(
    record: number,
    content: Content & { readonly kind: "json" | "npy" },
  ): Uint8Array {
    const kept = this.#of(record);
    let form = kept.forms.get(content);
    if (form === undefined) {
      form = formOf(content);
      kept.forms.set(content, form);
      kept.weight += form.length;
      this.#kept.set(record, kept, kept.weight);
    }
    return form;
  }

  /** Closes the sources opened here. */
  close(): void {
    if (!this.#isBorrowed) {
      for (const source of this.#sources) {
        source?.close();
      }
    }
  }

  #of(record: number): CachedRecord {
    const kept = this.#kept.get(record);
    if (kept !== undefined) return kept;
    const { path } = this.#table.of(record)!;
    return atOnce(path, () => this.#make(record));
  }

  *#make(record: number): Steps<CachedRecord> {
    const table = this.#table;
    const extent = newExtent();
    table.locate(record, extent);
    const { path } = table.shards[extent.source]!;
    if (extent.length > LARGEST) {
      throw new RecordfsError(
        "too-large",
        `Cannot show record ${table.numberOf(record)} of ${path} decoded: ` +
          `it has ${extent.length} bytes, more than the limit of ${LARGEST}. ` +
          `Read it without ${optionText(DECODED)}`,
        { path, sample: record, namedOptions: [DECODED] },
      );
    }
    const sources = { at: (i: number) => this.#sources[i] };
    if (this.#sources[extent.source] === undefined) {
      this.#sources[extent.source] = yield* this.#open(extent.source);
    }
    const check = this.#check;
    const [bytes] = yield* readRecords(sources, table, [record], check);
    const names = new NodeNames<Content>(path, table.numberOf(record));
    const layout = orNoExample(
      table,
      record,
      () => layOut(bytes!, this.nodes, names, this.#sampleView),
    );
    const kept = { layout, forms: new Map(), weight: layout.weight };
    this.#kept.set(record, kept, kept.weight);
    return kept;
  }

  #open(file: number): Steps<ByteSource> {
    const known = this.#table.shards[file]!;
    return reopenSource(storageInThread(known.path), known);
  }
}
