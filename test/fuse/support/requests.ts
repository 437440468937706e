/** Fields of a request's body: a number has 32 bits, a bigint 64, and a string ends with NUL. */
export type Body = readonly (number | bigint | string | Uint8Array)[];

/** Id of each request of {@linkcode encodeRequest}. */
export const UNIQUE = 0x0102_0304_0506_0708n;

/** Encodes a request: `struct fuse_in_header` and the fields of the body. */
export function encodeRequest(
  opcode: number,
  node: number | bigint,
  body: Body = [],
  unique: bigint = UNIQUE,
): Uint8Array {
  const encoded = encodeBody(body);
  const request = new Uint8Array(40 + encoded.length);
  const view = new DataView(request.buffer);
  view.setUint32(0, request.length, true);
  view.setUint32(4, opcode, true);
  view.setBigUint64(8, unique, true);
  view.setBigUint64(16, BigInt(node), true);
  view.setUint32(24, 1000, true); // uid
  view.setUint32(28, 1000, true); // gid
  view.setUint32(32, 4242, true); // pid
  request.set(encoded, 40);
  return request;
}

/** Body of INIT, `struct fuse_init_in`. */
export function initBody(major: number, minor: number, flags: number): Body {
  return [major, minor, 131072, flags, 0, ...new Array<number>(11).fill(0)];
}

/** Body of READ, READDIR and READDIRPLUS, `struct fuse_read_in`. */
export function readBody(offset: number | bigint, size: number): Body {
  return [0n, BigInt(offset), size, 0, 0n, 0, 0];
}

/** Body of GETATTR, `struct fuse_getattr_in`. */
export const getattrBody: Body = [0, 0, 0n];

function encodeBody(body: Body): Uint8Array {
  const bytes: number[] = [];
  for (const field of body) {
    if (typeof field === "string") {
      bytes.push(...new TextEncoder().encode(field), 0);
    } else if (field instanceof Uint8Array) bytes.push(...field);
    else {
      const size = typeof field === "bigint" ? 8 : 4;
      const view = new DataView(new ArrayBuffer(8));
      view.setBigUint64(0, BigInt(field), true);
      bytes.push(...new Uint8Array(view.buffer, 0, size));
    }
  }
  return new Uint8Array(bytes);
}
