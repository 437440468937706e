import * as fs from "node:fs";
import * as path from "node:path";

/** Whether a location is a directory or lies in it, with links resolved. Neither needs to exist. */
export function liesIn(place: string, directory: string): boolean {
  const inside = path.join(realPathAbove(directory), path.sep);
  return path.join(realPathAbove(place), path.sep).startsWith(inside);
}

function realPathAbove(file: string): string {
  const missing: string[] = [];
  for (let place = path.resolve(file);; place = path.dirname(place)) {
    try {
      return path.join(fs.realpathSync(place), ...missing);
    } catch { // opening it reports the error
      if (path.dirname(place) === place) return path.resolve(file);
      missing.unshift(path.basename(place));
    }
  }
}
