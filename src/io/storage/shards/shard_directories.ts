/** Maximum number of parent directories kept in front of a container's own. */
const MOST_PARENTS = 4;

/**
 * Returns the directories in which to show containers: their names without suffix, preceded by as many parent
 * directories as make them distinct. Duplicates get a number.
 */
export function directoriesOf(
  paths: readonly string[],
  suffix: string,
): string[][] {
  const all = paths.map((path) => {
    const parts = path.split("/")
      .filter((part) => !/^(\.{0,2}|[a-z][a-z0-9+.-]+:)$/i.test(part));
    const name = parts.pop() ?? path;
    const own = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
    return [...parts.slice(-MOST_PARENTS), own || name];
  });
  for (let length = 1; length <= MOST_PARENTS + 1; length++) {
    const directories = all.map((parts) => parts.slice(-length));
    if (areApart(directories)) return directories;
  }
  const names = new Set<string>();
  return all.map((parts) => {
    const own = parts.at(-1)!;
    let name = own;
    for (let number = 2; names.has(name); number++) name = `${own}~${number}`;
    names.add(name);
    return [name];
  });
}

/** Whether no directory equals or contains another. */
function areApart(directories: readonly (readonly string[])[]): boolean {
  const paths = new Set(directories.map((parts) => parts.join("/")));
  const isAlone = (parts: readonly string[]) =>
    parts.every((_, i) => i === 0 || !paths.has(parts.slice(0, i).join("/")));
  return paths.size === directories.length && directories.every(isAlone);
}
