/** Content of a cell; null and undefined show as a dash. */
type Cell = string | number | null | undefined;

/** Formats rows below column titles; an empty string if there are no rows. */
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
