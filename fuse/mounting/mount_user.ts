import { runFusermount } from "./fusermount.ts";
import { addressOf, errorText, lastErrno, libc } from "../libc.ts";
import { MountError } from "./mount_error.ts";
import { fuseOptions, type MountRequest } from "./mount_request.ts";
import { unmount } from "./unmount.ts";

/** `AF_UNIX` and `SOCK_STREAM | SOCK_CLOEXEC`, from `sys/socket.h`. */
const AF_UNIX = 1;
const SOCKET_TYPE = 1 | 0o2000000;
/** `F_SETFD`, from `fcntl.h`. */
const F_SETFD = 2;
/** `MSG_DONTWAIT | MSG_CMSG_CLOEXEC`, from `sys/socket.h`. */
const RECEIVE_FLAGS = 0x40 | 0x4000_0000;
/** `SOL_SOCKET` and `SCM_RIGHTS`, from `sys/socket.h`. */
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;

/** Bytes of a `struct cmsghdr` (length, level, type), and with one descriptor. */
const CONTROL_HEADER_SIZE = 16;
const CONTROL_SIZE = CONTROL_HEADER_SIZE + 4;

/**
 * Memory that recvmsg(2) fills, passed by address only. The module references it, so it is never collected;
 * each array has its own ArrayBuffer from the start, so it is never moved.
 */
const data = new Uint8Array(new ArrayBuffer(8));
const control = new Uint8Array(new ArrayBuffer(32));
const vector = new BigUint64Array(new ArrayBuffer(16));

/**
 * Mounts through fusermount3 as an ordinary user: it opens /dev/fuse, mounts, and sends the descriptor to serve over a
 * socket.
 */
export async function mountAsUser(request: MountRequest): Promise<number> {
  const { mountpoint } = request;
  const [theirs, ours] = socketPair();
  try {
    const { success, words } = await runFusermount(
      mountpoint,
      ["-o", optionList(request), "--", mountpoint],
      { _FUSE_COMMFD: String(theirs) },
    );
    if (success) return await receiveOrUnmount(mountpoint, ours);
    throw new MountError(
      "refused",
      `Cannot mount on ${mountpoint}: fusermount3 refused: ${words}`,
      { path: mountpoint },
    );
  } finally {
    libc().close(theirs);
    libc().close(ours);
  }
}

/** Receives the descriptor of a mount. On failure, unmounts, since nobody could serve the mount. */
async function receiveOrUnmount(
  mountpoint: string,
  socket: number,
): Promise<number> {
  try {
    return receiveDescriptor(socket);
  } catch (error) {
    await unmount(mountpoint, true).catch(() => {}); // `error` is what matters
    throw error;
  }
}

function optionList(request: MountRequest): string {
  const { fsname, subtype, options } = request;
  return [
    "ro",
    "nosuid",
    "nodev",
    ...(options.noExec ? ["noexec"] : []),
    ...fuseOptions(request),
    `fsname=${escapeValue(fsname)}`,
    `subtype=${escapeValue(subtype)}`,
  ].join(",");
}

/** Escapes a value: fusermount3 splits at commas and takes a backslash as an escape. */
function escapeValue(value: string): string {
  return value.replaceAll(/[\\,]/g, "\\$&");
}

/** Creates a socket that fusermount3 inherits, and its other end, which is not inherited. */
function socketPair(): [theirs: number, ours: number] {
  const pair = new Int32Array(2);
  const { socketpair, fcntl } = libc();
  const bytes = new Uint8Array(pair.buffer);
  if (socketpair(AF_UNIX, SOCKET_TYPE, 0, bytes) < 0) {
    throw new MountError(
      "refused",
      `Cannot mount: socketpair(2) failed: ${errorText(lastErrno())}`,
    );
  }
  const [theirs, ours] = pair as unknown as [number, number];
  fcntl(theirs, F_SETFD, 0); // clears FD_CLOEXEC
  return [theirs, ours];
}

/** Receives one descriptor as SCM_RIGHTS; see unix(7). */
function receiveDescriptor(socket: number): number {
  // struct iovec: address and length.
  vector[0] = BigInt(addressOf(data));
  vector[1] = BigInt(data.length);
  // struct msghdr: name, its length, iovec, count, control, its length, flags; 8 bytes each.
  const message = new BigUint64Array(7);
  message[2] = BigInt(addressOf(new Uint8Array(vector.buffer)));
  message[3] = 1n;
  message[4] = BigInt(addressOf(control));
  message[5] = BigInt(control.length);
  const bytes = new Uint8Array(message.buffer);
  const received = libc().recvmsg(socket, bytes, RECEIVE_FLAGS);
  const view = new DataView(control.buffer);
  if (
    received >= 0 && message[5] >= CONTROL_SIZE &&
    view.getInt32(8, true) === SOL_SOCKET &&
    view.getInt32(12, true) === SCM_RIGHTS
  ) return view.getInt32(CONTROL_HEADER_SIZE, true);
  throw new MountError(
    "refused",
    "Cannot mount: fusermount3 did not pass its descriptor of /dev/fuse",
  );
}
