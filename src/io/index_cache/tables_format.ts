import { utf8Text } from "../../base/utf8.ts";
import { crc32Of } from "../read/crc32_of.ts";

/** A column of numbers, over memory that threads share. */
export type Column = Uint8Array | Uint32Array | Float64Array;

export interface CachedTables {
  readonly columns: Readonly<Record<string, Column>>;
  /** JSON data. */
  readonly facts: unknown;
  /** Whether they were read from an index file, which anybody may have made. Defaults to `false`. */
  readonly isForeign?: boolean;
}

/** What encoded tables say of themselves. */
export interface TablesHead {
  /** State of the source that they were made from. */
  readonly state: string;
  /** Source's name, for people. */
  readonly of: string;
  readonly facts: unknown;
  readonly isForeign?: boolean;
  readonly columns: readonly {
    readonly name: string;
    readonly type: TypeName;
    readonly length: number;
    /** From the start of the tables; a multiple of 8. */
    readonly start: number;
  }[];
}

type TypeName = "f64" | "u32" | "u8";

const MAGIC = "recordfs index 1\n";
/** Size of the fixed part, which ends with the length of the head and the CRC-32 of all bytes after the fixed part. */
export const FIXED = 32;

/** Longest head, which holds names and lengths. */
export const LONGEST_HEAD = 1 << 20;

/** Returns the fixed part of a file: magic, length of a head, and a CRC-32. */
export function fixedPart(
  magic: string,
  length: number,
  crc: number,
): Uint8Array {
  const fixed = new Uint8Array(FIXED);
  new TextEncoder().encodeInto(magic, fixed);
  const view = new DataView(fixed.buffer);
  view.setUint32(FIXED - 8, length, true);
  view.setUint32(FIXED - 4, crc, true);
  return fixed;
}

/**
 * Returns the length of the head after a fixed part, and the CRC-32; `undefined` if it is another magic, or the head does
 * not fit a file of `size` bytes.
 */
export function readFixedPart(
  bytes: Uint8Array,
  size: number,
  magic = MAGIC,
): { readonly length: number; readonly sum: number } | undefined {
  if (bytes.length < FIXED) return undefined;
  const { buffer, byteOffset } = bytes;
  const view = new DataView(buffer, byteOffset, FIXED);
  const length = view.getUint32(FIXED - 8, true);
  const most = Math.min(LONGEST_HEAD, size - FIXED);
  if (!startsWith(bytes, magic) || length > most) return undefined;
  return { length, sum: view.getUint32(FIXED - 4, true) };
}

function startsWith(bytes: Uint8Array, magic: string): boolean {
  const start = new TextEncoder().encode(magic);
  return start.every((byte, i) => bytes[i] === byte);
}

/** Encodes tables: parts whose lengths are multiples of 8. `undefined` if their head would be too long to be read. */
export function encodeTables(
  { state, of }: Pick<TablesHead, "of" | "state">,
  { columns, facts, isForeign }: CachedTables,
): Uint8Array[] | undefined {
  const named = Object.entries(columns);
  const lengths = named.map(([name, column]) => ({
    name,
    type: typeOf(column),
    length: column.length,
    start: Number.MAX_SAFE_INTEGER, // the widest number possible
  }));
  const headOf = (columns: TablesHead["columns"]) =>
    new TextEncoder().encode(
      JSON.stringify({ state, of, facts, isForeign, columns }),
    );
  const headLength = aligned(headOf(lengths).length);
  if (headLength > LONGEST_HEAD) return undefined;
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
  const crc = parts.reduce((crc, part) => crc32Of(part, crc), 0);
  return [fixedPart(MAGIC, headLength, crc), ...parts];
}

/** Returns the head in the bytes after the fixed part. Throws if it is damaged. */
export function headIn(bytes: Uint8Array): TablesHead {
  return JSON.parse(utf8Text(bytes));
}

/**
 * Returns tables over the bytes that follow the head, which is `headLength` bytes long. Throws if a column does not lie
 * in them.
 */
export function tablesIn(
  { facts, columns, isForeign = false }: TablesHead,
  headLength: number,
  rest: Uint8Array<SharedArrayBuffer>,
): CachedTables {
  const entries = columns.map(({ name, type, length, start }) => {
    const at = rest.byteOffset + start - FIXED - headLength;
    return [name, columnOf(type, rest.buffer, at, length)] as const;
  });
  return { facts, columns: Object.fromEntries(entries), isForeign };
}

/** Decodes encoded tables; `undefined` if they are damaged. */
export function decodeTables(
  bytes: Uint8Array<SharedArrayBuffer>,
): CachedTables | undefined {
  const fixed = readFixedPart(bytes, bytes.length);
  if (fixed === undefined) return undefined;
  const { length, sum } = fixed;
  if (crc32Of(bytes.subarray(FIXED)) !== sum) return undefined;
  try {
    const head = headIn(bytes.slice(FIXED, FIXED + length));
    return tablesIn(head, length, bytes.subarray(FIXED + length));
  } catch {
    return undefined; // no such head, or columns elsewhere
  }
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
