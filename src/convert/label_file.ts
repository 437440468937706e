import * as fs from "node:fs";
import * as path from "node:path";
import { writeError } from "../io/write/write_error.ts";

/** The file by which GulpIO numbers labels. It goes along with what videos are converted to, and comes back. */
export const LABEL_FILE = "label2idx.json";

/**
 * Puts `label2idx.json` where a new container is written, on the disk.
 *
 * @throws {WriteError} If the system refuses.
 */
export function writeLabels(
  directory: string,
  place: string,
  labels: Uint8Array,
): void {
  const location = path.join(directory, place);
  try {
    const file = fs.openSync(location, "wx");
    try {
      fs.writeFileSync(file, labels);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    throw writeError(location, error);
  }
}
