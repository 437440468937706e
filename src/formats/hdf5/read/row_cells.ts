import type { CellField } from "../../../codecs/cells/cell_field.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  type ColumnPlace,
  type DecodedPart,
  GroupedCells,
  MOST_PARTS,
  type Part,
} from "../../../tree/rows/grouped_cells.ts";
import type { RowFile } from "../../../tree/rows/row_format.ts";
import { sharedFloat64 } from "../../../tree/shared_numbers.ts";
import { fieldOf, hasHeap, StoredCells } from "../values/cells.ts";
import { numpyType, product, toNumpy } from "../values/types.ts";
import type { Entry } from "./catalog.ts";
import type { Dataset } from "./dataset.ts";
import { faultOf, type FileForm, Hdf5File } from "./hdf5_file.ts";

/** Bytes of a row of one dataset, at most: it is read at once. */
const MOST_ROW = 64 << 20;
/** Bytes of rows that are decoded together, of chunks and otherwise; and rows that are texts or lists. */
const CHUNKED = 1 << 20;
const PLAIN = 256 << 10;
const MOST_ROWS = 1024;
/** Bytes of a part that is decoded as a whole, at most. */
const MOST_PART = 8 << 20;

/** A file whose datasets have rows. Plain data. */
export interface Hdf5Rows extends RowFile {
  readonly form: FileForm;
  /** Per column. */
  readonly datasets: readonly Dataset[];
}

/** What is open of a file, and a dataset in it. */
interface Opened {
  readonly file: Hdf5File;
  readonly dataset: Dataset;
}

/** Finds the rows of a file: of datasets of one group that all have the same first dimension. */
export function* findRows(
  file: Hdf5File,
  found: readonly Entry[],
): Steps<Omit<Hdf5Rows, "path" | "size" | "mtime"> | undefined> {
  const entries = found.filter(({ dataset, why, hasRows }) =>
    dataset?.shape !== undefined && dataset.shape.length > 0 &&
    (why === undefined || hasRows === true)
  );
  const datasets = entries.map(({ dataset }) => dataset!);
  const length = datasets[0]?.shape?.[0];
  const areRows = length !== undefined && datasets.every((dataset) => {
    const size = rowSize(dataset);
    return dataset.shape![0] === length && size > 0 && size <= MOST_ROW;
  });
  if (!areRows) return undefined;
  const columns = entries.map(({ path, dataset }) =>
    columnOf(path.slice(path.lastIndexOf("/") + 1), dataset!)
  );
  const firsts = sharedFloat64([0, length]);
  const { form } = file;
  const rows = { form, datasets, columns, firsts };
  const suffixes: (string | undefined)[] = [];
  for (const { meaning } of columns) {
    const i = suffixes.length;
    const isSniffed = meaning.is === "bytes" && length > 0;
    suffixes.push(isSniffed ? yield* suffixOf(file, datasets[i]!) : "");
  }
  return { ...rows, suffixes };
}

/** Returns the suffix of the first value of a column of bytes. */
function* suffixOf(file: Hdf5File, dataset: Dataset): Steps<string> {
  try {
    const first = new Uint8Array(dataset.type.size);
    yield* file.elements.read(dataset, 0, first);
    const [value] = yield* valuesOf(file, dataset, first);
    return sniffedSuffix(value as Uint8Array) ?? "";
  } catch (error) {
    if (faultOf(error) === undefined) throw error;
    return "";
  }
}

/** Returns the field of a dataset's rows. */
function columnOf(name: string, { shape, type }: Dataset): CellField {
  const inner = shape!.slice(1);
  const numpy = numpyType(type);
  const isOne = inner.length + (numpy?.shape.length ?? 0) === 0;
  const isLeaf = isOne &&
    (type.is === "string" || type.is === "text" ||
      type.is === "number" && type.letter !== "c" && !type.bits);
  if (isOne && areBytes(type)) {
    const meaning = { is: "bytes" } as const;
    return { name, repetition: "REQUIRED", meaning, parts: [] };
  }
  if (numpy === undefined || isLeaf) return fieldOf(name, type, inner);
  const { dtype } = numpy;
  const whole = [...inner, ...numpy.shape];
  const meaning = { is: "array", dtype, shape: whole } as const;
  return { name, repetition: "REQUIRED", meaning, parts: [] };
}

