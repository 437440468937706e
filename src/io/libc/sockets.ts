import { libcIfPermitted } from "./libc.ts";

/** Numbers of `<sys/socket.h>` and `<netinet/tcp.h>`. */
const AF_INET = 2;
const SHUT_RDWR = 2;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
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
  for (const fd of descriptors()) {
    if (addressBy(libc.getpeername, fd) !== remote) continue;
    if (addressBy(libc.getsockname, fd) !== local) continue;
    libc.shutdown(fd, SHUT_RDWR);
    return;
  }
}

/**
 * Has the connections of a listener send what is written at once, which Deno does not offer of TLS: otherwise a system
 * waits 40 ms before it sends the end of an answer's piece. Without the C library nothing is done.
 */
export function sendAtOnce({ addr }: Deno.TlsListener): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  const local = textOf(addr as Deno.NetAddr);
  for (const fd of descriptors()) {
    if (addressBy(libc.getsockname, fd) !== local) continue;
    // Connections have what their listener has.
    libc.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, Int32Array.of(1), 4);
  }
}

/** Those of this process; none where they may not be looked at. */
function descriptors(): number[] {
  try {
    return [...Deno.readDirSync("/proc/self/fd")].map(({ name }) =>
      Number(name)
    );
  } catch {
    return [];
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
