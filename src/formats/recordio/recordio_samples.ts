import { concatBytes } from "../../base/bytes_of.ts";
import { viewOf } from "../../base/view_of.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
  valueType,
} from "../../codecs/values/value_type.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { reopenSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { rangeTable } from "../../tree/samples/range_format.ts";
import {
  type FieldNumbers,
  RangeSamples,
  type StoredSample,
} from "../../tree/samples/range_samples.ts";
import type { Field, SamplesHandle } from "../../tree/samples/samples.ts";
import type { ShardTable } from "../../tree/samples/shard_table.ts";
import { type Extent, placeRange } from "../../tree/tree.ts";
import { contentStart, HEADER, IMAGE_HEADER, MAGIC, partAt } from "./layout.ts";
import type { RecordIOFile } from "./open_records.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** From this size on, what is read of a record is what its header says. */
const LARGE = 1 << 20;
/** Most bytes of a record: up to 2^29 of data, and headers of its parts. */
const LARGEST = 1 << 30;

/** Images with labels and ids, or records of any bytes. */
export class RecordIOSamples extends RangeSamples<RecordIOFile> {
  /** Locates a record with its headers, and what an index may lack between it and the next one. */
  locate(index: number, into: Extent): void {
    const shard = this.shards.shardOf(index);
    const { limits } = this.shards.shards[shard]!;
    const number = this.shards.numberOf(index);
    const start = limits[number]!;
    placeRange(shard, start, limits[number + 1]! - start, into);
    if (into.length <= LARGE) return;
    const part = partAt(this.headOf(into, HEADER + IMAGE_HEADER), 0);
    into.length = Math.min(into.length, part?.ends ? part.stored : LARGEST);
  }

  override placeFile(index: number, field: number, into: Extent): void {
    this.locate(index, into);
    const { source, offset, length } = into;
    const view = this.headOf(into, HEADER + IMAGE_HEADER);
    const part = partAt(view, 0);
    const isWhole = part?.begins && part.ends && part.stored <= length;
    const from = isWhole && this.fields.length > 0
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

  protected override unpackNow(index: number, range: Bytes): StoredSample {
    const record = recordIn(range);
    const isContent = this.fields.length === 0;
    const start = isContent
      ? 0
      : record && contentStart(viewOf(record), 0, record.length);
    if (!record || start === undefined) {
      throw this.fault(index, "it is not whole, or not an image");
    }
    if (isContent) return record;
    const [from, to] = start === IMAGE_HEADER ? [4, 8] : [IMAGE_HEADER, start];
    return {
      image: record.subarray(start),
      label: record.subarray(from, to),
      id: record.subarray(8, IMAGE_HEADER),
    };
  }

  protected override numbersIn(
    field: string,
    bytes: Bytes,
  ): FieldNumbers | undefined {
    if (field === "image") return undefined;
    const { buffer } = bytes.slice(); // aligned
    if (field === "label") {
      const labels = new Float32Array(buffer);
      const isList = this.fields[1]!.type.elements || labels.length !== 1;
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
  const table = rangeTable(files, false);
  return new RecordIOSamples(sources, table, storage, fieldsIn(table));
}

/** Returns the fields of images, by the first one of all files; none if that is no image. */
export function fieldsIn({ shards }: ShardTable<RecordIOFile>): Field[] {
  const layout = shards.find(({ length }) => length > 0)?.layout;
  if (!layout) return [];
  const { suffix, isList } = layout;
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
  const view = viewOf(stored);
  let pieces: Bytes[] | undefined; // most records have one part
  for (let at = 0; at + HEADER <= stored.length;) {
    const part = partAt(view, at);
    const from = at + HEADER;
    const isNext = part !== undefined && (at === 0) === part.begins &&
      from + part.length <= stored.length;
    if (!isNext) return undefined;
    const piece = stored.subarray(from, from + part.length);
    if (part.begins && part.ends) return piece;
    if (pieces === undefined) pieces = [piece];
    else pieces.push(SPLIT, piece);
    if (part.ends) return concatBytes(pieces);
    at += part.stored;
  }
  return undefined;
}
