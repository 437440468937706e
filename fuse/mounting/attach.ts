import { Errno } from "../wire/errno.ts";
import { cString, lastErrno, libc } from "../libc.ts";
import { MountError } from "./mount_error.ts";
import type { MountRequest } from "./mount_request.ts";
import { FOR_CONTAINERS, mountAsRoot } from "./mount_root.ts";
import { mountAsUser } from "./mount_user.ts";
import { OpenFlag } from "../wire/flags.ts";

/** Mounts as root if possible, else through fusermount3. Returns the descriptor of /dev/fuse to serve. */
export async function attach(request: MountRequest): Promise<number> {
  checkDevice(request.mountpoint);
  if (libc().geteuid() === 0) {
    // In a container even root may lack CAP_SYS_ADMIN, while fusermount3 may still work.
    const fd = mountAsRoot(request);
    if (fd !== undefined) return fd;
    try {
      return await mountAsUser(request);
    } catch (error) {
      throw error instanceof MountError ? withHint(error) : error;
    }
  }
  return await mountAsUser(request);
}

function checkDevice(mountpoint: string): void {
  const { open, close } = libc();
  // O_PATH checks existence only: fusermount3 may open what this user may not.
  const fd = open(cString("/dev/fuse"), OpenFlag.PATH | OpenFlag.CLOEXEC);
  if (fd >= 0) close(fd);
  else if (lastErrno() === Errno.ENOENT) {
    throw new MountError(
      "no-device",
      `Cannot mount on ${mountpoint}: /dev/fuse is missing. Load the kernel module (modprobe ` +
        `fuse); ${FOR_CONTAINERS}`,
      { path: mountpoint },
    );
  }
}

/** Adds a hint for root, who needs no fusermount3 outside containers. */
function withHint(error: MountError): MountError {
  return new MountError(
    error.code,
    `${error.message}. Root lacks CAP_SYS_ADMIN here: ${FOR_CONTAINERS}`,
    { path: error.path, cause: error },
  );
}
