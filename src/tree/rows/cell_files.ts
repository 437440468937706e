import type { CellField } from "../../codecs/cells/cell_field.ts";
import { columnNames } from "../../codecs/cells/column_names.ts";
import { columnType, formOf } from "../../codecs/cells/column_type.ts";
import { jsonOf } from "../../codecs/cells/render_cell.ts";
import { npyHeader } from "../../codecs/numpy/npy.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { reopenSource } from "../../io/storage/open_sources.ts";
import { storageInThread } from "../../io/storage/thread_storage.ts";
import { atOnce } from "../not_loaded.ts";
import type { Field } from "../samples/samples.ts";
import { bytesOf, foundSuffix } from "./found_suffix.ts";
import {
  type Cells,
  type DecodedRows,
  type RowFile,
  type RowFormat,
} from "./row_format.ts";
import type { SharedCells } from "./shared_cells.ts";

/** Bytes of decoded rows cached by one thread, in addition to the memory shared by threads. */
const KEPT_BESIDE_SHARED = 16 << 20;

const encoder = new TextEncoder();
const EMPTY = new Uint8Array(0);
/** A null in a column of JSON. */
const NULL = encoder.encode("null");

/** Cells as files, with contents made from decoded values. */
export class CellFiles<F extends RowFile> {
  readonly #files: readonly F[];
  readonly #cells: Cells;
  /** Opened on demand, if the tree provides none. */
  readonly #sources: ByteSource[];
  readonly #isBorrowed: boolean;
  readonly #fields: (readonly Field[])[] = [];
  // Cache of the last cell: a file's size is queried first, then it is read in parts.
  #lastCell = "";
  #lastBytes: Uint8Array = EMPTY;

  readonly #shared: SharedCells | undefined;

  /**
   * @param sources Opened files; if missing, this thread opens them.
   * @param shared Cells shared with other threads.
   */
  constructor(
    format: RowFormat<F>,
    files: readonly F[],
    check: boolean,
    sources: readonly ByteSource[] | undefined,
    shared: SharedCells | undefined,
  ) {
    this.#files = files;
    this.#isBorrowed = sources !== undefined;
    this.#sources = sources === undefined ? [] : [...sources];
    this.#shared = shared;
    this.#cells = format.cells(
      files,
      (file) => this.#source(file),
      check,
      shared && KEPT_BESIDE_SHARED,
    );
  }

  /** Returns a file's fields. Suffixes of images are from the footer or the first values. May throw `NotLoaded`. */
  fields(file: number): readonly Field[] {
    return this.#fields[file] ??
      atOnce(this.#files[file]!.path, () => this.#findFields(file));
  }

  /** Returns the bytes of a cell, which must not be modified. Throws `NotLoaded` if they must be loaded first. */
  bytes(file: number, column: number, row: number): Uint8Array {
    const field = this.#files[file]!.columns[column]!;
    const cell = `${file} ${column} ${row}`;
    if (cell === this.#lastCell) return this.#lastBytes;
    const bytes = formOf(field) === "json"
      ? this.#json(field, file, column, row)
      : this.#own(field, file, column, row);
    this.#lastBytes = bytes;
    this.#lastCell = cell;
    return bytes;
  }

  /** Whether a cell is null that is not stored as JSON. Throws `NotLoaded` if it must be loaded first. */
  isNull(file: number, column: number, row: number): boolean {
    const field = this.#files[file]!.columns[column]!;
    const { first, rows } = this.#decoded(file, column, row);
    return bytesOf(field, rows.at(row - first)) === undefined;
  }

  close(): void {
    if (this.#isBorrowed) return;
    for (const source of this.#sources) source?.close();
  }

  /** Keeps what it finds: of damaged rows nothing else is, so that they would be loaded again without end. */
  *#findFields(number: number): Steps<readonly Field[]> {
    const file = this.#files[number]!;
    const names = columnNames(file.columns);
    const fields: Field[] = [];
    for (const [i, column] of file.columns.entries()) {
      const decoded = () => this.#cells.decode(number, i, 0);
      const type = columnType(column, yield* foundSuffix(file, i, decoded));
      fields.push({ name: names[i]!, type, isList: false });
    }
    return this.#fields[number] = fields;
  }

  #json(
    field: CellField,
    file: number,
    column: number,
    row: number,
  ): Uint8Array {
    const { first, rows } = this.#decoded(file, column, row);
    return encoder.encode(`${jsonOf(field, rows.at(row - first))}\n`);
  }

  /** Returns the bytes of a cell that is not stored as JSON, from this thread's cache or another thread's. */
  #own(
    field: CellField,
    file: number,
    column: number,
    row: number,
  ): Uint8Array {
    const kept = this.#cells.kept(file, column, row);
    if (kept === undefined && this.#shared !== undefined) {
      const shared = this.#shared;
      const { path } = this.#files[file]!;
      return atOnce(path, () => this.#sharedCell(shared, file, column, row));
    }
    const { first, rows } = kept ?? this.#decoded(file, column, row);
    return ownBytes(field, rows.at(row - first));
  }

  #decoded(file: number, column: number, row: number): DecodedRows {
    const decode = () => this.#cells.decode(file, column, row);
    return this.#cells.kept(file, column, row) ??
      atOnce(this.#files[file]!.path, decode);
  }

  /** Returns a shared cell, or decodes it and shares the cells decoded with it. */
  *#sharedCell(
    shared: SharedCells,
    file: number,
    column: number,
    row: number,
  ): Steps<Uint8Array> {
    const place = yield* this.#cells.place(file, column, row);
    const found = shared.read(place);
    if (found !== undefined) return found;
    // Only one of several threads decodes it. With remote files, a thread must not block on another's request.
    const isLocal = (yield* this.#source(file)).readAtSync !== undefined;
    const isOurs = isLocal && shared.claim(place);
    try {
      const others = isLocal && !isOurs ? shared.read(place) : undefined;
      if (others !== undefined) return others;
      const { first, rows } = yield* this.#cells.decode(file, column, row);
      const field = this.#files[file]!.columns[column]!;
      const cells = Array.from(
        { length: rows.length },
        (_, i) => ownBytes(field, rows.at(i)),
      );
      shared.keep(place, cells);
      return cells[row - first]!;
    } finally {
      if (isOurs) shared.release(place);
    }
  }

  *#source(file: number): Steps<ByteSource> {
    return this.#sources[file] ??= yield* this.#reopened(file);
  }

  #reopened(file: number): Steps<ByteSource> {
    const opened = this.#files[file]!;
    return reopenSource(storageInThread(opened.path), opened);
  }
}

/** Returns the content of a cell that is not stored as JSON. A null is empty, or `null` in a column of JSON. */
function ownBytes(field: CellField, stored: unknown): Uint8Array {
  const { meaning } = field;
  if (meaning.is === "array") {
    const head = npyHeader(meaning.dtype, meaning.shape);
    const elements = stored as Uint8Array;
    const file = new Uint8Array(head.length + elements.length);
    file.set(head);
    file.set(elements, head.length);
    return file;
  }
  return bytesOf(field, stored) ??
    (field.meaning.is === "json" ? NULL : EMPTY);
}
