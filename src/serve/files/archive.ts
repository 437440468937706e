import { runAsync } from "../../io/concurrency/steps.ts";
import { BLOCK, memberHeader, padded } from "../../tar_header.ts";
import { encodeName } from "../../names.ts";
import type { NodeId } from "../../tree/tree.ts";
import { Walker } from "../../vfs/walk.ts";
import type { AnswerRoom } from "../answer_room.ts";
import { Turns } from "../api/turns.ts";
import { describe } from "../entries.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import type { Contents } from "./content.ts";
import { GatheredPieces } from "./gathered_pieces.ts";

/** Entries that are looked up at a time. */
const PAGE = 64;

/**
 * A directory, with all below it, as an archive of tar: in the container's order, each file compared with its checksum.
 * Links become the files that they lead to.
 *
 * @throws {FormatError} If a file is damaged: the archive is cut there.
 */
export async function* tarPieces(
  { tree }: Served,
  contents: Contents,
  directory: NodeId,
  room: AnswerRoom | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const walker = new Walker(tree, directory, "", Infinity);
  const turns = new Turns();
  const pieces = new GatheredPieces(room);
  for (;;) {
    const page = await runAsync(walker.nextPage(PAGE), signal);
    if (page.length === 0) break;
    for (const { path, name, node } of page) {
      if (turns.areDue) await turns.give();
      const entry = { name, node, next: 0 };
      const found = await runAsync(describe(tree, entry), signal);
      const { isDirectory, mtime } = found;
      const extent = found.size === null || isDirectory
        ? undefined
        : await runAsync(contents.locate(found.node), signal);
      if (extent === undefined && !isDirectory) {
        throw new ServeError(
          "damaged",
          `'${path}' is damaged: its size is not known`,
        );
      }
      const size = extent?.length ?? 0;
      const member = encodeName(isDirectory ? `${path}/` : path);
      yield* pieces.add(
        memberHeader({ name: member, size, mtime }, isDirectory),
      );
      if (extent === undefined) continue;
      const whole = { start: 0, end: size };
      const part = await contents.begin(found.node, extent, whole);
      const fill = (into: Uint8Array) => contents.fill(part, into, signal);
      yield* pieces.addBy(size, fill);
      yield* pieces.add(new Uint8Array(padded(size) - size));
    }
  }
  yield* pieces.add(new Uint8Array(2 * BLOCK));
  yield* pieces.end();
}
