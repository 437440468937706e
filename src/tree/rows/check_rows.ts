import { FormatError } from "../../base/errors.ts";
import { ended } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { CheckRun } from "../check/check_run.ts";
import type { CheckOptions, CheckReport } from "../format.ts";
import {
  type Cells,
  type RowFile,
  type RowFormat,
  rowsOf,
} from "./row_format.ts";

/** Cache size of a check in bytes: mostly dictionaries. */
const KEPT = 32 << 20;

/**
 * Decodes all cells of files, and reports those that are damaged.
 *
 * @param compare Compares what else a file has.
 */
export async function checkRows<F extends RowFile>(
  format: RowFormat<F>,
  path: string,
  options: CheckOptions,
  compare?: (source: ByteSource, run: CheckRun) => Promise<void>,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths } = await run.run(format.paths(path, run.storage));
  await run.run(format.load());
  const samples = await run.files(paths, async (source, start) => {
    const warn = (what: string) => run.warn(what);
    const index = await run.run(format.look(source, warn, options));
    await compare?.(source, run);
    const { name: path, size, mtime } = source;
    const { damage } = index as Partial<RowFile>;
    if (damage) {
      run.damage(new FormatError(damage.code, damage.message, { path }));
    }
    const file = { ...index, path, size, mtime } as unknown as F;
    const cells = format.cells([file], () => ended(source), true, KEPT);
    await checkCells(run, file, cells, start);
    return rowsOf(file);
  });
  return run.report({ samples });
}

async function checkCells(
  run: CheckRun,
  { columns, firsts, size }: RowFile,
  cells: Cells,
  start: number,
): Promise<void> {
  const check = new CellCheck(run, cells);
  const count = (firsts.length - 1) * columns.length;
  for (let i = 0; i < count; i++) {
    const group = Math.floor(i / columns.length);
    const column = i % columns.length;
    await run.part(async () => {
      const parts = await run.run(cells.partsOf(0, group, column));
      await check.decodeAll(column, firsts[group]!, parts);
    });
    run.advanceTo(start + Math.floor((i + 1) / count * size));
  }
}

class CellCheck {
  readonly #run: CheckRun;
  readonly #cells: Cells;
  /** The last fault reported. */
  #last = "";

  constructor(run: CheckRun, cells: Cells) {
    this.#run = run;
    this.#cells = cells;
  }

  /** Decodes the parts of a column in a group of rows. */
  async decodeAll(
    column: number,
    start: number,
    parts: ArrayLike<number>,
  ): Promise<void> {
    for (let part = 0; part + 1 < parts.length; part++) {
      const [from, to] = [parts[part]!, parts[part + 1]!];
      for (let row = start + from; row < start + to;) {
        this.#run.signal?.throwIfAborted();
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
      // Other parts of the column may be sound. An error that they share is reported once.
      const text = String(error);
      if (text !== this.#last) this.#run.damage(error);
      this.#last = text;
      return undefined;
    }
  }
}
