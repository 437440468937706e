/** A number of things, as people say it: `1 file`, `2 files`, `0 directories`. */
export function counted(
  count: number,
  one: string,
  several = `${one}s`,
): string {
  return `${count} ${count === 1 ? one : several}`;
}
