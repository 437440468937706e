import {
  type Conversion,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import { areShards } from "../../../convert/to/numbered_shards.ts";
import { FormatError } from "../../../base/errors.ts";
import { ended, runAsync } from "../../../io/concurrency/steps.ts";
import type { RowSamples } from "../../../tree/rows/row_samples.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { CODECS } from "../layout.ts";
import { LeafReader } from "../read/leaf_rows.ts";
import { Chunk, type ParquetFile } from "../read/parquet_index.ts";
import type { WrittenElement } from "../read/library.ts";
import type { SchemaField } from "../values/schema.ts";
import {
  LeafOutput,
  type LeafToWrite,
  type TableToWrite,
  writtenCodec,
} from "../write/leaf_output.ts";
import type { ThriftStruct } from "../write/thrift.ts";
import { FILE, footersOf } from "./copy_tables.ts";

const REQUIRED = { ["repetition_type"]: "REQUIRED" } as const;

/** Stored bytes of rows that are read together, and their most. */
const TOGETHER = 4 << 20;
const MOST_ROWS = 8192;

/** Writes rows to one file, or to several. */
export type WriteRows = (
  rows: AsyncIterable<readonly unknown[]>,
  open: (path: string) => Promise<LeafOutput>,
  run: Run,
) => Promise<number>;

/**
 * Plans to write rows of tables anew, each value as it is stored.
 *
 * @param indices Indices of the rows, ascending; `undefined` for all.
 * @returns `undefined` if the columns of the tables differ.
 */
export async function rewriteTables(
  samples: RowSamples<ParquetFile>,
  indices: ArrayLike<number> | undefined,
  from: string,
  options: ConvertOptions,
  write: WriteRows,
): Promise<Conversion | undefined> {
  const footers = await footersOf(samples);
  const [file] = samples.shards.shards;
  if (footers === undefined || file === undefined || file.leaves === 0) {
    return undefined;
  }
  const table = { leaves: leavesOf(file), footer: keptOf(footers[0]!) };
  const notes = new PlanNotes();
  notes.kept.push("columns, their types and values, rows and their order");
  notes.changed.push(
    "row groups, pages and encodings are made anew",
    "statistics and Bloom filters are removed",
  );
  const changed = codecsOf(file).filter((codec) =>
    writtenCodec(codec) !== codec
  );
  if (changed.length > 0) {
    const names = [...new Set(changed)].join(", ");
    notes.changed.push(`pages are compressed by Snappy, not by ${names}`);
  }
  const { rowGroup, signal } = options;
  const open = (path: string) =>
    LeafOutput.open(path, table, { rowGroup, signal });
  return {
    from,
    to: areShards(options) ? "shards of Parquet" : "Parquet",
    notes,
    unit: "samples",
    total: indices?.length ?? samples.shards.length,
    write: (run) => write(rowsOf(samples, indices, run), open, run),
  };
}

/** Yields rows, as {@linkcode LeafOutput} takes them. Skips those that are damaged, if losses are allowed. */
async function* rowsOf(
  { shards, sources }: RowSamples<ParquetFile>,
  indices: ArrayLike<number> | undefined,
  run: Run,
): AsyncGenerator<readonly unknown[], void, undefined> {
  const files = shards.shards;
  const reader = new LeafReader(files, (file) => ended(sources[file]!), true);
  const count = indices?.length ?? shards.length;
  const at = (i: number) => indices === undefined ? i : indices[i]!;
  for (let i = 0; i < count;) {
    const file = shards.shardOf(at(i));
    const own = at(i) - shards.firsts[file]!;
    const { firsts } = files[file]!;
    const group = lastUpTo(firsts, own, firsts.length - 1);
    const start = shards.firsts[file]! + firsts[group]!;
    const first = at(i) - start;
    const past = Math.min(
      first + rowsTogether(files[file]!, group),
      firsts[group + 1]! - firsts[group]!,
    );
    const wanted: number[] = [];
    while (i < count && at(i) - start < past) wanted.push(at(i++) - start);
    const read = (from: number, to: number) =>
      runAsync(reader.rows(file, group, { from, to }), run.signal);
    const rowIn = (leaves: readonly unknown[][], row: number) =>
      leaves.map((rows) => rows[row]);
    try {
      const leaves = await read(first, wanted.at(-1)! + 1);
      for (const row of wanted) yield rowIn(leaves, row - first);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      for (const row of wanted) {
        let leaves: unknown[][];
        try {
          leaves = await read(row, row + 1);
        } catch (error) {
          if (!(error instanceof FormatError)) throw error;
          run.leaveOut(error.message, error);
          continue;
        }
        yield rowIn(leaves, 0);
      }
    }
  }
}

/** Returns how many rows of a group to read together. */
function rowsTogether(
  { chunks, leaves, firsts }: ParquetFile,
  group: number,
): number {
  let bytes = 0;
  for (let leaf = 0; leaf < leaves; leaf++) {
    bytes += chunks[(group * leaves + leaf) * Chunk.FIELDS + Chunk.LENGTH]!;
  }
  const rows = firsts[group + 1]! - firsts[group]!;
  const most = Math.floor(rows * TOGETHER / Math.max(1, bytes));
  return Math.min(Math.max(1, most), MOST_ROWS);
}

/** Returns the fields of a footer that are about columns and the whole table. */
function keptOf(footer: ThriftStruct): TableToWrite["footer"] {
  const kept = [FILE.schema, FILE.metadata, FILE.orders] as const;
  return new Map(kept.flatMap((id) => {
    const field = footer.get(id);
    return field === undefined ? [] : [[id, field] as const];
  }));
}

/** Returns the codecs of a file's leaves; of those of an empty file, none. */
function codecsOf({ chunks, leaves }: ParquetFile) {
  return Array.from({ length: leaves }, (_, leaf) => {
    const codec = chunks[leaf * Chunk.FIELDS + Chunk.CODEC];
    return CODECS[codec ?? 0]!;
  });
}

function leavesOf(file: ParquetFile): LeafToWrite[] {
  const codecs = codecsOf(file);
  const leaves: LeafToWrite[] = [];
  const walk = (field: SchemaField, above: readonly WrittenElement[]) => {
    const { name, repetition, type, length, parts } = field;
    const path = [...above, { name, ["repetition_type"]: repetition }];
    for (const part of parts) walk(part, path);
    if (type === undefined) return;
    const count = (of: string[]) =>
      path.filter(({ repetition_type: one }) => of.includes(one!))
        .length;
    leaves.push({
      ...{ type, length, path },
      codec: writtenCodec(codecs[leaves.length]!),
      maxDefinition: count(["OPTIONAL", "REPEATED"]),
      maxRepetition: count(["REPEATED"]),
    });
  };
  const root: WrittenElement = { name: "schema", ...REQUIRED };
  for (const column of file.columns) walk(column, [root]);
  return leaves;
}
