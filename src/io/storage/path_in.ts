/** The path of an entry of a directory. Node's `join` does it too, and takes Deno 10 ms to load. */
export function pathIn(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}
