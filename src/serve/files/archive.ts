import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import {
  headerLength,
  memberHeader,
  type NewMember,
  padded,
  TAR_BLOCK,
  writeHeader,
} from "../../base/tar_header.ts";
import { encodeName } from "../../base/names.ts";
import { NotLoaded, whenLoaded } from "../../tree/not_loaded.ts";
import {
  type Extent,
  newExtent,
  type NodeId,
  type Tree,
} from "../../tree/tree.ts";
import { type WalkedNode, Walker } from "../../tree/vfs/walk.ts";
import type { ResponseRoom } from "../response_room.ts";
import { Turns } from "../api/turns.ts";
import { describeNow } from "../entries.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import type { Contents, WholeContent } from "./content.ts";
import { GatheredPieces } from "./gathered_pieces.ts";

/** Entries looked up at a time: they stay in memory while a client stalls. */
const PAGE = 32;

interface Member {
  readonly head: NewMember;
  readonly node: NodeId;
  /** `undefined` for a directory. */
  readonly extent: Extent | undefined;
}

/** Error that truncates the archive at this member. */
interface NoMember {
  readonly failure: unknown;
}

/**
 * Streams a directory tree as a tar archive: in the container's order, each file verified against its checksum. Links
 * become the files they point to.
 *
 * Plans a piece first, then reads the contents of all its members at once, adjacent ones in one read.
 *
 * @throws {FormatError} If a file is damaged; the archive is truncated there.
 */
export async function* tarPieces(
  { tree }: Served,
  contents: Contents,
  directory: NodeId,
  room: ResponseRoom | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const walker = new Walker(tree, directory, "", Infinity);
  const turns = new Turns();
  const pieces = new GatheredPieces(room);
  /** Contents with a place in the piece that are not read yet. */
  let planned: WholeContent[] = [];
  const read = async () => {
    await contents.readAll(planned, signal);
    planned = [];
  };
  for (;;) {
    const page = await runAsync(walker.nextPage(PAGE), signal);
    if (page.length === 0) break;
    if (turns.areDue) await turns.give();
    for (const member of await runAsync(membersOf(tree, page), signal)) {
      if ("failure" in member) throw member.failure;
      const { head, node, extent } = member;
      const headSize = headerLength(head);
      const size = padded(head.size);
      const place = pieces.place(headSize + size);
      if (place !== undefined) {
        writeHeader(place.subarray(0, headSize), head, extent === undefined);
        if (extent === undefined) continue;
        const end = headSize + head.size;
        place.fill(0, end);
        const into = place.subarray(headSize, end);
        planned.push({ node, extent, into });
        continue;
      }
      // The member continues in the next piece.
      await read();
      yield* pieces.add(memberHeader(head, extent === undefined));
      if (extent === undefined) continue;
      const whole = { start: 0, end: head.size };
      const part = await contents.begin(node, extent, whole);
      const fill = (into: Uint8Array) => contents.fill(part, into, signal);
      yield* pieces.addBy(head.size, fill);
      yield* pieces.add(new Uint8Array(size - head.size));
    }
  }
  await read();
  yield* pieces.add(new Uint8Array(2 * TAR_BLOCK));
  yield* pieces.end();
}

/** Returns the members of entries, up to the first error. */
function* membersOf(
  tree: Tree,
  page: readonly WalkedNode[],
): Steps<readonly (Member | NoMember)[]> {
  const members: (Member | NoMember)[] = [];
  yield* whenLoaded(() => {
    while (members.length < page.length) {
      try {
        members.push(memberOf(tree, page[members.length]!));
      } catch (failure) {
        if (failure instanceof NotLoaded) throw failure;
        members.push({ failure });
        return;
      }
    }
  });
  return members;
}

function memberOf(
  tree: Tree,
  { path, name, node: entry }: WalkedNode,
): Member {
  const { node, isDirectory, size, mtime } = describeNow(tree, {
    name,
    node: entry,
    next: 0,
  });
  if (isDirectory) {
    const head = { name: encodeName(`${path}/`), size: 0, mtime };
    return { head, node, extent: undefined };
  }
  const extent = newExtent();
  if (size === null || !tree.locate(node, extent)) {
    throw new ServeError(
      "damaged",
      `Cannot archive '${path}': it is damaged, and its size is unknown`,
    );
  }
  const head = { name: encodeName(path), size: extent.length, mtime };
  return { head, node, extent };
}
