import { arrayFromBytes } from "../../../codecs/numpy/array_bytes.ts";
import {
  decodeAs,
  decodePortable,
} from "../../../codecs/values/decode_value.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { npyHeader } from "../../../codecs/numpy/npy.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
  valueType,
} from "../../../codecs/values/value_type.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { reopenSource } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { TypeClass } from "../layout.ts";
import { areBytes, scalarType } from "../values/types.ts";
import { renderRows } from "../values/render.ts";
import { ArrayBlocks } from "./array_blocks.ts";
import type { Entry } from "./catalog.ts";
import { Hdf5File } from "./hdf5_file.ts";

/** Bytes of a row of one dataset, at most: it is read at once. */
const MOST_ROW = 64 << 20;
/** Rows whose texts are made at once, and their bytes before. */
const MOST_ROWS = 256;
const MOST_RENDERED = 1 << 20;

/** Stored values by field name: elements in C order, bytes, texts, or JSON. */
export type RowBytes = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** A file, and its datasets whose rows are samples. Plain data. */
export interface RowFile extends KnownFile {
  readonly length: number;
  readonly columns: readonly RowColumn[];
}

/** Dataset whose rows are values of a field. */
interface RowColumn {
  readonly name: string;
  readonly entry: Entry;
  readonly form: "array" | "bytes" | "json" | "text";
  /** Suffix of files of such bytes, if known. */
  readonly suffix?: string | undefined;
}

/** Rows of a file's datasets of one length, as samples. */
export class RowSamples implements Samples<RowBytes> {
  readonly unit = "row";
  readonly fields: readonly Field[];
  readonly stores = "fields";
  readonly shards: ShardTable<RowFile>;
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  readonly #file: Hdf5File;
  readonly #blocks: ArrayBlocks;

  constructor(
    rows: RowFile,
    file: Hdf5File,
    storage: Storage,
    blocks = new ArrayBlocks(file),
  ) {
    this.shards = new ShardTable([rows], ({ length }) => length);
    this.fields = rows.columns.map(fieldOf);
    this.storage = storage;
    this.sources = [file.source];
    this.#file = file;
    this.#blocks = blocks;
  }

  *read(
    indices: readonly number[],
    { fields }: ReadSamplesOptions,
  ): Steps<RowBytes[]> {
    const rows = indices.map(() =>
      Object.create(null) as Record<string, Uint8Array<ArrayBuffer>>
    );
    const order = [...indices.keys()].sort((a, b) => indices[a]! - indices[b]!);
    for (const column of this.#chosen(fields)) {
      if (column.form === "array") {
        const size = rowSize(column.entry);
        for (const at of order) {
          const value = new Uint8Array(size);
          yield* this.#blocks.read(column.entry, indices[at]! * size, value);
          rows[at]![column.name] = value;
        }
      } else yield* this.#render(column, indices, order, rows);
    }
    return rows;
  }

  decode(
    _index: number,
    raw: RowBytes,
  ): Readonly<Record<string, unknown>> | Promise<Record<string, unknown>> {
    return this.#decodeAll(raw, decodeAs);
  }

  // deno-lint-ignore require-yield -- the catalog says it
  *portable(): Steps<PortableSamples<RowBytes>> {
    return {
      fields: this.fields,
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (_index, raw) => this.#decodeAll(raw, decodePortable),
    };
  }

  prefetch(): number {
    return 0;
  }

  /** Opens the file in the library, so that rows of a local file are read without waiting. */
  ready(): Steps<void> {
    return this.#file.call("/", () => {});
  }