/** Whether values are bytes of any length, such as encoded pictures. */
function areBytes(type: Dataset["type"]): boolean {
  return type.is === "list" && type.base.is === "number" &&
    type.base.letter === "u" && type.base.size === 1;
}

function rowSize({ shape, type }: Dataset): number {
  return product(shape!.slice(1)) * type.size;
}

/** Decodes rows of datasets, several together. */
export class Hdf5Cells extends GroupedCells<Hdf5Rows, Opened> {
  protected readonly groupName = "part";
  readonly #opened: (Hdf5File | undefined)[] = [];

  protected loaded({ file, column }: ColumnPlace): Opened | undefined {
    const opened = this.#opened[file];
    const dataset = this.files[file]!.datasets[column]!;
    return opened && { file: opened, dataset };
  }

  protected *load(place: ColumnPlace): Steps<Opened> {
    const { file } = place;
    const source: ByteSource = yield* this.open(file);
    this.#opened[file] ??= new Hdf5File(source, this.files[file]!.form);
    return this.loaded(place)!;
  }

  protected knownPart({ dataset }: Opened, _: ColumnPlace, row: number): Part {
    const { layout, shape, type } = dataset;
    const [count] = shape as [number];
    const chunk = layout.is === "chunks" ? layout.shape[0]! : 1;
    const target = layout.is === "chunks" ? CHUNKED : PLAIN;
    let each = Math.max(1, Math.floor(target / rowSize(dataset)));
    if (hasHeap(type)) each = Math.min(each, MOST_ROWS);
    each = Math.ceil(Math.max(each, count / MOST_PARTS) / chunk) * chunk;
    const number = Math.floor(row / each);
    const from = number * each;
    return { number, from, to: Math.min(count, from + each) };
  }

  protected *decodePart(
    { file, dataset }: Opened,
    { column, file: number }: ColumnPlace,
    { from, to }: Part,
    row: number,
  ): Steps<DecodedPart> {
    const { meaning } = this.files[number]!.columns[column]!;
    const size = rowSize(dataset);
    // Values of any length are taken one after the other, and large chunks are cached as such.
    const isWhole = !hasHeap(dataset.type) && (to - from) * size <= MOST_PART;
    const first = isWhole ? from : row;
    const count = Math.max(1, Math.floor(CHUNKED / size));
    const past = isWhole ? to : Math.min(to, row + count);
    const bytes = new Uint8Array((past - first) * size);
    yield* file.elements.read(dataset, first * size, bytes);
    if (meaning.is !== "array") {
      const rows = yield* valuesOf(file, dataset, bytes);
      return { from: first, rows, weight: bytes.length + 64 * rows.length };
    }
    toNumpy(numpyType(dataset.type)!, bytes);
    const rows = {
      length: past - first,
      at: (i: number) => bytes.subarray(i * size, (i + 1) * size),
    };
    return { from: first, rows, weight: bytes.length };
  }

  protected prefetchPart(
    { file, dataset }: Opened,
    _: ColumnPlace,
    { from, to }: Part,
  ): number {
    const size = rowSize(dataset);
    return file.elements.prefetch(dataset, from * size, (to - from) * size);
  }
}

/** Returns the stored values of rows, as many of them as fit memory. */
function* valuesOf(
  { metadata, elements }: Hdf5File,
  dataset: Dataset,
  bytes: Uint8Array,
): Steps<unknown[]> {
  const { type, shape } = dataset;
  const inner = shape!.slice(1);
  const isBytes = inner.length === 0 && areBytes(type);
  const size = rowSize(dataset);
  const values: unknown[] = [];
  const cells = new StoredCells(metadata, elements.heaps, false);
  for (let at = 0; at < bytes.length && !cells.isFull; at += size) {
    for (let i = 0; hasHeap(type) && i < size; i += type.size) {
      yield* cells.load(type, bytes, at + i);
    }
    values.push(
      isBytes ? cells.bytesAt(bytes, at) : cells.at(type, bytes, at, inner),
    );
  }
  return values;
}
