import { concatBytes } from "../../base/bytes_of.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
  valueType,
} from "../../codecs/values/value_type.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { reopenSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { PagedFile } from "../../tree/paged_file.ts";
import {
  type FieldNumbers,
  RangeSamples,
  type StoredSample,
} from "../../tree/samples/range_samples.ts";
import type { Field, SamplesHandle } from "../../tree/samples/samples.ts";
import { ShardTable } from "../../tree/samples/shard_table.ts";
import { type Extent, placeRange } from "../../tree/tree.ts";
import { CHAIN, contentStart, HEADER, IMAGE_HEADER, MAGIC } from "./layout.ts";
import type { ImageLayout, RecordIOFile } from "./open_records.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Images with labels and ids, or records of any bytes. */
export class RecordIOSamples extends RangeSamples<RecordIOFile> {
  /** Layout of the first file with samples; `undefined` if records are not images. */
  readonly #layout: ImageLayout | undefined;
  readonly #pages: readonly PagedFile[];

  constructor(
    sources: readonly ByteSource[],
    shards: ShardTable<RecordIOFile>,
    storage: Storage,
  ) {
    const layout = shards.shards.find(({ length }) => length > 0)?.layout;
    super(sources, shards, storage, layout && imageFields(layout));
    this.#layout = layout;
    this.#pages = sources.map((source) => new PagedFile(source, 0));
  }

  /** Locates a record with its headers. */
  locate(index: number, into: Extent): void {
    const shard = this.shards.shardOf(index);
    const { limits } = this.shards.shards[shard]!;
    const number = this.shards.numberOf(index);
    const start = limits[number]!;
    placeRange(shard, start, limits[number + 1]! - start, into);
  }

  override placeFile(index: number, field: number, into: Extent): void {
    this.locate(index, into);
    const { source, offset, length } = into;
    const head = new Uint8Array(Math.min(HEADER + IMAGE_HEADER, length));
    this.#pages[source]!.copy(head, offset, head.length);
    const view = new DataView(head.buffer);
    const part = CHAIN.partAt(view, 0);
    const isWhole = part?.begins && part.ends && part.stored <= length;
    const from = isWhole && this.#layout !== undefined
      ? contentStart(view, HEADER, part.length)
      : 0;
    if (field > 0 || !isWhole || from === undefined) {
      return super.placeFile(index, field, into);
    }
    placeRange(source, offset + HEADER + from, part.length - from, into);
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: this.shards.shards };
  }

  // deno-lint-ignore require-yield -- records are not compressed
  protected override *unpack(
    indices: readonly number[],
    ranges: Bytes[],
  ): Steps<StoredSample[]> {
    return ranges.map((range, i) => {
      const record = recordIn(range);
      if (record === undefined) {
        throw this.fault(indices[i]!, "its parts are not whole");
      }
      if (this.#layout === undefined) return record;
      const { buffer, byteOffset, length } = record;
      const start = contentStart(new DataView(buffer, byteOffset), 0, length);
      if (start === undefined) {
        throw this.fault(indices[i]!, "it does not begin like an image");
      }
      const [from, to] = start === IMAGE_HEADER
        ? [4, 8]
        : [IMAGE_HEADER, start];
      return {
        image: record.subarray(start),
        label: record.subarray(from, to),
        id: record.subarray(8, IMAGE_HEADER),
      };
    });
  }

  protected override numbersIn(
    field: string,
    bytes: Bytes,
  ): FieldNumbers | undefined {
    if (field === "image") return undefined;
    const { buffer } = bytes.slice(); // aligned
    if (field === "label") {
      const labels = new Float32Array(buffer);
      const isList = this.#layout!.isList || labels.length !== 1;
      return isList ? labels : labels[0]!;
    }
    const [low, high] = new BigUint64Array(buffer);
    const id = low! + (high! << 64n);
    return id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;
  }
}

/** Opens files that another thread has opened, using its tables. */
export function* reopenSamples(
  files: readonly RecordIOFile[],
  storage: Storage,
): Steps<RecordIOSamples> {
  const sources = yield* reopenSources(storage, files);
  const table = new ShardTable(files, ({ length }) => length);
  return new RecordIOSamples(sources, table, storage);
}

function imageFields({ suffix, isList }: ImageLayout): Field[] {
  const image = { ...typeOfExtension(suffix), suffix };
  const label = isList
    ? valueType("float32[]", VALUE_TYPES.json, { elements: "float32" })
    : valueType("float32", VALUE_TYPES.number, { scalar: "float32" });
  const id = valueType("id", VALUE_TYPES.number, { scalar: "int" });
  return Object.entries({ image, label, id })
    .map(([name, type]) => ({ name, type, isList: false }));
}

/** The bytes at which records are split. */
const SPLIT = new Uint8Array(Uint32Array.of(MAGIC).buffer);

/** Returns the data of a stored record: a view, or its joined parts; `undefined` if they are not whole. */
function recordIn(stored: Bytes): Bytes | undefined {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.length);
  const pieces: Bytes[] = [];
  for (let at = 0; at + HEADER <= stored.length;) {
    const part = CHAIN.partAt(view, at);
    const from = at + HEADER;
    const isNext = part !== undefined && (at === 0) === part.begins &&
      from + part.length <= stored.length;
    if (!isNext) return undefined;
    const piece = stored.subarray(from, from + part.length);
    if (part.begins && part.ends) return piece;
    if (at > 0) pieces.push(SPLIT);
    pieces.push(piece);
    if (part.ends) return concatBytes(pieces);
    at += part.stored;
  }
  return undefined;
}
