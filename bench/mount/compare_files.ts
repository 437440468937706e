import { Buffer } from "node:buffer";
import type { PackedDirectory } from "../support/packed_directory.ts";

const CHECKED = 16;
const PIECE = 4 << 20;

/**
 * Compares some of the served files with the packed content: a rate means nothing if the bytes are wrong.
 *
 * @throws {Error} If a file differs.
 */
export async function compareFiles(
  packed: PackedDirectory,
  mountpoint: string,
): Promise<void> {
  using archive = await Deno.open(packed.archive);
  const count = packed.names.length;
  const step = Math.max(1, (count - 1) / (CHECKED - 1));
  for (let k = 0; Math.round(k * step) < count; k++) {
    const i = Math.round(k * step);
    const path = `${mountpoint}/${packed.names[i]}`;
    using shown = await Deno.open(path);
    await archive.seek(packed.offsets[i]!, Deno.SeekMode.Start);
    for (let done = 0; done < packed.size; done += PIECE) {
      const size = Math.min(PIECE, packed.size - done);
      const expected = await readPiece(archive, size);
      if (Buffer.compare(await readPiece(shown, size), expected) === 0) {
        continue;
      }
      throw new Error(
        `${path} is not what was packed: the server under test shows wrong bytes`,
      );
    }
  }
}

/** Returns the next bytes of a file, fewer than `size` only at its end. */
async function readPiece(file: Deno.FsFile, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let have = 0;
  while (have < size) {
    const n = await file.read(bytes.subarray(have));
    if (n === null) break;
    have += n;
  }
  return bytes.subarray(0, have);
}
