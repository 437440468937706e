import { concatBytes } from "../../base/bytes_of.ts";
import { utf8Text } from "../../base/utf8.ts";
import type { Steps } from "../concurrency/steps.ts";
import { newSharedMemory } from "../libc/new_memory.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { readPart } from "../read/read_part.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { INSIDE } from "../storage/chained_path.ts";
import { isMade, originOf } from "../storage/made_source.ts";
import { areMarks } from "./kept_index.ts";
import {
  type CachedTables,
  decodeTables,
  encodeTables,
  FIXED,
  fixedPart,
  LONGEST_HEAD,
  readFixedPart,
} from "./tables_format.ts";

/** Suffix of index files, after the whole name of the container: `x.tar` and `x.tar.gz` have different ones. */
export const INDEX_SUFFIX = ".recordfs-index";
/** First bytes of index files. */
export const INDEX_MAGIC = "recordfs index file 1\n";

/** Tables may be so many bytes larger than what they are an index of: of empty members, names are most of an index. */
const LARGER = 1 << 20;

/** An index in an index file. */
export interface Section {
  readonly kind: string;
  /** Name of the indexed file in that next to the index file; empty for that file itself, also decompressed. */
  readonly name: string;
  /** Size of the indexed file in bytes. */
  readonly size: number;
  /** Hashes of headers. */
  readonly marks: readonly number[];
  /** Where the tables are in the index file, compressed by zstd. */
  readonly start: number;
  readonly length: number;
  /** Decompressed bytes of the tables. */
  readonly bytes: number;
}

/** Head of an index file. */
export interface IndexFileHead {
  /** Name of the file that was indexed, for people. */
  readonly of: string;
  /** Its size in bytes, modification in milliseconds since 1970, and tag on a server. */
  readonly size: number;
  readonly mtime: number;
  readonly tag?: string | undefined;
  readonly sections: readonly Section[];
}

/** Returns the name of a file in the file that it comes from; empty for that itself, also decompressed. */
export function nameInOrigin(source: ByteSource): string {
  if (!isMade(source)) return "";
  const { name } = source;
  const origin = originOf(source).name;
  if (name.startsWith(origin)) return name.slice(origin.length);
  const inside = name.indexOf(INSIDE);
  return inside < 0 ? "" : name.slice(inside);
}

/** Returns the section of a source's index of a kind. */
export function sectionOf(
  { sections }: IndexFileHead,
  kind: string,
  source: ByteSource,
): Section | undefined {
  const name = nameInOrigin(source);
  return sections.find((section) =>
    section.kind === kind && section.name === name &&
    section.size === source.size
  );
}

/** Returns the tag of a file on a server. */
export function tagOf(origin: ByteSource): string | undefined {
  return origin instanceof RemoteSource ? origin.tag : undefined;
}

/** Encodes the indexes of a file, and of what is in it. */
export function encodeIndexFile(
  origin: ByteSource,
  indexes: readonly (Omit<Section, "bytes" | "length" | "start"> & {
    readonly tables: CachedTables;
  })[],
): Uint8Array[] {
  const encoded = indexes.flatMap(({ tables, ...section }) => {
    const parts = encodeTables({ state: "", of: section.name }, tables);
    if (parts === undefined) return [];
    const plain = concatBytes(parts);
    const packed = zlib().zstdCompressSync(plain);
    const sized = { ...section, bytes: plain.length, length: packed.length };
    return [{ section: sized, packed }];
  });
  const { name, size } = origin;
  const mtime = Number.isFinite(origin.mtime) ? origin.mtime : 0;
  const of = name.slice(name.lastIndexOf("/") + 1).replace(/\?.*/s, "");
  const tag = tagOf(origin);
  const headAt = (start: number) => {
    let next = start;
    const sections = encoded.map(({ section }) => {
      const at = next;
      next += section.length;
      return { ...section, start: at };
    });
    const head: IndexFileHead = { of, size, mtime, tag, sections };
    return new TextEncoder().encode(JSON.stringify(head));
  };
  const headLength = headAt(Number.MAX_SAFE_INTEGER / 2).length;
  const head = new Uint8Array(headLength).fill(0x20); // JSON allows trailing spaces
  head.set(headAt(FIXED + headLength));
  const fixed = fixedPart(INDEX_MAGIC, headLength, crc32Of(head));
  return [fixed, head, ...encoded.map(({ packed }) => packed)];
}

/** Returns the head of an index file; `undefined` if it is damaged, truncated, or none. */
export function* readIndexFile(
  file: ByteSource,
): Steps<IndexFileHead | undefined> {
  const { size } = file;
  const fixed = readFixedPart(
    yield* readPart(file, 0, Math.min(size, FIXED)),
    size,
    INDEX_MAGIC,
  );
  if (fixed === undefined || fixed.length > LONGEST_HEAD) return undefined;
  const bytes = yield* readPart(file, FIXED, fixed.length);
  if (crc32Of(bytes) !== fixed.sum) return undefined;
  try {
    const head: unknown = JSON.parse(utf8Text(bytes));
    return isHead(head, size) ? head : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the tables of a section; `undefined` if they are damaged, or larger than an index of that file can be. */
export function* readSection(
  file: ByteSource,
  { start, length, bytes, size }: Section,
): Steps<CachedTables | undefined> {
  if (Math.max(bytes, length) > size + LARGER) return undefined;
  const packed = yield* readPart(file, start, length);
  const tables = new Uint8Array(newSharedMemory(bytes));
  try {
    const plain = zlib().zstdDecompressSync(packed, { maxOutputLength: bytes });
    if (plain.length !== bytes) return undefined;
    tables.set(plain);
  } catch {
    return undefined;
  }
  const decoded = decodeTables(tables);
  return decoded && { ...decoded, isForeign: true };
}

function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib"); // not needed by all programs
}

function isHead(value: unknown, size: number): value is IndexFileHead {
  const head = value as Partial<IndexFileHead> | null;
  return typeof head?.of === "string" && isCount(head.size) &&
    typeof head.mtime === "number" &&
    (head.tag === undefined || typeof head.tag === "string") &&
    Array.isArray(head.sections) &&
    head.sections.every((section) => isSection(section, size));
}

function isSection(value: unknown, size: number): value is Section {
  const section = value as Partial<Section> | null;
  return typeof section?.kind === "string" &&
    typeof section.name === "string" && areMarks(section.marks) &&
    isCount(section.size) && isCount(section.start) &&
    isCount(section.length) && isCount(section.bytes) &&
    section.start + section.length <= size;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number >= 0;
}
