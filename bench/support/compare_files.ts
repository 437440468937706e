import { Buffer } from "node:buffer";
import type { PackedDirectory } from "./packed_directory.ts";

const CHECKED = 16;

/**
 * Compares some of the files that a server shows with what is packed, for a rate means nothing
 * where the bytes are wrong.
 *
 * @throws {Error} If a file differs.
 */
export async function compareFiles(
  packed: PackedDirectory,
  mountpoint: string,
): Promise<void> {
  using archive = await Deno.open(packed.archive);
  const count = packed.names.length;
  for (let k = 0; k < CHECKED; k++) {
    const i = Math.floor(k * (count - 1) / (CHECKED - 1));
    const shown = await Deno.readFile(`${mountpoint}/${packed.names[i]}`);
    const expected = await readAt(archive, packed.offsets[i]!, packed.size);
    if (Buffer.compare(shown, expected) === 0) continue;
    throw new Error(
      `${mountpoint}/${packed.names[i]} is not what was packed: the server ` +
        "under test shows wrong bytes",
    );
  }
}

async function readAt(
  file: Deno.FsFile,
  offset: number,
  size: number,
): Promise<Uint8Array> {
  await file.seek(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(size);
  let have = 0;
  while (have < size) {
    const n = await file.read(bytes.subarray(have));
    if (n === null) throw new Error("The archive ended early");
    have += n;
  }
  return bytes;
}
