import { newStat, type NodeId } from "../../src/tree/tree.ts";
import { Errno } from "../wire/errno.ts";
import { NAME_MAX } from "../limits.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";
import {
  ENTRY_OUT_SIZE,
  NodeStructs,
  putNegativeEntry,
} from "../wire/node_structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

const DOT = 0x2e;

export function lookupHandler(
  { tree, owner, checks }: HandlerContext,
): Handler {
  const stat = newStat();
  const structs = new NodeStructs(owner);
  return (request, reply) => {
    const parent = request.node;
    request.readName(0);
    if (!tree.isDirectory(parent)) {
      const exists = tree.stat(parent, stat);
      reply.fail(exists ? Errno.ENOTDIR : Errno.ENOENT);
      return;
    }
    const node = find(parent, request);
    reply.body(ENTRY_OUT_SIZE);
    if (node === 0 && request.nameEnd - request.nameStart > NAME_MAX) {
      reply.fail(Errno.ENAMETOOLONG);
    } else if (node === 0) {
      // Unlike ENOENT, the kernel caches a negative entry, so repeated lookups send no request.
      putNegativeEntry(reply.words, REPLY_HEADER_SIZE);
    } else if (tree.stat(node, stat)) {
      checks?.checkEmpty(node, stat);
      structs.putEntry(reply.words, REPLY_HEADER_SIZE, node, stat);
    } else {
      reply.fail(Errno.ENOENT);
    }
  };

  function find(parent: NodeId, request: Request): NodeId {
    const { bytes, nameStart, nameEnd } = request;
    const length = nameEnd - nameStart;
    if (bytes[nameStart] === DOT) {
      if (length === 1) return parent;
      if (length === 2 && bytes[nameStart + 1] === DOT) {
        return tree.parent(parent);
      }
    }
    return tree.lookup(parent, bytes, nameStart, nameEnd);
  }
}
