import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { putStatfs, STATFS_OUT_SIZE } from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** STATFS: a full file system as large as the containers. */
export function statfsHandler(
  { tree, sourceSizes }: HandlerContext,
): Handler {
  const size = sourceSizes.reduce((sum, size) => sum + size, 0);
  return (_request, reply) => {
    putStatfs(reply.view, REPLY_HEADER_SIZE, size, tree.nodeCount);
    reply.body(STATFS_OUT_SIZE);
  };
}
