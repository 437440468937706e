import type { SchemaField } from "./schema.ts";

/** Names of columns as fields of rows: one that comes again has its number behind it. */
export function columnNames(columns: readonly SchemaField[]): string[] {
  const taken = new Set<string>();
  return columns.map(({ name }) => {
    let full = name;
    for (let again = 2; taken.has(full); again++) full = `${name}~${again}`;
    taken.add(full);
    return full;
  });
}