  /** Returns the content of the file of a value. */
  *content(index: number, field: number): Steps<Uint8Array> {
    const { name, entry, form } = this.#columns[field]!;
    const [row] = yield* this.read([index], { fields: [name] });
    const value = row![name]!;
    if (form === "json") return joined(value, encoder.encode("\n"));
    if (form !== "array") return value;
    const decoded = arrayOf(entry, value);
    if (scalarType(entry.dtype!) !== undefined && decoded.shape.length === 0) {
      return encoder.encode(`${scalarIn(entry, value)}\n`);
    }
    return joined(npyHeader(entry.dtype!, decoded.shape), value);
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: this.shards.shards[0] };
  }

  close(): void {
    this.#file.close();
  }

  get #columns(): readonly RowColumn[] {
    return this.shards.shards[0]!.columns;
  }

  #chosen(names: readonly string[] | undefined): readonly RowColumn[] {
    return names?.flatMap((name) =>
      this.#columns.find((column) => column.name === name) ?? []
    ) ?? this.#columns;
  }

  *#render(
    { name, entry }: RowColumn,
    indices: readonly number[],
    order: readonly number[],
    rows: Record<string, Uint8Array>[],
  ): Steps<void> {
    const size = rowSize(entry);
    const most = Math.max(
      1,
      Math.min(MOST_ROWS, Math.floor(MOST_RENDERED / size)),
    );
    let first = 0;
    let made: readonly Uint8Array[] = [];
    for (const at of order) {
      const index = indices[at]!;
      if (index >= first + made.length) {
        const isNext = (other: number) => indices[other]! < index + most;
        const past = indices[order.findLast(isNext)!]! + 1;
        made = yield* renderRows(this.#file, entry, index, past - index);
        first = index;
      }
      rows[at]![name] = made[index - first]!.slice();
    }
  }

  #decodeAll(
    raw: RowBytes,
    decodeBytes: typeof decodeAs,
  ): Record<string, unknown> | Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    const waiting: Promise<void>[] = [];
    for (const [i, { name, entry, form }] of this.#columns.entries()) {
      const bytes = raw[name];
      if (bytes === undefined) continue;
      const { type } = this.fields[i]!;
      try {
        const value = form !== "array"
          ? decodeBytes(type.decoding, bytes)
          : type.scalar === undefined
          ? arrayOf(entry, bytes)
          : scalarIn(entry, bytes);
        Object.defineProperty(values, name, {
          value,
          ...{ configurable: true, enumerable: true, writable: true },
        });
        if (!(value instanceof Promise)) continue;
        waiting.push(value.then((value) => void (values[name] = value)));
      } catch (cause) {
        throw memberError(
          "bad-value",
          this.#file.source.name,
          entry.path,
          "it has a value that is not of its type",
          { cause },
        );
      }
    }
    if (waiting.length === 0) return values;
    return Promise.all(waiting).then(() => values);
  }
}

const encoder = new TextEncoder();

/** Finds the samples of a file: rows of datasets of one group that all have the same first dimension. */
export function* findRows(
  file: Hdf5File,
  found: readonly Entry[],
): Steps<RowFile | undefined> {
  const entries = found.filter(({ why, hasRows, space }) =>
    space.length > 0 && (why === undefined || hasRows === true)
  );
  const length = entries[0]?.space[0];
  const areRows = length !== undefined && entries.every((entry) => {
    const size = rowSize(entry);
    return entry.space[0] === length && size > 0 && size <= MOST_ROW;
  });
  if (!areRows) return undefined;
  const columns: RowColumn[] = [];
  for (const entry of entries) {
    const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
    columns.push({ name, entry, ...yield* formOf(file, entry) });
  }
  const { name: path, size, mtime } = file.source;
  return { path, size, mtime, length, columns };
}

function* formOf(
  file: Hdf5File,
  { path, space, kind, dtype, inner }: Entry,
): Steps<Pick<RowColumn, "form" | "suffix">> {
  const isOne = space.length === 1;
  if (kind === "array") {
    const isText = isOne && inner!.length === 0 && dtype!.startsWith("|S");
    return { form: isText ? "text" : "array" };
  }
  const type = yield* file.call(
    path,
    (library, id) => library.get_dataset_metadata(id, path),
  );
  if (isOne && type.type === TypeClass.STRING) return { form: "text" };
  if (!isOne || !areBytes(type)) return { form: "json" };
  // Encoded pictures are such.
  const [first] = space[0] === 0
    ? []
    : yield* renderRows(file, { path, space }, 0, 1);
  return { form: "bytes", suffix: first && sniffedSuffix(first) };
}

function fieldOf({ name, entry, form, suffix }: RowColumn): Field {
  const { dtype, space, inner = [] } = entry;
  if (form === "json") return { name, type: VALUE_TYPES.json, isList: false };
  if (form === "text") return { name, type: VALUE_TYPES.text, isList: false };
  if (form === "bytes") {
    const type = suffix === undefined
      ? VALUE_TYPES.bytes
      : typeOfExtension(suffix);
    return { name, type, isList: false };
  }
  const isOne = space.length + inner.length === 1;
  const type = (isOne ? scalarType(dtype!) : undefined) ??
    valueType(dtype!, VALUE_TYPES.array);
  return { name, type, isList: false };
}

function rowSize({ space: [, ...inner], item }: Entry): number {
  return inner.reduce((product, length) => product * length, item);
}

function arrayOf(
  { dtype, space: [, ...rest], inner }: Entry,
  bytes: Uint8Array,
): NdArray {
  return arrayFromBytes(dtype!, [...rest, ...inner!], bytes);
}

/** Returns the number of a row: a bigint beyond 2^53. */
function scalarIn(entry: Entry, bytes: Uint8Array): unknown {
  const { data, dtype } = arrayOf(entry, bytes);
  const value = data[0]!;
  if (dtype === "|b1") return value !== 0;
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Opens the file of samples that another thread has opened. Throws if it has changed. */
export function* reopenSamples(
  rows: RowFile,
  storage: Storage,
): Steps<RowSamples> {
  const file = new Hdf5File(yield* reopenSource(storage, rows));
  return new RowSamples(rows, file, storage);
}
