/** Handlers of requests that describe an inode, and of those that the kernel can do without. */
import { newStat } from "../../src/tree/tree.ts";
import { Errno } from "../wire/errno.ts";
import { InitFlag, O_ACCMODE, OpenReplyFlag } from "../wire/flags.ts";
import { ATTR_OUT_SIZE, NodeStructs } from "../wire/node_structs.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import {
  OPEN_OUT_SIZE,
  putOpen,
  putStatfs,
  STATFS_OUT_SIZE,
} from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

export function getattrHandler(
  { tree, owner, checks }: HandlerContext,
): Handler {
  const stat = newStat();
  const structs = new NodeStructs(owner);
  return (request, reply) => {
    const node = request.node;
    if (!tree.stat(node, stat)) {
      reply.fail(Errno.ENOENT);
      return;
    }
    checks?.checkEmpty(node, stat);
    structs.putAttrOut(reply.words, REPLY_HEADER_SIZE, node, stat);
    reply.body(ATTR_OUT_SIZE);
  };
}

/** Handles READLINK. Most trees have no symbolic links. */
export function readlinkHandler(
  { tree, delegation }: HandlerContext,
): Handler {
  return (request, reply) => {
    const length = tree.readLink?.(
      request.node,
      reply.bytes,
      REPLY_HEADER_SIZE,
    ) ?? -1;
    if (length < 0) reply.fail(Errno.EINVAL); // as readlink(2) does for a file that is not a link
    else {
      reply.body(length);
      delegation?.link(request.node);
    }
  };
}

/** Handles OPEN. If the kernel supports it, ENOSYS makes it never ask again. */
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

/** Handles OPENDIR in the same way. */
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

/** Handles STATFS: a full file system of the total size of the containers. */
export function statfsHandler(
  { tree, sources }: HandlerContext,
): Handler {
  return (_request, reply) => {
    putStatfs(reply.view, REPLY_HEADER_SIZE, sources.bytes, tree.nodeCount);
    reply.body(STATFS_OUT_SIZE);
  };
}
