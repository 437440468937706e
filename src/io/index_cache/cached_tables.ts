import { warnOnConsole } from "../../base/message_text.ts";
import type { EntryFile } from "../dirfd/entries.ts";
import { NotTrustedError } from "../dirfd/trust.ts";
import type { TrustedDirectory } from "../dirfd/trusted_directory.ts";
import { newSharedMemory } from "../libc/new_memory.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { CacheRoot } from "../remote/cache/cache_root.ts";
import { evictFiles, filesIn, touchFile } from "./cached_files.ts";
import type { CacheLocation } from "./cache_location.ts";
import { utf8Text } from "../../base/utf8.ts";

/** A column of numbers, over memory that threads share. */
export type Column = Uint8Array | Uint32Array | Float64Array;

export interface CachedTables {
  readonly columns: Readonly<Record<string, Column>>;
  /** JSON data. */
  readonly facts: unknown;
}

/** Directory of table files in the cache. */
const INDEXES = "indexes";
/** Names of table files, including those left by killed programs. */
const NAME = /^[0-9a-f]{32}\.index/;

const MAGIC = "recordfs index 1\n";
/** Size of the fixed part, which ends with the length of the head and the CRC-32 of all bytes after the fixed part. */
const FIXED = 32;

/** Most bytes of all table files. Evicts the least recently used. */
const MOST_BYTES = 4 * 2 ** 30;
/** Longest head, which holds names and lengths. */
const LONGEST_HEAD = 1 << 20;

type TypeName = "f64" | "u32" | "u8";

interface Head {
  readonly state: string;
  /** Source's name, for people. */
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
 * Reads cached tables of a source, into memory that threads share; `undefined` if there are none of this state of the
 * source, or they are damaged.
 */
export function readCachedTables(
  place: CacheLocation,
): CachedTables | undefined {
  try {
    using directory = place.root.open([INDEXES]);
    using file = directory?.openFile(place.name, "read");
    if (file === undefined) return undefined;
    const { size } = file.facts();
    if (size > MOST_BYTES) return undefined;
    const found = headIn(file, size);
    // Checked before reading everything: it may be of another state.
    if (found?.head.state !== place.state) return undefined;
    const { head, bytes: headBytes, sum } = found;
    const headLength = headBytes.length;
    const rest = new Uint8Array(newSharedMemory(size - FIXED - headLength));
    if (!isFilled(file, rest, FIXED + headLength)) return undefined;
    const crc = crc32Of(rest, crc32Of(headBytes));
    if (crc !== sum) return undefined;
    const columns = head.columns.map(({ name, type, length, start }) => {
      const at = start - FIXED - headLength;
      return [name, columnOf(type, rest.buffer, at, length)] as const;
    });
    touchFile(directory!, place.name);
    return { facts: head.facts, columns: Object.fromEntries(columns) };
  } catch (error) {
    // Missing or unreadable, which is not an error.
    if (error instanceof NotTrustedError) place.root.warn(error);
    return undefined;
  }
}

/** Reads a file's head, and the checksum of it and everything after; `undefined` if it is not a table file. */
function headIn(
  file: EntryFile,
  size: number,
): { head: Head; bytes: Uint8Array; sum: number } | undefined {
  const start = new Uint8Array(FIXED);
  if (size < FIXED || !isFilled(file, start, 0)) return undefined;
  const view = new DataView(start.buffer);
  const magic = utf8Text(start.subarray(0, MAGIC.length));
  const length = view.getUint32(FIXED - 8, true);
  if (magic !== MAGIC || length > Math.min(LONGEST_HEAD, size - FIXED)) {
    return undefined;
  }
  const bytes = new Uint8Array(length);
  if (!isFilled(file, bytes, FIXED)) return undefined;
  const head: Head = JSON.parse(utf8Text(bytes));
  return { head, bytes, sum: view.getUint32(FIXED - 4, true) };
}

/** Caches tables of a source. If that fails, returns `false`, and they are made again next time. */
export function cacheTables(
  place: CacheLocation,
  { columns, facts }: CachedTables,
): boolean {
  try {
    using directory = place.root.make([INDEXES]);
    const parts = partsOf(place, columns, facts);
    if (parts[1]!.length > LONGEST_HEAD) return false; // it would not be read
    const bytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // Evicts before writing, if that can free enough.
    const left = MOST_BYTES - bytes;
    const kept = evictFiles(directory, filesIn(directory, NAME), left);
    if (kept > left) return false;
    const temporary = `${place.name}.${crypto.randomUUID()}.tmp`;
    directory.replaceFile(place.name, temporary, parts);
    return true;
  } catch (error) {
    if (error instanceof NotTrustedError) place.root.warn(error);
    return false;
  }
}

export interface CachedFile {
  readonly root: CacheRoot;
  readonly name: string;
  /** Path of the source, or its URL without secrets; for a damaged file, the file's own path. */
  readonly of: string;
  readonly size: number;
  /** Last use, in milliseconds since 1970. */
  readonly used: number;
}

/** Lists the tables in a cache, given as an object or a path. */
export function listKeptTables(cache: string | CacheRoot): CachedFile[] {
  const root = typeof cache === "string"
    ? new CacheRoot({ directory: cache }, warnOnConsole)
    : cache;
  if (root.missing !== undefined) return [];
  using directory = root.open([INDEXES]);
  if (directory === undefined) return [];
  return filesIn(directory, NAME).map((file) => ({
    ...file,
    root,
    of: sourceOf(directory, file.name) ?? `${directory.path}/${file.name}`,
  }));
}

function sourceOf(
  directory: TrustedDirectory,
  name: string,
): string | undefined {
  try {
    using file = directory.openFile(name, "read");
    const of: unknown = file && headIn(file, file.facts().size)?.head.of;
    return typeof of === "string" ? of : undefined;
  } catch {
    return undefined; // being written, or damaged
  }
}

/** Deletes cached tables. Programs that use them have them in memory. */
export function removeKeptTables(files: readonly CachedFile[]): void {
  for (const { root, name } of files) {
    using directory = root.open([INDEXES]);
    directory?.remove(name);
  }
}

function partsOf(
  { state, of }: CacheLocation,
  columns: CachedTables["columns"],
  facts: unknown,
): Uint8Array[] {
  const named = Object.entries(columns);
  const lengths = named.map(([name, column]) => ({
    name,
    type: typeOf(column),
    length: column.length,
    start: Number.MAX_SAFE_INTEGER, // the widest number possible
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
  const head = new Uint8Array(headLength).fill(0x20); // JSON allows trailing spaces
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

function isFilled(file: EntryFile, into: Uint8Array, start: number): boolean {
  return file.read(into, start) === into.length;
}
