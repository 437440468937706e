import * as fs from "node:fs";
import * as path from "node:path";

/** Whether a place is a directory, or lies in it, by whatever links; neither needs to be there. */
export function liesIn(place: string, directory: string): boolean {
  const inside = path.join(realPathAbove(directory), path.sep);
  return path.join(realPathAbove(place), path.sep).startsWith(inside);
}

/** Resolves the symbolic links of a path, of which the last parts may be missing. */
function realPathAbove(file: string): string {
  const missing: string[] = [];
  for (let place = path.resolve(file);; place = path.dirname(place)) {
    try {
      return path.join(fs.realpathSync(place), ...missing);
    } catch { // what is wrong with it is said where it is opened
      if (path.dirname(place) === place) return path.resolve(file);
      missing.unshift(path.basename(place));
    }
  }
}
