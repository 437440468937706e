/**
 * Reads frames of a GulpIO directory as JPEGs: `WAY DIRECTORY REQUESTS`, like `reference/gulp_read.py`.
 *
 * @module
 */
import {
  FrameMemory,
  GulpDirectory,
  type Video,
} from "../../src/formats/gulp/mod.ts";

type Request = [id: string, frame: number | null];
type Read = (
  directory: GulpDirectory<unknown>,
  id: string,
  frames?: number[],
) => Video<Uint8Array>;

const memory = new FrameMemory();
const WAYS: Record<string, Read> = {
  getRawSync: (directory, id, frames) => directory.getRawSync(id, frames),
  reuseSync: (directory, id, frames) =>
    directory.getRawSync(id, frames, { memory }),
  unsafeView: (directory, id, frames) => directory.unsafeView(id, frames),
};

const [way, path, requestsPath] = Deno.args;
const read = WAYS[way ?? ""];
if (read === undefined || path === undefined || requestsPath === undefined) {
  throw new Error(`Give one of ${Object.keys(WAYS)}, DIRECTORY and REQUESTS`);
}
const requests: Request[] = JSON.parse(await Deno.readTextFile(requestsPath));
using directory = await GulpDirectory.open(path, { decode: false });

readAll(read);
const start = performance.now();
const bytes = readAll(read);
const seconds = (performance.now() - start) / 1000;
Deno.stdout.writeSync(
  new TextEncoder().encode(JSON.stringify({ seconds, bytes })),
);

function readAll(read: Read): number {
  let size = 0;
  for (const [id, frame] of requests) {
    const selection = frame === null ? undefined : [frame];
    for (const jpeg of read(directory, id, selection).frames) {
      if (jpeg[0] !== 0xff) throw new Error(`${id} is not what was written`);
      size += jpeg.length;
    }
  }
  return size;
}
