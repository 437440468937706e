import { Errno } from "../wire/errno.ts";
import { cString, errorText, lastErrno, libc } from "../libc.ts";
import type { Server } from "../server/server.ts";
import { refusal, unmount, unmountAsRoot } from "./unmount.ts";
import { OpenFlag, UnmountFlag } from "../wire/flags.ts";

/** `F_OK` of faccessat(2), from `unistd.h`. */
const F_OK = 0;

/**
 * Takes a mount of this process out of the tree, and ends its connection even while it is in use.
 *
 * @param server Its threads end after their next request; the last descriptor they close aborts the
 * connection.
 */
export async function forceUnmount(
  mountpoint: string,
  server: Server,
): Promise<void> {
  if (libc().geteuid() === 0) {
    const errno = unmountAsRoot(mountpoint, UnmountFlag.FORCE);
    if (errno === 0) return;
    if (errno === Errno.EBUSY) return await unmount(mountpoint, true);
  }
  const flags = OpenFlag.PATH | OpenFlag.CLOEXEC; // asks the server nothing
  const root = libc().open(cString(mountpoint), flags);
  if (root < 0) throw refusal(mountpoint, errorText(lastErrno()));
  try {
    await unmount(mountpoint, true);
    server.stop();
    // Each thread waits in read(2): a request, for a name the kernel can't know, wakes one of them.
    const { threads } = server; // there are fewer with each
    for (let i = 0; i < threads; i++) {
      const name = cString(crypto.randomUUID());
      await libc().accessElsewhere(root, name, F_OK, 0);
    }
  } finally {
    libc().close(root);
  }
}

/**
 * Aborts the connection of a mount that is in use but no longer in the tree, through fusectl, which
 * lets root and the mounting user.
 *
 * @param device Device number as `major:minor`.
 * @returns Whether it could; fusectl is not mounted everywhere.
 */
export async function abortConnection(device: string): Promise<boolean> {
  const minor = device.slice(device.indexOf(":") + 1);
  try {
    await Deno.writeTextFile(`/sys/fs/fuse/connections/${minor}/abort`, "1", {
      create: false,
    });
    return true;
  } catch {
    return false;
  }
}
