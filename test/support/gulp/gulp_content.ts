/** Images to gulp, and the content of directories of chunks. */
import * as fs from "node:fs";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { gulpCase } from "./gulp_golden.ts";

/** JPEGs that GulpIO2 wrote. */
export const JPEGS = frames("v2_gray_and_rgb");

function frames(name: string): Uint8Array[] {
  using directory = GulpDirectory.openSync(gulpCase(name).path, {
    decode: false,
  });
  return [...directory].flatMap((chunk) =>
    [...chunk].flatMap(({ frames }) => frames.map((jpeg) => jpeg.slice()))
  );
}

/** Writes JPEGs as `FOLDER/LABEL/N.jpg`. */
export function writeImages(
  folder: string,
  labels: readonly string[],
  count: number,
): void {
  for (const label of labels) {
    fs.mkdirSync(`${folder}/${label}`, { recursive: true });
    for (let i = 0; i < count; i++) {
      fs.writeFileSync(`${folder}/${label}/${i}.jpg`, JPEGS[i % JPEGS.length]!);
    }
  }
}

/** Returns ids, metadata and number of frames of the videos in a directory. */
export function contentOf(dir: string): [string, unknown, number][] {
  using directory = GulpDirectory.openSync(dir, { decode: false });
  return [...directory.mergedMetaDict.keys()].map((id) => {
    const { frames, meta } = directory.getRawSync(id);
    return [id, meta, frames.length];
  });
}
