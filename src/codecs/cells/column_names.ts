/** Returns column names made unique: duplicates get a number. */
export function columnNames(
  columns: readonly { readonly name: string }[],
): string[] {
  const taken = new Set<string>();
  return columns.map(({ name }) => {
    let full = name;
    for (let again = 2; taken.has(full); again++) full = `${name}~${again}`;
    taken.add(full);
    return full;
  });
}
