import * as fs from "node:fs";
import * as path from "node:path";
import { writeError } from "../io/write/write_error.ts";

/** GulpIO's file of label numbers. Conversions of videos carry it along, and restore it. */
export const LABEL_FILE = "label2idx.json";

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
