/** Zips made by hand, with whatever is wrong in them. */
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";

/** A member, and what its headers say otherwise than they should. */
export interface MadeMember {
  readonly name: string | Uint8Array;
  readonly data?: string | Uint8Array;
  /** 0 unless given; 8 is deflated here. */
  readonly method?: number;
  readonly flags?: number;
  /** Fields of the header before the content. */
  readonly local?: Partial<MadeHeader>;
  /** Fields of the header in the central directory. */
  readonly central?: Partial<MadeHeader>;
  /** Mode of Unix. */
  readonly mode?: number;
  /** Attributes of DOS. */
  readonly attributes?: number;
  /** The system that it was made on; 3, Unix, unless given. */
  readonly system?: number;
  /** Extra fields, of both headers. */
  readonly extra?: Uint8Array;
}

/** What a header says. */
export interface MadeHeader {
  readonly name: string | Uint8Array;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly extra: Uint8Array;
}

/** An extra field. */
export function extraField(kind: number, data: Uint8Array): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(kind);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

/** What the record of the end says otherwise than it should. */
export interface MadeEnd {
  readonly count?: number;
  readonly length?: number;
  readonly offset?: number;
  readonly comment?: Uint8Array;
  readonly disk?: number;
  /** What stands before the central directory, behind the contents. */
  readonly between?: Uint8Array;
}

/** Makes a header: of the directory where there is a mode, and otherwise of a content. */
export function header(
  signature: number,
  fields: MadeHeader,
  member?: MadeMember,
): Buffer {
  const name = Buffer.from(fields.name as string);
  const extra = Buffer.from(fields.extra);
  const isCentral = member !== undefined;
  const bytes = Buffer.alloc(isCentral ? 46 : 30);
  const at = isCentral ? 6 : 4;
  bytes.writeUInt32LE(signature);
  if (isCentral) bytes.writeUInt16LE((member.system ?? 3) << 8 | 30, 4);
  bytes.writeUInt16LE(20, at);
  bytes.writeUInt16LE(fields.flags, at + 2);
  bytes.writeUInt16LE(fields.method, at + 4);
  bytes.writeUInt32LE(0x5a21_0000, at + 6);
  bytes.writeUInt32LE(fields.crc, at + 10);
  bytes.writeUInt32LE(fields.packed, at + 14);
  bytes.writeUInt32LE(fields.size, at + 18);
  bytes.writeUInt16LE(name.length, at + 22);
  bytes.writeUInt16LE(extra.length, at + 24);
  if (isCentral) {
    bytes.writeUInt16LE(member.attributes ?? 0, 38);
    bytes.writeUInt16LE(member.mode ?? 0o100644, 40);
    bytes.writeUInt32LE(fields.offset, 42);
  }
  return Buffer.concat([bytes, name, extra]);
}

/** Makes a zip. */
export function makeZip(
  members: readonly MadeMember[],
  end: MadeEnd = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const { name, data = "", method = 0, flags = 0 } = member;
    const bytes = Buffer.from(data as string);
    const packed = method === 8
      ? zlib.deflateRawSync(bytes)
      : method === 93
      ? zlib.zstdCompressSync(bytes)
      : bytes;
    const fields: MadeHeader = {
      name,
      flags,
      method,
      crc: zlib.crc32(bytes),
      packed: packed.length,
      size: bytes.length,
      offset,
      extra: member.extra ?? new Uint8Array(0),
    };
    const local = header(0x04034b50, { ...fields, ...member.local });
    directory.push(
      header(0x02014b50, { ...fields, ...member.central }, member),
    );
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const between = Buffer.from(end.between ?? []);
  const central = Buffer.concat(directory);
  const comment = Buffer.from(end.comment ?? []);
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50);
  record.writeUInt16LE(end.disk ?? 0, 4);
  record.writeUInt16LE(end.count ?? members.length, 8);
  record.writeUInt16LE(end.count ?? members.length, 10);
  record.writeUInt32LE(end.length ?? central.length, 12);
  record.writeUInt32LE(end.offset ?? offset + between.length, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, between, central, record, comment]);
}
