import { FormatError } from "../../base/errors.ts";
import { ended } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { MAGIC, MAGIC_SIZE } from "./layout.ts";
import { CellReader } from "./read/cells.ts";
import { readFooter } from "./read/footer.ts";
import {
  type ParquetFile,
  parquetPaths,
  rowsOf,
} from "./read/parquet_files.ts";

/** Cache size of a check in bytes: mostly dictionaries. */
const KEPT = 32 << 20;

/**
 * Decodes all pages of files, verifies their CRC-32 if present, and compares their values and rows with the counts of
 * headers, indexes and footers.
 */
export async function checkParquet(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths } = await run.run(parquetPaths(location, run.storage));
  const samples = await run.files(
    paths,
    (source, start) => checkFile(run, source, start),
  );
  return run.report({ samples });
}

/** @returns Number of rows. */
async function checkFile(
  run: CheckRun,
  source: ByteSource,
  start: number,
): Promise<number> {
  const index = await run.run(readFooter(source, (what) => run.warn(what)));
  await compareStart(run, source);
  const { name: path, size, mtime } = source;
  const file = { ...index, path, size, mtime };
  const cells = new CellReader([file], () => ended(source), true, KEPT);
  const check = new CellCheck(run, file, cells);
  const columns = file.columns.length;
  const count = (file.firsts.length - 1) * columns;
  for (let i = 0; i < count; i++) {
    const group = Math.floor(i / columns);
    await run.part(() => check.decodeAll(group, i % columns));
    run.advanceTo(start + Math.floor((i + 1) / count * size));
  }
  return rowsOf(file);
}

async function compareStart(run: CheckRun, source: ByteSource): Promise<void> {
  const head = await run.run(readPart(source, 0, MAGIC_SIZE));
  if (new DataView(head.buffer).getUint32(0, true) === MAGIC) return;
  const { name: path } = source;
  run.damage(
    new FormatError(
      "bad-structure",
      `Cannot read ${path}: it does not begin with PAR1, although ` +
        "it ends with it. Download or write the file again",
      { path, offset: 0 },
    ),
  );
}

class CellCheck {
  readonly #run: CheckRun;
  readonly #file: ParquetFile;
  readonly #cells: CellReader;
  /** The last fault reported. */
  #last = "";

  constructor(run: CheckRun, file: ParquetFile, cells: CellReader) {
    this.#run = run;
    this.#file = file;
    this.#cells = cells;
  }

  /** Decodes the pages of a column in a row group. Throws `FormatError` if they cannot be located. */
  async decodeAll(group: number, column: number): Promise<void> {
    const run = this.#run;
    const parts = await run.run(this.#cells.partsOf(0, group, column));
    const start = this.#file.firsts[group]!;
    for (let part = 0; part + 1 < parts.length; part++) {
      const [from, to] = [parts[part]!, parts[part + 1]!];
      for (let row = start + from; row < start + to;) {
        run.signal?.throwIfAborted();
        row = await this.#decode(column, row) ?? start + to;
      }
    }
  }

  /** Decodes a row with its neighbours; returns the next row, or `undefined` if these are damaged. */
  async #decode(column: number, row: number): Promise<number | undefined> {
    try {
      const decoding = this.#cells.decode(0, column, row);
      const { first, rows } = await this.#run.run(decoding);
      return first + rows.length;
    } catch (error) {
      // Other pages of the column may be sound. An error that they share is reported once.
      const text = String(error);
      if (text !== this.#last) this.#run.damage(error);
      this.#last = text;
      return undefined;
    }
  }
}
