import { warnOnConsole } from "../../base/message_text.ts";
import type { EntryFile } from "../dirfd/entries.ts";
import { NotTrustedError } from "../dirfd/trust.ts";
import type { TrustedDirectory } from "../dirfd/trusted_directory.ts";
import { newSharedMemory } from "../libc/new_memory.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { CacheRoot } from "../remote/cache/cache_root.ts";
import { evictFiles, filesIn, touchFile } from "./cached_files.ts";
import type { CacheLocation } from "./cache_location.ts";
import {
  type CachedTables,
  encodeTables,
  FIXED,
  headIn,
  readFixedPart,
  type TablesHead,
  tablesIn,
} from "./tables_format.ts";

/** Directory of table files in the cache. */
const INDEXES = "indexes";
/** Names of table files, including those left by killed programs. */
const NAME = /^[0-9a-f]{32}\.index/;

/** Most bytes of all table files. Evicts the least recently used. */
const MOST_BYTES = 4 * 2 ** 30;

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
    const found = headOf(file, size);
    // Checked before reading everything: it may be of another state.
    if (found?.head.state !== place.state) return undefined;
    const { head, bytes: headBytes, sum } = found;
    const headLength = headBytes.length;
    const rest = new Uint8Array(newSharedMemory(size - FIXED - headLength));
    if (!isFilled(file, rest, FIXED + headLength)) return undefined;
    const crc = crc32Of(rest, crc32Of(headBytes));
    if (crc !== sum) return undefined;
    const tables = tablesIn(head, headLength, rest);
    touchFile(directory!, place.name);
    return tables;
  } catch (error) {
    // Missing or unreadable, which is not an error.
    if (error instanceof NotTrustedError) place.root.warn(error);
    return undefined;
  }
}

/** Reads a file's head, and the checksum of it and everything after; `undefined` if it is not a table file. */
function headOf(
  file: EntryFile,
  size: number,
): { head: TablesHead; bytes: Uint8Array; sum: number } | undefined {
  const start = new Uint8Array(FIXED);
  if (size < FIXED || !isFilled(file, start, 0)) return undefined;
  const fixed = readFixedPart(start, size);
  if (fixed === undefined) return undefined;
  const bytes = new Uint8Array(fixed.length);
  if (!isFilled(file, bytes, FIXED)) return undefined;
  return { head: headIn(bytes), bytes, sum: fixed.sum };
}

/** Caches tables of a source. If that fails, returns `false`, and they are made again next time. */
export function cacheTables(
  place: CacheLocation,
  tables: CachedTables,
): boolean {
  try {
    using directory = place.root.make([INDEXES]);
    const parts = encodeTables(place, tables);
    if (parts === undefined) return false;
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
    const of: unknown = file && headOf(file, file.facts().size)?.head.of;
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

function isFilled(file: EntryFile, into: Uint8Array, start: number): boolean {
  return file.read(into, start) === into.length;
}
