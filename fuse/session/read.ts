import { newExtent } from "../../src/tree/tree.ts";
import { FormatError } from "../../src/base/errors.ts";
import { Errno } from "../wire/errno.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { GuardedReads } from "../content/guarded_reads.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/**
 * Handles READ by locating the bytes in their source. Only computed bytes, and bytes whose checksum is verified for
 * the first time, pass through the reply's buffer.
 */
export function readHandler(
  { tree, sources, checks, delegation }: HandlerContext,
): Handler {
  const extent = newExtent();
  let guarded: GuardedReads | undefined;
  return (request, reply) => {
    const node = request.node;
    const offset = request.u64(8); // fuse_read_in.offset
    const wanted = Math.min(request.u32(16), MAX_TRANSFER); // fuse_read_in.size
    if (!tree.locate(node, extent)) {
      reply.fail(tree.isDirectory(node) ? Errno.EISDIR : Errno.ENOENT);
      return;
    }
    const length = Math.min(wanted, extent.length - offset);
    if (length <= 0) return;
    if (extent.source >= 0) {
      const start = extent.offset + offset;
      const source = sources.at(extent.source);
      // A wrong extent would send memory of this process, or crash it.
      if (
        source === undefined || start < 0 || start + length > source.size
      ) {
        throw outside(node, start, length);
      }
      source.file?.revalidate();
      const isKnown = checks === undefined ||
        extent.checksumKind === undefined ||
        checks.isKnown(node, source);
      const { remote } = source;
      if (remote === undefined || delegation === undefined) {
        const guard = source.file?.guard;
        if (guard !== undefined) {
          guarded ??= new GuardedReads(reply); // READ has one reply
          guarded.answer(reply, source, guard, start, length);
        } else if (isKnown) reply.payload(extent.source, start, length);
        else checks.answer(request, reply, source, extent, offset, length);
        return;
      }
      // Verification needs the whole sample cached; the fetch thread verifies large samples.
      const isThere = isKnown
        ? delegation.isThere(remote, start, length)
        : extent.length <= MAX_TRANSFER &&
          delegation.isThere(remote, extent.offset, extent.length);
      if (isThere && isKnown) {
        reply.payload(extent.source, start, length);
        return;
      }
      const isRight = isThere && checks !== undefined &&
        checks.answerIfRight(node, reply, source, extent, offset, length);
      if (isRight) return;
      const number = tree.sampleOf?.(node) ?? -1;
      const { offset: from, length: all, checksumKind, checksum } = extent;
      const content = { offset: from, length: all, checksumKind, checksum };
      const toCompare = isKnown
        ? undefined
        : { ...content, node, number, isWrong: isThere };
      delegation.read(request, remote, start, length, toCompare);
      reply.none();
    } else if (extent.bytes !== undefined) {
      const part = extent.bytes.subarray(offset, offset + length);
      reply.bytes.set(part, REPLY_HEADER_SIZE);
      reply.body(part.length);
    }
  };
}

function outside(node: number, offset: number, length: number): FormatError {
  return new FormatError(
    "out-of-bounds",
    `Cannot read node ${node}: its ${length} bytes at ${offset} are out of bounds of its container`,
    { offset },
  );
}
