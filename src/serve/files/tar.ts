import { runAsync } from "../../io/concurrency/steps.ts";
import { encodeName } from "../../names.ts";
import type { NodeId } from "../../tree/tree.ts";
import { contentPieces } from "../../vfs/read_files.ts";
import { Walker } from "../../vfs/walk.ts";
import { describe } from "../entries.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";

/** Archives are made of blocks, and end in two that are empty (POSIX, pax: "ustar Interchange Format"). */
const BLOCK = 512;
/** Bytes of the fields of a header. */
const LONGEST_NAME = 100;
/** The largest size that 11 octal digits tell. */
const LARGEST = 8 ** 11 - 1;
/** Small files are gathered to pieces of at least so many bytes. */
const GATHERED = 1 << 18;

/**
 * A directory, with all below it, as an archive of tar: in the container's order, each file compared with its checksum.
 * Links become the files that they lead to.
 *
 * @throws {FormatError} If a file is damaged: the archive is cut there.
 */
export async function* tarPieces(
  served: Served,
  directory: NodeId,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { tree, fs } = served;
  const walker = new Walker(tree, directory, "", Infinity);
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  const gather = (piece: Uint8Array) => {
    gathered.push(Uint8Array.from(piece)); // what is read next may go to the same place
    bytes += piece.length;
  };
  const taken = () => {
    const whole = concat(gathered, bytes);
    gathered = [];
    bytes = 0;
    return whole;
  };
  for (;;) {
    const page = await runAsync(walker.nextPage(), signal);
    if (page.length === 0) break;
    for (const { path, name, node } of page) {
      const entry = { name, node, next: 0 };
      const found = await runAsync(describe(tree, entry), signal);
      const { size, isDirectory, mtime } = found;
      if (size === null) {
        throw new ServeError(
          "damaged",
          `'${path}' is damaged: its size is not known`,
        );
      }
      gather(headerOf(path, size, isDirectory, mtime));
      if (isDirectory) continue;
      for await (const piece of contentPieces(fs, found.node, path, signal)) {
        gather(piece);
        if (bytes >= GATHERED) yield taken();
      }
      gather(new Uint8Array(paddingOf(size)));
    }
    if (bytes >= GATHERED) yield taken();
  }
  gather(new Uint8Array(2 * BLOCK));
  yield taken();
}

/** The header of an entry, behind one of pax where its name or size does not go into it. */
function headerOf(
  path: string,
  size: number,
  isDirectory: boolean,
  mtime: number,
): Uint8Array {
  const name = encodeName(isDirectory ? `${path}/` : path);
  const seconds = Math.max(Math.floor(mtime / 1000), 0);
  const records: Uint8Array[] = [];
  if (name.length > LONGEST_NAME) records.push(paxRecord("path", name));
  if (size > LARGEST) records.push(paxRecord("size", encodeName(`${size}`)));
  const own = block({
    name: name.subarray(0, LONGEST_NAME),
    mode: isDirectory ? 0o755 : 0o644,
    size: Math.min(size, LARGEST),
    seconds,
    type: isDirectory ? "5" : "0",
  });
  if (records.length === 0) return own;
  const length = records.reduce((sum, record) => sum + record.length, 0);
  const head = block({
    name: encodeName("pax_header"),
    mode: 0o644,
    size: length,
    seconds,
    type: "x",
  });
  const padding = new Uint8Array(paddingOf(length));
  return concat(
    [head, ...records, padding, own],
    head.length + length + padding.length + own.length,
  );
}

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
function paxRecord(key: string, value: Uint8Array): Uint8Array {
  const rest = key.length + value.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length++;
  const start = encodeName(`${length} ${key}=`);
  return concat([start, value, encodeName("\n")], length);
}

function block(
  { name, mode, size, seconds, type }: {
    readonly name: Uint8Array;
    readonly mode: number;
    readonly size: number;
    readonly seconds: number;
    readonly type: string;
  },
): Uint8Array {
  const bytes = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => bytes.set(encodeName(text), at);
  const octal = (value: number, digits: number) =>
    `${value.toString(8).padStart(digits, "0")}\0`;
  bytes.set(name);
  put(octal(mode, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(seconds, 11), 136);
  put("        ", 148); // the sum counts its own field as blanks
  put(type, 156);
  put("ustar\x0000", 257);
  const sum = bytes.reduce((sum, byte) => sum + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

function paddingOf(size: number): number {
  return (BLOCK - size % BLOCK) % BLOCK;
}

function concat(
  parts: readonly Uint8Array[],
  length: number,
): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
