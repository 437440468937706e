import { libcIfPermitted } from "./libc.ts";

/** Numbers of `<sys/socket.h>`. */
const AF_INET = 2;
const SHUT_RDWR = 2;
/** Bytes of the longest address that is looked at, `struct sockaddr_in6`. */
const ADDRESS = 28;

/**
 * Ends a TCP connection of this process at once, whatever its peer has not taken yet; to be called before it is closed.
 * Deno closes one of TLS only when all was taken, and the handshake has ended: who takes nothing, or never begins, would
 * keep a descriptor. Without the C library nothing is done.
 */
export function cutConnection({ localAddr, remoteAddr }: Deno.Conn): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  const local = textOf(localAddr as Deno.NetAddr);
  const remote = textOf(remoteAddr as Deno.NetAddr);
  try {
    for (const { name } of Deno.readDirSync("/proc/self/fd")) {
      const fd = Number(name);
      if (addressBy(libc.getpeername, fd) !== remote) continue;
      if (addressBy(libc.getsockname, fd) === local) {
        libc.shutdown(fd, SHUT_RDWR);
        return;
      }
    }
  } catch {
    // The directory may not be read: it stays until the peer ends it.
  }
}

/** What a function says is the address of a socket; `undefined` of what is none. */
function addressBy(
  call: (fd: number, address: BufferSource, length: BufferSource) => number,
  fd: number,
): string | undefined {
  const address = new Uint8Array(ADDRESS);
  const length = Uint32Array.of(ADDRESS);
  if (call(fd, address, length) !== 0) return undefined;
  const view = new DataView(address.buffer);
  const port = view.getUint16(2);
  const bytes = view.getUint16(0, true) === AF_INET
    ? address.subarray(4, 8).join(".")
    : Array.from(
      { length: 8 },
      (_, i) => view.getUint16(8 + 2 * i).toString(16),
    )
      .join(":");
  return textOf({ hostname: bytes, port });
}

/** An address in one form of the many that IPv6 has. */
function textOf(
  { hostname, port }: Pick<Deno.NetAddr, "hostname" | "port">,
): string {
  const host = hostname.includes(":")
    ? URL.parse(`http://[${hostname}]`)?.hostname
    : hostname;
  return `${host} ${port}`;
}
