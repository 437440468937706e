/** Small Arrow files and streams, written by the npm package `@uwdata/flechette`. */
import {
  binary,
  columnFromArray,
  type DataType,
  int32,
  tableFromColumns,
  tableToIPC,
} from "@uwdata/flechette";

/** Type and values of each column, by name. */
export type Columns = Readonly<
  Record<string, readonly [DataType, readonly unknown[]]>
>;

/** Returns columns as a file of one record batch, or as a stream. */
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

/** Returns a file of three numbers: 7, 8 and 9. */
export function arrowFile(): Uint8Array {
  return arrowBytes({ n: [int32(), [7, 8, 9]] });
}

/** Returns a file with one column, `data`, of one byte per row. */
export function bytesFile(values: readonly number[]): Uint8Array {
  return arrowBytes({
    data: [binary(), values.map((value) => Uint8Array.of(value))],
  });
}
