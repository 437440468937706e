import { Errno } from "../wire/errno.ts";
import { cString, errorText, lastErrno, libc } from "../libc.ts";
import type { Server } from "../server/server.ts";
import { refusal, unmount, unmountAsRoot } from "./unmount.ts";
import { OpenFlag, UnmountFlag } from "../wire/flags.ts";

/** `F_OK` of faccessat(2), from `unistd.h`. */
const F_OK = 0;

/**
 * Detaches a mount of this process, and ends its connection even while it is in use.
 *
 * @param server Its threads end after their next request. Closing the last descriptor aborts the connection.
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
  const flags = OpenFlag.PATH | OpenFlag.CLOEXEC; // O_PATH sends no request to the server
  const root = libc().open(cString(mountpoint), flags);
  if (root < 0) throw refusal(mountpoint, errorText(lastErrno()));
  try {
    await unmount(mountpoint, true);
    server.stop();
    // Each thread blocks in read(2). A request for a name that the kernel cannot have cached wakes one of them.
    const { threads } = server; // shrinks as threads end
    for (let i = 0; i < threads; i++) {
      const name = cString(crypto.randomUUID());
      await libc().accessElsewhere(root, name, F_OK, 0);
    }
  } finally {
    libc().close(root);
  }
}

/**
 * Aborts the connection of a detached mount that is still in use, through fusectl, which root and the mounting
 * user may write to.
 *
 * @param device Device number as `major:minor`.
 * @returns Whether this succeeded; fusectl is not mounted everywhere.
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
