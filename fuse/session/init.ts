import { Errno } from "../wire/errno.ts";
import { MAX_PAGES, MAX_WRITE } from "../limits.ts";
import { InitFlag, MoreInitFlag } from "../wire/flags.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import {
  INIT_OUT_SIZE,
  INIT_OUT_SIZE_BEFORE_23,
  putInit,
} from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** `FUSE_KERNEL_VERSION` of `linux/fuse.h`. */
const MAJOR = 7;
/** Newest minor version whose structs are known here. */
const NEWEST_MINOR = 38;
/** Oldest minor version: 7.12 is Linux 2.6.31; structs have had their present layout since 7.9. */
const OLDEST_MINOR = 12;
/** Maximum of background requests in flight, such as read-ahead. */
const MAX_BACKGROUND = 64;

/** Flags that speed up read-only content; each takes effect if the kernel offers it. */
const WANTED = InitFlag.ASYNC_READ |
  InitFlag.EXPORT_SUPPORT | // "." and ".." are looked up
  InitFlag.DO_READDIRPLUS |
  InitFlag.NO_OPEN_SUPPORT |
  InitFlag.PARALLEL_DIROPS |
  InitFlag.MAX_PAGES |
  InitFlag.CACHE_SYMLINKS |
  InitFlag.NO_OPENDIR_SUPPORT |
  InitFlag.INIT_EXT;

/** Further flags, in `flags2`. */
const MORE_WANTED = MoreInitFlag.HAS_RESEND;

/** Handles INIT: agrees on a version and on flags. */
export function initHandler({ connection, log }: HandlerContext): Handler {
  return (request, reply) => {
    const major = request.u32(0);
    const minor = request.u32(4);
    const agreed = Math.min(minor, NEWEST_MINOR);
    if (major < MAJOR || (major === MAJOR && minor < OLDEST_MINOR)) {
      log.log(
        `Cannot serve the mount: the kernel has FUSE ${major}.${minor}, older than ${MAJOR}.${OLDEST_MINOR}`,
      );
      reply.fail(Errno.EPROTO);
      return;
    }
    const newer = major > MAJOR; // it will send another INIT, of the version in this reply
    // Offsets of max_readahead and flags in fuse_init_in.
    const offered = !newer && request.bodySize >= 16;
    const flags = offered ? request.u32(12) & WANTED : 0;
    // Offset of flags2 in fuse_init_in.
    const moreFlags = flags & InitFlag.INIT_EXT && request.bodySize >= 20
      ? request.u32(16) & MORE_WANTED
      : 0;
    putInit(reply.view, REPLY_HEADER_SIZE, {
      major: MAJOR,
      minor: newer ? NEWEST_MINOR : agreed,
      maxReadahead: offered ? request.u32(8) : 0,
      flags,
      moreFlags,
      maxBackground: MAX_BACKGROUND,
      maxWrite: MAX_WRITE,
      maxPages: MAX_PAGES,
    });
    const compact = !newer && agreed < 23;
    reply.body(compact ? INIT_OUT_SIZE_BEFORE_23 : INIT_OUT_SIZE);
    if (!newer) connection.agree({ minor: agreed, flags, moreFlags });
  };
}
