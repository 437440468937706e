import { basename, resolve } from "node:path";
import {
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import { StoredSamples } from "../../../convert/samples/stored_fields.ts";
import {
  areShards,
  type ShardWriter,
  writeNumberedShards,
} from "../../../convert/to/numbered_shards.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
} from "../../../convert/to/target.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { isNamedSo } from "../layout.ts";
import { ParquetOutput } from "../write/parquet_output.ts";
import { copyTables } from "./copy_tables.ts";
import { rewriteTables, type WriteRows } from "./rewrite_tables.ts";
import { ParquetSource } from "./source.ts";
import { type ColumnField, storeColumn } from "./sample_columns.ts";

/** Writes samples to a table, one column per field, or to shards of one in a directory. */
export const parquetTarget: ConversionTarget = {
  options: ["shardSize", "shardLength", "rowGroup"],
  content: { what: "files of Parquet", isOwn: isNamedSo },
  form: (_path, options) => areShards(options) ? DIRECTORY : FILE,
  async plan(source, target, options) {
    if (source instanceof ParquetSource) {
      const { tables, rows, indices, what, isWhole } = source;
      const isCopy = isWhole && !areShards(options) &&
        options.rowGroup === undefined;
      const copy = isCopy && await copyTables(tables, what, target);
      if (copy) return copy;
      const write: WriteRows = (rows, open, run) =>
        writeRows(rows, open, target, run, options);
      const same = await rewriteTables(rows, indices, what, options, write);
      if (same) return same;
    }
    const notes = new PlanNotes();
    const rows = await source.samples(notes, options);
    if (rows === undefined) {
      throw new ConversionError(
        "cannot-convert",
        `Cannot convert ${source.path} to Parquet: its files are not samples with fields. ` +
          "Convert it to a tar or a packed folder",
        source.path,
      );
    }
    const { path, what } = source;
    const samples = await StoredSamples.plan(
      rows,
      path,
      notes,
      storeColumn,
      options,
    );
    return {
      from: what,
      to: areShards(options) ? "shards of Parquet" : "Parquet",
      notes,
      unit: "samples",
      total: samples.length,
      write: (run) => writeSamples(samples, target, run, options),
    };
  },
};

function writeSamples(
  samples: StoredSamples,
  target: string,
  run: Run,
  options: ConvertOptions,
): Promise<number> {
  const { signal } = run;
  const { rowGroup } = options;
  const columns = samples.fields.map((field) => (field as ColumnField).column);
  const open = (path: string) =>
    ParquetOutput.open(path, columns, { rowGroup, signal });
  return writeRows(rowsOf(samples, run), open, target, run, options);
}

/** Writes rows to a file, or to shards in a directory. */
async function writeRows(
  rows: AsyncIterable<readonly unknown[]>,
  open: (path: string) => Promise<ShardWriter<readonly unknown[]>>,
  target: string,
  run: Run,
  options: ConvertOptions,
): Promise<number> {
  const { signal } = run;
  if (areShards(options)) {
    const name = basename(resolve(target));
    return await NewDirectory.write(
      target,
      signal,
      (temporary) =>
        writeNumberedShards(
          rows,
          open,
          `${temporary}/${name}`,
          ".parquet",
          run,
          options,
        ),
    );
  }
  await using output = await open(target);
  for await (const row of rows) {
    await output.write(row, { signal });
    run.tell(output.length);
  }
  await output.close({ signal });
  return output.length;
}

async function* rowsOf(
  samples: StoredSamples,
  run: Run,
): AsyncGenerator<readonly unknown[], void, undefined> {
  for await (const { values } of samples.read(run)) yield values;
}
