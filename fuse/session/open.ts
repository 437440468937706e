import { Errno } from "../wire/errno.ts";
import { InitFlag, O_ACCMODE, OpenReplyFlag } from "../wire/flags.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { OPEN_OUT_SIZE, putOpen } from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** OPEN: where the kernel can do without, tells it never to ask again. */
export function openHandler({ connection }: HandlerContext): Handler {
  return (request, reply) => {
    if (connection.has(InitFlag.NO_OPEN_SUPPORT)) {
      reply.fail(Errno.ENOSYS);
    } else if ((request.u32(0) & O_ACCMODE) !== 0) {
      reply.fail(Errno.EROFS);
    } else {
      putOpen(reply.view, REPLY_HEADER_SIZE, OpenReplyFlag.KEEP_CACHE);
      reply.body(OPEN_OUT_SIZE);
    }
  };
}

/** OPENDIR: likewise. */
export function opendirHandler({ connection }: HandlerContext): Handler {
  return (_request, reply) => {
    if (connection.has(InitFlag.NO_OPENDIR_SUPPORT)) {
      reply.fail(Errno.ENOSYS);
      return;
    }
    const flags = OpenReplyFlag.KEEP_CACHE | OpenReplyFlag.CACHE_DIR;
    putOpen(reply.view, REPLY_HEADER_SIZE, flags);
    reply.body(OPEN_OUT_SIZE);
  };
}
