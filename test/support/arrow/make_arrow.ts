/** Small files and streams of Arrow, written by the npm package `@uwdata/flechette`. */
import {
  binary,
  columnFromArray,
  type DataType,
  int32,
  tableFromColumns,
  tableToIPC,
} from "@uwdata/flechette";

/** Columns by name: their type, and their values. */
export type Columns = Readonly<
  Record<string, readonly [DataType, readonly unknown[]]>
>;

/** Writes columns as a file of one batch, or as a stream. */
export function arrowBytes(
  columns: Columns,
  format: "file" | "stream" = "file",
): Uint8Array {
  const made = Object.entries(columns).map(([name, [type, values]]) =>
    [name, columnFromArray([...values], type)] as const
  );
  const table = tableFromColumns(made.map(([name, column]) => [name, column]));
  return tableToIPC(table, { format })!;
}

/** A file of three numbers: 7, 8 and 9. */
export function arrowFile(): Uint8Array {
  return arrowBytes({ n: [int32(), [7, 8, 9]] });
}

/** A file of a column `data` of one byte each. */
export function bytesFile(values: readonly number[]): Uint8Array {
  return arrowBytes({
    data: [binary(), values.map((value) => Uint8Array.of(value))],
  });
}
