import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { putStatfs, STATFS_OUT_SIZE } from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** STATFS: a full file system as large as the containers. */
export function statfsHandler(
  { tree, sources }: HandlerContext,
): Handler {
  return (_request, reply) => {
    putStatfs(reply.view, REPLY_HEADER_SIZE, sources.bytes, tree.nodeCount);
    reply.body(STATFS_OUT_SIZE);
  };
}
