import { Errno } from "../wire/errno.ts";
import type { Handler, HandlerContext } from "./handler.ts";
import { initHandler } from "./init.ts";
import {
  getattrHandler,
  opendirHandler,
  openHandler,
  readlinkHandler,
  statfsHandler,
} from "./inode.ts";
import { lookupHandler } from "./lookup.ts";
import { readdirHandler } from "./readdir.ts";
import { readHandler } from "./read.ts";
import { Opcode } from "../wire/opcodes.ts";

/** A request's handler, or the error number it always gets (0: success). */
export type Action = Handler | number;

/** Requests that would modify the file system. */
const WRITES = [
  Opcode.SETATTR,
  Opcode.SYMLINK,
  Opcode.MKNOD,
  Opcode.MKDIR,
  Opcode.UNLINK,
  Opcode.RMDIR,
  Opcode.RENAME,
  Opcode.RENAME2,
  Opcode.LINK,
  Opcode.WRITE,
  Opcode.SETXATTR,
  Opcode.REMOVEXATTR,
  Opcode.CREATE,
  Opcode.TMPFILE,
  Opcode.FALLOCATE,
  Opcode.COPY_FILE_RANGE,
];

/**
 * Returns the action for each opcode.
 *
 * Opcodes without an action get ENOSYS. After that, the kernel does without FLUSH, FSYNC, ACCESS, GETXATTR,
 * LISTXATTR, LSEEK, STATX and others.
 */
export function actionsFor(
  context: HandlerContext,
): readonly (Action | undefined)[] {
  const actions: (Action | undefined)[] = [];
  for (const opcode of WRITES) actions[opcode] = Errno.EROFS;
  actions[Opcode.RELEASE] = 0;
  actions[Opcode.RELEASEDIR] = 0;
  actions[Opcode.DESTROY] = 0;
  actions[Opcode.INIT] = initHandler(context);
  actions[Opcode.LOOKUP] = lookupHandler(context);
  actions[Opcode.GETATTR] = getattrHandler(context);
  actions[Opcode.READLINK] = readlinkHandler(context);
  actions[Opcode.OPEN] = openHandler(context);
  actions[Opcode.OPENDIR] = opendirHandler(context);
  actions[Opcode.READ] = readHandler(context);
  actions[Opcode.READDIR] = readdirHandler(context, false);
  actions[Opcode.READDIRPLUS] = readdirHandler(context, true);
  actions[Opcode.STATFS] = statfsHandler(context);
  return actions;
}
