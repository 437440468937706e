import { Errno } from "../wire/errno.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** READLINK: gives the target of a symbolic link; in most trees there is none. */
export function readlinkHandler(
  { tree, handOver }: HandlerContext,
): Handler {
  return (request, reply) => {
    const length = tree.readLink?.(
      request.node,
      reply.bytes,
      REPLY_HEADER_SIZE,
    ) ?? -1;
    if (length < 0) reply.fail(Errno.EINVAL); // as readlink(2) says of what is no link
    else {
      reply.body(length);
      handOver?.link(request.node);
    }
  };
}
