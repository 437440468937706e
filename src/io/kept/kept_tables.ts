import * as fs from "node:fs";
import { newSharedMemory } from "../libc/new_memory.ts";
import { crc32Of } from "../read/crc32_of.ts";
import type { KeptPlace } from "./kept_place.ts";
import { utf8Text } from "../../utf8.ts";

/** A column of numbers, over memory that threads share. */
export type Column = Uint8Array | Uint32Array | Float64Array;

/** Tables, by the names of their columns, and what else is to be known. */
export interface KeptTables {
  readonly columns: Readonly<Record<string, Column>>;
  /** Plain data. */
  readonly facts: unknown;
}

/** How a file starts. */
const MAGIC = "recordfs index 1\n";
/** Behind it: length of the head, and CRC-32 of all that follows the fixed part. */
const FIXED = 32;

/** All that is kept has at most so many bytes: what was used last stays. */
const MOST_BYTES = 4 * 2 ** 30;
/** A head is names and lengths. */
const LONGEST_HEAD = 1 << 20;

type TypeName = "f64" | "u32" | "u8";

interface Head {
  readonly state: string;
  /** What it is of, for people. */
  readonly of: string;
  readonly facts: unknown;
  readonly columns: readonly {
    readonly name: string;
    readonly type: TypeName;
    readonly length: number;
    /** From the start of the file; a multiple of 8. */
    readonly start: number;
  }[];
}

/**
 * Reads tables that were kept of a source, into memory that threads share.
 *
 * @returns `undefined` where there are none of this state of the source, or they are damaged: they are made anew then.
 */
