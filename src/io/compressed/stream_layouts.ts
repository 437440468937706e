import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../concurrency/steps.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import type { Compression } from "./compressions.ts";
import { type Checkpoint, STREAM_START } from "./member_reader.ts";
import { PartColumns, type StreamIndex } from "./part_columns.ts";

/** Decoded size from which on a part holds no further frame or block. */
const ENOUGH = 1 << 20;
/** Largest table in bytes that is read. */
const LARGEST_TABLE = 1 << 28;

/** From zstd's contrib/seekable_format/zstd_seekable_compression_format.md. */
const SEEKABLE = 0x8f92eab1;
const SKIPPABLE = 0x184d2a5e;
const SEEK_FOOTER = 9;
const SKIPPABLE_HEADER = 8;
const HAS_CHECKSUMS = 0x80;
const RESERVED = 0x7c;

/** From the .xz file format, 2.1. */
const XZ_HEADER = 12;
const XZ_FOOTER = 12;
const XZ_FOOTER_MAGIC = 0x5a59;
const XZ_FOUR = 4;
/** Longest number in bytes (1.2). */
const LONGEST_NUMBER = 9;

/**
 * Reads where the parts of a stream begin from the table that it may have at its end: zstd's seekable format, or the
 * index of xz. Each part is compared with that when it is decoded.
 *
 * @returns `undefined` if there is no such table, or it does not fit the file.
 */
export function layoutOf(
  source: ByteSource,
  compression: Compression,
): Steps<StreamIndex | undefined> {
  if (compression.name === "zstd") return seekableLayout(source);
  return compression.name === "xz" ? xzLayout(source) : nothing();
}

function* seekableLayout(source: ByteSource): Steps<StreamIndex | undefined> {
  const { size } = source;
  if (size < SEEK_FOOTER + SKIPPABLE_HEADER) return undefined;
  const foot = viewOf(yield* readPart(source, size - SEEK_FOOTER, SEEK_FOOTER));
  const descriptor = foot.getUint8(4);
  if (foot.getUint32(5, true) !== SEEKABLE || (descriptor & RESERVED) !== 0) {
    return undefined;
  }
  const count = foot.getUint32(0, true);
  const entry = (descriptor & HAS_CHECKSUMS) === 0 ? 8 : 12;
  const table = SKIPPABLE_HEADER + count * entry + SEEK_FOOTER;
  if (table > Math.min(size, LARGEST_TABLE)) return undefined;
  const view = viewOf(yield* readPart(source, size - table, table));
  const isTable = view.getUint32(0, true) === SKIPPABLE &&
    view.getUint32(4, true) === table - SKIPPABLE_HEADER;
  if (!isTable) return undefined;
  const columns = new PartColumns();
  let packed = 0;
  for (let i = 0; i < count; i++) {
    const at = SKIPPABLE_HEADER + i * entry;
    packed += view.getUint32(at, true);
    columns.size += view.getUint32(at + 4, true);
    if (columns.length >= ENOUGH) columns.end({ ...STREAM_START, packed });
  }
  return packed === size - table ? columns.finish(packed, 0, true) : undefined;
}

/** A block of xz: its first byte, its encoded size with padding, and its decoded size. */
interface XzBlock {
  readonly packed: number;
  readonly size: number;
}

interface XzStream {
  readonly start: number;
  readonly header: Uint8Array;
  readonly blocks: readonly XzBlock[];
}

function* xzLayout(source: ByteSource): Steps<StreamIndex | undefined> {
  const streams: XzStream[] = [];
  let end = source.size;
  let tables = 0;
  while (end > 0) {
    const before = yield* withoutPadding(source, end);
    const stream = yield* xzStreamBefore(source, before);
    if (stream === undefined) return undefined;
    tables += stream.blocks.length;
    if (tables > LARGEST_TABLE / 16) return undefined;
    streams.unshift(stream);
    end = stream.start;
  }
  const columns = new PartColumns();
  for (const { start, header, blocks } of streams) {
    let packed = start + XZ_HEADER;
    const from = (): Checkpoint => ({ packed, spareBits: 0, window: header });
    columns.end(from());
    for (const block of blocks) {
      packed += block.packed;
      columns.size += block.size;
      if (!Number.isSafeInteger(columns.size)) return undefined;
      if (columns.length >= ENOUGH) columns.end(from());
    }
    columns.end(from());
  }
  return columns.finish(columns.from.packed, 0, true);
}

/** Streams are separated by zeros, in fours (2.2). */
function* withoutPadding(source: ByteSource, end: number): Steps<number> {
  let at = end;
  while (at >= XZ_FOUR) {
    const word = viewOf(yield* readPart(source, at - XZ_FOUR, XZ_FOUR));
    if (word.getUint32(0) !== 0) break;
    at -= XZ_FOUR;
  }
  return at;
}

function* xzStreamBefore(
  source: ByteSource,
  end: number,
): Steps<XzStream | undefined> {
  if (end < XZ_HEADER + XZ_FOOTER) return undefined;
  const foot = yield* readPart(source, end - XZ_FOOTER, XZ_FOOTER);
  const view = viewOf(foot);
  const isFooter = view.getUint16(10) === XZ_FOOTER_MAGIC &&
    view.getUint32(0, true) === crc32Of(foot.subarray(4, 10));
  if (!isFooter) return undefined;
  const length = (view.getUint32(4, true) + 1) * XZ_FOUR;
  if (length > Math.min(end - XZ_HEADER - XZ_FOOTER, LARGEST_TABLE)) {
    return undefined;
  }
  const indexStart = end - XZ_FOOTER - length;
  const index = yield* readPart(source, indexStart, length);
  const sum = viewOf(index).getUint32(length - XZ_FOUR, true);
  if (crc32Of(index.subarray(0, -XZ_FOUR)) !== sum) return undefined;
  const blocks = xzBlocks(index.subarray(0, -XZ_FOUR));
  const packed = blocks?.reduce((sum, { packed }) => sum + packed, 0) ?? NaN;
  const start = indexStart - packed - XZ_HEADER;
  if (!(start >= 0)) return undefined;
  const header = yield* readPart(source, start, XZ_HEADER);
  return { start, header, blocks: blocks! };
}

/** Parses the records of an index (4). */
function xzBlocks(index: Uint8Array): XzBlock[] | undefined {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let i = 0; i < LONGEST_NUMBER; i++) {
      const byte = index[at++] ?? NaN;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  if (index[at++] !== 0) return undefined;
  const count = number();
  if (!(count <= index.length)) return undefined;
  const blocks: XzBlock[] = [];
  for (let i = 0; i < count; i++) {
    const packed = Math.ceil(number() / XZ_FOUR) * XZ_FOUR;
    const size = number();
    if (!Number.isSafeInteger(packed) || !Number.isSafeInteger(size)) {
      return undefined;
    }
    blocks.push({ packed, size });
  }
  return at <= index.length ? blocks : undefined;
}

function* nothing(): Steps<undefined> {}
