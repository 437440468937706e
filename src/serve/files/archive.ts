import { concatBytes } from "../../bytes_of.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { BLOCK, memberHeader, padded } from "../../tar_header.ts";
import { encodeName } from "../../names.ts";
import type { NodeId } from "../../tree/tree.ts";
import { contentPieces } from "../../vfs/read_files.ts";
import { Walker } from "../../vfs/walk.ts";
import { Turns } from "../api/turns.ts";
import { describe } from "../entries.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";

/** Small files are gathered to pieces of at least so many bytes. */
const GATHERED = 1 << 18;

/**
 * A directory, with all below it, as an archive of tar: in the container's order, each file compared with its checksum.
 * Links become the files that they lead to.
 *
 * @throws {FormatError} If a file is damaged: the archive is cut there.
 */
export async function* tarPieces(
  served: Served,
  directory: NodeId,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { tree, fs } = served;
  const walker = new Walker(tree, directory, "", Infinity);
  const turns = new Turns();
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  const gather = (piece: Uint8Array) => {
    gathered.push(Uint8Array.from(piece)); // what is read next may go to the same place
    bytes += piece.length;
  };
  const taken = () => {
    const whole = concatBytes(gathered);
    gathered = [];
    bytes = 0;
    return whole;
  };
  for (;;) {
    const page = await runAsync(walker.nextPage(), signal);
    if (page.length === 0) break;
    for (const { path, name, node } of page) {
      if (turns.areDue) await turns.give();
      const entry = { name, node, next: 0 };
      const found = await runAsync(describe(tree, entry), signal);
      const { size, isDirectory, mtime } = found;
      if (size === null) {
        throw new ServeError(
          "damaged",
          `'${path}' is damaged: its size is not known`,
        );
      }
      const member = encodeName(isDirectory ? `${path}/` : path);
      gather(memberHeader({ name: member, size, mtime }, isDirectory));
      if (isDirectory) continue;
      for await (const piece of contentPieces(fs, found.node, path, signal)) {
        gather(piece);
        if (bytes >= GATHERED) yield taken();
      }
      gather(new Uint8Array(padded(size) - size));
    }
    if (bytes >= GATHERED) yield taken();
  }
  gather(new Uint8Array(2 * BLOCK));
  yield taken();
}