export function readKeptTables(place: KeptPlace): KeptTables | undefined {
  let fd: number | undefined;
  try {
    fd = fs.openSync(place.path, "r");
    const { size } = fs.fstatSync(fd);
    const found = headIn(fd, size);
    // Before all is read: it may be of another state.
    if (found?.head.state !== place.state) return undefined;
    const { head, bytes: headBytes, sum } = found;
    const headLength = headBytes.length;
    const rest = new Uint8Array(newSharedMemory(size - FIXED - headLength));
    if (!isFilled(fd, rest, FIXED + headLength)) return undefined;
    const crc = crc32Of(rest, crc32Of(headBytes));
    if (crc !== sum) return undefined;
    const columns = head.columns.map(({ name, type, length, start }) => {
      const at = start - FIXED - headLength;
      return [name, columnOf(type, rest.buffer, at, length)] as const;
    });
    touch(place.path);
    return { facts: head.facts, columns: Object.fromEntries(columns) };
  } catch {
    return undefined; // there is none, or it can't be read: neither is anybody's fault
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** The head of a file of tables, and the sum of it and all behind it; `undefined` where it is none. */
function headIn(
  fd: number,
  size: number,
): { head: Head; bytes: Uint8Array; sum: number } | undefined {
  const start = new Uint8Array(FIXED);
  if (size < FIXED || !isFilled(fd, start, 0)) return undefined;
  const view = new DataView(start.buffer);
  const magic = utf8Text(start.subarray(0, MAGIC.length));
  const length = view.getUint32(FIXED - 8, true);
  if (magic !== MAGIC || length > Math.min(LONGEST_HEAD, size - FIXED)) {
    return undefined;
  }
  const bytes = new Uint8Array(length);
  if (!isFilled(fd, bytes, FIXED)) return undefined;
  const head: Head = JSON.parse(utf8Text(bytes));
  return { head, bytes, sum: view.getUint32(FIXED - 4, true) };
}

/**
 * Keeps tables of a source. Where that can't be done, they are made anew the next time.
 *
 * @returns Whether they are kept.
 */
export function keepTables(
  place: KeptPlace,
  { columns, facts }: KeptTables,
): boolean {
  const temporary = `${place.path}.${crypto.randomUUID()}.tmp`;
  try {
    fs.mkdirSync(place.directory, { recursive: true, mode: 0o700 });
    const parts = partsOf(place, columns, facts);
    const bytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (!hasRoom(place.directory, bytes)) return false;
    const fd = fs.openSync(temporary, "wx", 0o600);
    try {
      for (const part of parts) writeAll(fd, part);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, place.path);
    return true;
  } catch {
    try {
      fs.rmSync(temporary, { force: true });
    } catch {
      // It was never there.
    }
    return false;
  }
}

/** A file of tables that are kept. */
export interface KeptFile {
  readonly path: string;
  /** The path of what they are of, or its URL without secrets; of what is damaged, the file's own path. */
  readonly of: string;
  /** Bytes. */
  readonly size: number;
  /** When it was used last, in milliseconds since 1970. */
  readonly used: number;
}

/** What is kept in the cache at a path. */
export function listKeptTables(cache: string): KeptFile[] {
  return keptFiles(`${cache}/indexes`).map((file) => ({
    ...file,
    of: sourceOf(file.path) ?? file.path,
  }));
}

function sourceOf(path: string): string | undefined {
  try {
    const fd = fs.openSync(path, "r");
    try {
      const of: unknown = headIn(fd, fs.fstatSync(fd).size)?.head.of;
      return typeof of === "string" ? of : undefined;
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined; // it is being written, or damaged
  }
}

/** Deletes tables that are kept: who goes by them has them in memory. */
export function removeKeptTables(files: readonly KeptFile[]): void {
  for (const { path } of files) fs.rmSync(path, { force: true });
}

function partsOf(
  { state, of }: KeptPlace,
  columns: KeptTables["columns"],
  facts: unknown,
): Uint8Array[] {
  const named = Object.entries(columns);
  const lengths = named.map(([name, column]) => ({
    name,
    type: typeOf(column),
    length: column.length,
    start: Number.MAX_SAFE_INTEGER, // as wide as any
  }));
  const headOf = (columns: Head["columns"]) =>
    new TextEncoder().encode(JSON.stringify({ state, of, facts, columns }));
  const headLength = aligned(headOf(lengths).length);
  let start = FIXED + headLength;
  const placed = lengths.map((column, i) => {
    const at = start;
    start = aligned(start + named[i]![1].byteLength);
    return { ...column, start: at };
  });
  const head = new Uint8Array(headLength).fill(0x20); // JSON takes spaces
  head.set(headOf(placed));
  const parts: Uint8Array[] = [head];
  for (const [, column] of named) {
    const { buffer, byteOffset, byteLength } = column;
    parts.push(new Uint8Array(buffer, byteOffset, byteLength));
    parts.push(new Uint8Array(aligned(byteLength) - byteLength));
  }
  const fixed = new Uint8Array(FIXED);
  new TextEncoder().encodeInto(MAGIC, fixed);
  const view = new DataView(fixed.buffer);
  view.setUint32(FIXED - 8, headLength, true);
  const crc = parts.reduce((crc, part) => crc32Of(part, crc), 0);
  view.setUint32(FIXED - 4, crc, true);
  return [fixed, ...parts];
}

function columnOf(
  type: TypeName,
  buffer: SharedArrayBuffer,
  start: number,
  length: number,
): Column {
  if (type === "u8") return new Uint8Array(buffer, start, length);
  return type === "u32"
    ? new Uint32Array(buffer, start, length)
    : new Float64Array(buffer, start, length);
}

function typeOf(column: Column): TypeName {
  if (column instanceof Uint8Array) return "u8";
  return column instanceof Uint32Array ? "u32" : "f64";
}

function aligned(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Bytes that one call reads or writes. */
const PIECE = 1 << 30;

function isFilled(fd: number, into: Uint8Array, start: number): boolean {
  for (let done = 0; done < into.length;) {
    const want = Math.min(PIECE, into.length - done);
    const got = fs.readSync(fd, into, done, want, start + done);
    if (got === 0) return false;
    done += got;
  }
  return true;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(fd, bytes, done, Math.min(PIECE, bytes.length - done));
  }
}

function touch(path: string): void {
  const now = new Date();
  try {
    fs.utimesSync(path, now, now);
  } catch {
    // It may be on a disk that is not written to.
  }
}

/** Makes room by what was not used for longest; whether there is enough then. */
function hasRoom(directory: string, bytes: number): boolean {
  const files = keptFiles(directory).sort((a, b) => a.used - b.used);
  let total = files.reduce((sum, { size }) => sum + size, bytes);
  for (const { path, size } of files) {
    if (total <= MOST_BYTES) break;
    fs.rmSync(path, { force: true });
    total -= size;
  }
  return total <= MOST_BYTES;
}

/** All files of tables, with those that somebody was killed at. */
function keptFiles(
  directory: string,
): { path: string; size: number; used: number }[] {
  let names: string[];
  try {
    names = fs.readdirSync(directory);
  } catch {
    return [];
  }
  return names.filter((name) => /^[0-9a-f]{32}\.index/.test(name))
    .flatMap((name) => {
      const path = `${directory}/${name}`;
      const stat = fs.statSync(path, { throwIfNoEntry: false });
      return stat === undefined
        ? []
        : [{ path, size: stat.size, used: stat.mtimeMs }];
    });
}
