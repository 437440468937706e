/** Libraries that read Parquet, and their rows as comparable text. */
import { openRows } from "../support/parquet/open_rows.ts";
import type { Entries, Entry } from "./entries.ts";

/** Library that reads a Parquet file: each row is an entry, whose facts are its columns. */
export interface ParquetPeer {
  readonly name: string;
  read(path: string): Promise<Entries>;
}

/** Upper limit of compared rows a file. */
const MOST_ROWS = 10_000;

/** recordfs itself. */
export const OWN_PARQUET: ParquetPeer = {
  name: "recordfs",
  async read(path) {
    using reader = await openRows(path, { onWarning() {} });
    const length = Math.min(reader.length, MOST_ROWS);
    const indices = Array.from({ length }, (_, i) => i);
    return rowEntries(await reader.read(indices), reader.length);
  },
};

export const PARQUET_PEERS: readonly ParquetPeer[] = [
  {
    name: "DuckDB",
    async read(path) {
      const { DuckDBInstance } = await import("@duckdb/node-api");
      const instance = await DuckDBInstance.create(":memory:");
      const connection = await instance.connect();
      try {
        const from = `read_parquet('${path.replaceAll("'", "''")}')`;
        await connection.run("set TimeZone = 'UTC'");
        const count = await connection.runAndReadAll(
          `select count(*) from ${from}`,
        );
        const rows = await connection.runAndReadAll(
          `select * from ${from} limit ${MOST_ROWS}`,
        );
        const names = rows.columnNames();
        const objects = rows.getRowsJS().map((row) =>
          Object.fromEntries(names.map((name, i) => [name, row[i]]))
        );
        return rowEntries(objects, Number(count.getRowsJS()[0]![0]));
      } finally {
        connection.closeSync();
        instance.closeSync();
      }
    },
  },
  {
    name: "hyparquet",
    async read(path) {
      const { parquetMetadataAsync, parquetReadObjects } = await import(
        "hyparquet"
      );
      const { compressors } = await import("hyparquet-compressors");
      const bytes = await Deno.readFile(path);
      const file = {
        byteLength: bytes.length,
        slice: (start: number, end?: number) =>
          bytes.slice(start, end).buffer as ArrayBuffer,
      };
      const { num_rows: count } = await parquetMetadataAsync(file);
      const rowEnd = Math.min(Number(count), MOST_ROWS);
      const rows = await parquetReadObjects({
        file,
        rowEnd,
        compressors,
        utf8: false,
      });
      return rowEntries(rows, Number(count));
    },
  },
];

function rowEntries(
  rows: readonly Readonly<Record<string, unknown>>[],
  count: number,
): Entries {
  const entries = new Map<string, Entry>([
    ["rows", { kind: "other", facts: { count: String(count) } }],
  ]);
  for (const [i, row] of rows.entries()) {
    const facts = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, shown(value)]),
    );
    entries.set(`row ${i}`, { kind: "other", facts });
  }
  return entries;
}

/**
 * Formats a value as text. For times, decimals and UUIDs, for which libraries have classes of their own, only the
 * kind of value.
 */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "null";
  switch (typeof value) {
    case "number":
      return Number.isNaN(value) ? "NaN" : String(Math.fround(value));
    case "bigint":
      return String(Math.fround(Number(value)));
    case "boolean":
    case "string":
      return JSON.stringify(value);
  }
  if (value instanceof Uint8Array) return textOf(value);
  if (Array.isArray(value)) return `[${value.map(shown).join()}]`;
  const { constructor } = Object.getPrototypeOf(value) ??
    { constructor: Object };
  if (constructor !== Object) return "a value";
  const fields = Object.entries(value).map(([name, field]) =>
    `${JSON.stringify(name)}:${shown(field)}`
  );
  return `{${fields.join()}}`;
}

/** Formats bytes as text if possible: libraries differ in how they apply the schema's string types. */
function textOf(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(bytes));
}
