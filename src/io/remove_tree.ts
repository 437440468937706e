import * as fs from "node:fs";

/**
 * Removes a directory with all that is in it; nothing happens where there is none. Links are not followed.
 *
 * Directories in directories are moved up before they are emptied. So none is too deep, as it is for
 * `fs.rmSync`, which recurses and holds a descriptor for each level: a hostile container nests tens of
 * thousands, and what was written of it would stay.
 *
 * @throws The system's error, if it refuses.
 */
export function removeTree(root: string): void {
  try {
    emptyAndRemove(root);
  } catch {
    // Also names that are not UTF-8, which only the system's own way reaches.
    fs.rmSync(root, { recursive: true, force: true });
  }
}

function emptyAndRemove(root: string): void {
  const names = fs.readdirSync(root);
  let prefix = "moved-";
  while (names.some((name) => name.startsWith(prefix))) prefix += "-";
  let moved = 0;
  const directories: string[] = [];
  const remove = (path: string, isDirectory: boolean) => {
    if (!isDirectory) return fs.unlinkSync(path);
    const place = `${root}/${prefix}${moved++}`;
    fs.renameSync(path, place);
    directories.push(place);
  };
  removeEntries(root, remove);
  for (let next = directories.pop(); next; next = directories.pop()) {
    removeEntries(next, remove);
    fs.rmdirSync(next);
  }
  fs.rmdirSync(root);
}

function removeEntries(
  directory: string,
  remove: (path: string, isDirectory: boolean) => void,
): void {
  const entries = fs.readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) {
    remove(`${directory}/${entry.name}`, entry.isDirectory());
  }
}
