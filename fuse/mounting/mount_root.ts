import { Errno } from "../wire/errno.ts";
import { cString, errorText, lastErrno, libc } from "../libc.ts";
import { MountError } from "./mount_error.ts";
import { fuseOptions, type MountRequest } from "./mount_request.ts";
import { FileType, MountFlag, OpenFlag } from "../wire/flags.ts";

export const FOR_CONTAINERS =
  "in a container, use docker run --device /dev/fuse --cap-add SYS_ADMIN, and, with AppArmor, " +
  "--security-opt apparmor=unconfined";

/** Mounts by mount(2). Returns the descriptor to serve, or `undefined` without the required CAP_SYS_ADMIN. */
export function mountAsRoot(request: MountRequest): number | undefined {
  const { mountpoint, fsname, subtype, options } = request;
  const { open, mount, close, getuid, getgid } = libc();
  const fd = open(cString("/dev/fuse"), OpenFlag.RDWR | OpenFlag.CLOEXEC);
  if (fd < 0) throw openError(mountpoint, lastErrno());
  const data = [
    `fd=${fd}`,
    `rootmode=${FileType.DIRECTORY.toString(8)}`,
    `user_id=${getuid()}`,
    `group_id=${getgid()}`,
    ...fuseOptions(request),
  ];
  // The kernel must enforce read-only: OPEN is answered by ENOSYS, so opening for writing would succeed otherwise.
  const flags = MountFlag.RDONLY | MountFlag.NOSUID | MountFlag.NODEV |
    (options.noExec ? MountFlag.NOEXEC : 0);
  const result = mount(
    cString(fsname),
    cString(mountpoint),
    cString(`fuse.${subtype}`),
    BigInt(flags),
    cString(data.join(",")),
  );
  if (result === 0) return fd;
  const errno = lastErrno();
  close(fd);
  if (errno === Errno.EPERM) return undefined;
  throw new MountError(
    "refused",
    `Cannot mount on ${mountpoint}: mount(2) failed: ${errorText(errno)}`,
    { path: mountpoint },
  );
}

function openError(mountpoint: string, errno: number): MountError {
  const hint = errno === Errno.EPERM
    ? `. Root lacks a permission here: ${FOR_CONTAINERS}`
    : "";
  return new MountError(
    "refused",
    `Cannot mount on ${mountpoint}: opening /dev/fuse failed: ${
      errorText(errno)
    }${hint}`,
    { path: mountpoint },
  );
}
