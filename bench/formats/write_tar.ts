/** Writes tars for benchmarks: `train/00/0000042.jpg` and `.cls`, unless names are given. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";

const BLOCK = 512;
/** Bytes written at a time. */
const PIECE = 8 << 20;

/**
 * @param content Returns the bytes of a member; they are written before the next call.
 *
 * @param content The bytes of a member, which are taken before the next are asked for.
 */
export function writeTar(
  path: string,
  members: number,
  content: (i: number) => Uint8Array,
  name: (i: number) => string = nameOf,
): void {
  const fd = fs.openSync(path, "w");
  let pieces: Uint8Array[] = [];
  let gathered = 0;
  const write = (piece: Uint8Array) => {
    pieces.push(piece);
    gathered += piece.length;
    if (gathered >= PIECE) flush();
  };
  const flush = () => {
    const bytes = Buffer.concat(pieces);
    for (let done = 0; done < bytes.length;) {
      done += fs.writeSync(fd, bytes, done);
    }
    pieces = [];
    gathered = 0;
  };
  try {
    for (let i = 0; i < members; i++) {
      const bytes = content(i);
      write(header(name(i), bytes.length));
      write(bytes.slice());
      write(new Uint8Array(-bytes.length & BLOCK - 1));
    }
    write(new Uint8Array(2 * BLOCK));
    flush();
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes a tar of distinct, incompressible files: `0000000.bin` and so on. */
export function writeFilesTar(path: string, files: number, size: number): void {
  const random = crypto.getRandomValues(new Uint8Array(1 << 16));
  writeTar(path, files, (i) => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += random.length) {
      bytes.set(random.subarray(0, size - at), at);
    }
    bytes[i % size]! ^= 1;
    return bytes;
  }, (i) => `${String(i).padStart(7, "0")}.bin`);
}

function nameOf(i: number): string {
  const sample = i >> 1;
  const directory = String(sample % 100).padStart(2, "0");
  const key = String(sample).padStart(7, "0");
  return `train/${directory}/${key}.${i % 2 === 0 ? "jpg" : "cls"}`;
}

function header(name: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (number: number) => `${number.toString(8).padStart(11, "0")}\0`;
  bytes.write(name, 0, 100);
  bytes.write("0000644\0", 100, "latin1");
  bytes.write(octal(size), 124, "latin1");
  bytes.write(octal(1_700_000_000), 136, "latin1");
  bytes.write(" ".repeat(8), 148, "latin1");
  bytes.write("0", 156, "latin1");
  bytes.write("ustar\0" + "00", 257, "latin1");
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}
