import { RecordfsError } from "../../base/errors.ts";
import { DECODED, optionText } from "../../base/named_option.ts";
import { LruCache } from "../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { reopenSource } from "../../io/storage/open_sources.ts";
import { storageInThread } from "../../io/storage/thread_storage.ts";
import { atOnce } from "../not_loaded.ts";
import { readContents } from "../read_contents.ts";
import { newExtent } from "../tree.ts";
import type { LayOut, NodeContent, RecordLayout } from "./record_layout.ts";
import type { RecordFile, RecordTable } from "./record_table.ts";

type Made = NodeContent & { readonly kind: "made" };

/** Limit of cached layouts in bytes; a larger one is cached until the next is made. */
const MOST_KEPT = 64 << 20;
/** Largest record that is decoded, in bytes. */
const LARGEST = 256 << 20;

/** Cached record: its files, and the contents made so far. */
interface CachedRecord {
  readonly layout: RecordLayout;
  readonly made: Map<Made, Uint8Array>;
  weight: number;
}

/** Files that show decoded records, made on first access, with an LRU cache. */
export class DecodedRecords {
  readonly #table: RecordTable<RecordFile>;
  readonly #layOut: LayOut;
  readonly #check: boolean;
  /** Opened on demand if the tree has none. */
  readonly #sources: ByteSource[];
  readonly #isBorrowed: boolean;
  readonly #kept = new LruCache<CachedRecord>(MOST_KEPT);
  /** Number of ids per record. */
  readonly nodes: number;

  /** @param sources Open files; without them, this thread opens its own. */
  constructor(
    table: RecordTable<RecordFile>,
    nodes: number,
    layOut: LayOut,
    checkData: boolean,
    sources?: readonly ByteSource[],
  ) {
    this.#table = table;
    this.nodes = nodes;
    this.#layOut = layOut;
    this.#check = checkData;
    this.#isBorrowed = sources !== undefined;
    this.#sources = sources === undefined ? [] : [...sources];
  }

  /** Returns the files of a record; throws FormatError if it cannot be decoded, NotLoaded if it must be waited for. */
  layout(record: number): RecordLayout {
    return this.#of(record).layout;
  }

  /** Returns the content of a file that is made. */
  bytes(record: number, content: Made): Uint8Array {
    const kept = this.#of(record);
    let bytes = kept.made.get(content);
    if (bytes === undefined) {
      bytes = content.make();
      kept.made.set(content, bytes);
      kept.weight += bytes.length;
      this.#kept.set(record, kept, kept.weight);
    }
    return bytes;
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
    const [bytes] = yield* readContents({
      sources,
      length: 1,
      locate: (_, into) => table.locate(record, into),
      mismatch: this.#check
        ? (_, ...sums) => table.mismatch!(record, ...sums)
        : undefined,
    });
    const layout = this.#layOut(record, bytes!, this.nodes);
    const kept = { layout, made: new Map(), weight: layout.weight };
    this.#kept.set(record, kept, kept.weight);
    return kept;
  }

  #open(file: number): Steps<ByteSource> {
    const known = this.#table.shards[file]!;
    return reopenSource(storageInThread(known.path), known);
  }
}
