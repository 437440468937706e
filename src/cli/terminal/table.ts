/** What the cell of a row has; nothing is a dash. */
type Cell = string | number | null | undefined;

/** Rows under the titles of their columns; nothing at all where there are none. */
export function table<T>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => Cell>>,
): string {
  if (rows.length === 0) return "";
  const lines = [
    Object.keys(columns),
    ...rows.map((row) =>
      Object.values(columns).map((cell) => String(cell(row) ?? "-"))
    ),
  ];
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length))
  );
  return lines.map((line) =>
    `${line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()}\n`
  ).join("");
}
