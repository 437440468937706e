import { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { MAGIC, MAGIC_SIZE } from "./layout.ts";
import { CellReader } from "./read/cells.ts";
import { readFooter } from "./read/footer.ts";
import {
  type ParquetFile,
  parquetPaths,
  rowsOf,
} from "./read/parquet_files.ts";
import { openFile } from "../../io/storage/open_file.ts";

/** Bytes of what a check keeps: dictionaries, mostly. */
const KEPT = 32 << 20;

/**
 * Decodes all pages of files, compares those with their CRC-32 that have one, and their values and rows with the counts
 * of headers, indexes and footers.
 */
export async function checkParquet(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const storage = options.storage ?? LOCAL_DISK;
  const { signal, onProgress, onDamage } = options;
  const { onWarning = warnOnConsole } = options;
  const { paths } = await runAsync(parquetPaths(location, storage), signal);
  let total = 0;
  for (const path of paths) {
    total += (await runAsync(storage.stat(path), signal))?.size ?? 0;
  }
  let [samples, bytes, damaged] = [0, 0, 0];
  const report = (error: unknown) => {
    if (!(error instanceof FormatError)) throw error;
    damaged++;
    onDamage(error);
  };
  for (const path of paths) {
    const source = await runAsync(openFile(storage, path), signal);
    try {
      const before = bytes;
      const check = new FileCheck(source, report, onWarning, signal);
      samples += await check.run((part) =>
        onProgress?.(before + Math.floor(part * source.size), total)
      );
    } catch (error) {
      report(error);
    } finally {
      source.close();
    }
    bytes += source.size;
    onProgress?.(bytes, Math.max(bytes, total));
  }
  return { samples, bytes, damaged };
}

class FileCheck {
  readonly #source: ByteSource;
  readonly #report: (error: unknown) => void;
  readonly #warn: (message: string) => void;
  readonly #signal: AbortSignal | undefined;
  /** The fault that was told last. */
  #last = "";

  constructor(
    source: ByteSource,
    report: (error: unknown) => void,
    warn: (message: string) => void,
    signal: AbortSignal | undefined,
  ) {
    this.#source = source;
    this.#report = report;
    this.#warn = warn;
    this.#signal = signal;
  }

  /**
   * @param onProgress Told which part of the file is done.
   * @returns Number of rows.
   */
  async run(onProgress: (part: number) => void): Promise<number> {
    const source = this.#source;
    const reading = readFooter(source, this.#warn);
    const index = await runAsync(reading, this.#signal);
    await this.#compareStart();
    const { name: path, size, mtime } = source;
    const file = { ...index, path, size, mtime };
    // deno-lint-ignore require-yield
    const open = function* () {
      return source;
    };
    const cells = new CellReader([file], open, true, KEPT);
    const groups = file.firsts.length - 1;
    const count = groups * file.columns.length;
    for (let i = 0; i < count; i++) {
      const group = Math.floor(i / file.columns.length);
      await this.#decodeAll(cells, file, group, i % file.columns.length);
      onProgress((i + 1) / count);
    }
    return rowsOf(file);
  }

  async #compareStart(): Promise<void> {
    const { name: path } = this.#source;
    const head = await runAsync(
      readPart(this.#source, 0, MAGIC_SIZE),
      this.#signal,
    );
    if (new DataView(head.buffer).getUint32(0, true) === MAGIC) return;
    this.#report(
      new FormatError(
        "bad-structure",
        `${path} does not begin with PAR1, although it ends so: fetch or write the file again`,
        { path, offset: 0 },
      ),
    );
  }

  /** Decodes the pages of a column in a row group, up to the first that is damaged. */
  async #decodeAll(
    cells: CellReader,
    file: ParquetFile,
    group: number,
    column: number,
  ): Promise<void> {
    const signal = this.#signal;
    try {
      const parts = await runAsync(cells.partsOf(0, group, column), signal);
      const start = file.firsts[group]!;
      for (let part = 0; part + 1 < parts.length; part++) {
        const [from, to] = [parts[part]!, parts[part + 1]!];
        for (let row = start + from; row < start + to;) {
          signal?.throwIfAborted();
          row = await this.#decode(cells, column, row) ?? start + to;
        }
      }
    } catch (error) {
      this.#report(error);
    }
  }

  /** Decodes a row, with those around it; gives the row behind these, or `undefined` where they are damaged. */
  async #decode(
    cells: CellReader,
    column: number,
    row: number,
  ): Promise<number | undefined> {
    try {
      const decoding = cells.decode(0, column, row);
      const { first, rows } = await runAsync(decoding, this.#signal);
      return first + rows.length;
    } catch (error) {
      // Others of the column may be right, unless it is what they have in common that is not.
      const text = String(error);
      if (text !== this.#last) this.#report(error);
      this.#last = text;
      return undefined;
    }
  }
}
