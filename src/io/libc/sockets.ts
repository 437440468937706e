import { libcIfPermitted } from "./libc.ts";

/** From `<sys/socket.h>` and `<netinet/tcp.h>`. */
const AF_INET = 2;
const SHUT_RDWR = 2;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
/** Size of `struct sockaddr_in6`, the longest address handled here. */
const ADDRESS = 28;

/**
 * Shuts down a TCP connection of this process at once, whatever its peer has not received yet. Must be called before it
 * is closed. Deno closes a TLS connection only when everything was received and the handshake has ended, so a peer that
 * reads nothing, or never begins, would hold a descriptor. Does nothing without the C library.
 */
export function cutConnection({ localAddr, remoteAddr }: Deno.Conn): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  const local = textOf(localAddr as Deno.NetAddr);
  const remote = textOf(remoteAddr as Deno.NetAddr);
  for (const fd of descriptors()) {
    if (addressBy(libc.getpeername, fd) !== remote) continue;
    if (addressBy(libc.getsockname, fd) !== local) continue;
    libc.shutdown(fd, SHUT_RDWR);
    return;
  }
}

/**
 * Sets TCP_NODELAY for a listener's connections, which Deno does not offer for TLS. Otherwise the system delays the end
 * of a response's piece by 40 ms. Does nothing without the C library.
 */
export function sendAtOnce({ addr }: Deno.TlsListener): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  const local = textOf(addr as Deno.NetAddr);
  for (const fd of descriptors()) {
    if (addressBy(libc.getsockname, fd) !== local) continue;
    // Connections inherit it from their listener.
    libc.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, Int32Array.of(1), 4);
  }
}

/** Returns this process's descriptors; none if `/proc` is not readable. */
function descriptors(): number[] {
  try {
    return [...Deno.readDirSync("/proc/self/fd")].map(({ name }) =>
      Number(name)
    );
  } catch {
    return [];
  }
}

/** Returns a socket's address through the given call; `undefined` if it is not a socket. */
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

/** Normalizes an address, because IPv6 has many spellings. */
function textOf(
  { hostname, port }: Pick<Deno.NetAddr, "hostname" | "port">,
): string {
  const host = hostname.includes(":")
    ? URL.parse(`http://[${hostname}]`)?.hostname
    : hostname;
  return `${host} ${port}`;
}
