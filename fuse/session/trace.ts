import { errnoName } from "../wire/errno.ts";
import { Opcode, OPCODES } from "../wire/opcodes.ts";
import { type Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";
import { direntSize } from "../wire/dirent.ts";
import { ENTRY_OUT_SIZE } from "../wire/node_structs.ts";

const BODY = REPLY_HEADER_SIZE;

/** Formats a request and its reply as one line, like `LOOKUP parent=1 "a.txt" -> 0 node=7 size=120`. */
export function traceLine(request: Request, reply: Reply): string {
  const call = renderRequest(request);
  if (reply.length === 0) return call;
  const { errno } = reply;
  if (errno !== 0) return `${call} -> ${errnoName(errno)}`;
  return [call, "->", "0", ...renderReply(request, reply)].join(" ");
}

function renderRequest(request: Request): string {
  const { opcode } = request;
  const name = OPCODES[opcode]?.name ?? `opcode ${opcode}`;
  try {
    return [name, ...renderArguments(request)].join(" ");
  } catch {
    return `${name} (malformed)`; // it gets EINVAL, but is all the more worth a line
  }
}

function renderArguments(request: Request): string[] {
  switch (request.opcode) {
    case Opcode.INIT:
      return [
        `version=${request.u32(0)}.${request.u32(4)}`,
        ...(request.bodySize >= 16
          ? [`readahead=${request.u32(8)}`, `flags=${hex(request.u32(12))}`]
          : []),
      ];
    case Opcode.DESTROY:
      return [];
    case Opcode.LOOKUP:
      request.readName(0);
      return [`parent=${request.node}`, quotedName(request)];
    case Opcode.FORGET:
      return [`node=${request.node}`, `lookups=${request.u64(0)}`];
    case Opcode.BATCH_FORGET:
      return [`count=${request.u32(0)}`];
    case Opcode.INTERRUPT:
      return [`unique=${request.u64(0)}`];
    case Opcode.OPEN:
    case Opcode.OPENDIR:
      return [`node=${request.node}`, `flags=${hex(request.u32(0))}`];
    case Opcode.READ:
    case Opcode.READDIR:
    case Opcode.READDIRPLUS:
      return [
        `node=${request.node}`,
        `offset=${request.u64(8)}`,
        `size=${request.u32(16)}`,
      ];
    default:
      return [`node=${request.node}`];
  }
}

function renderReply(request: Request, reply: Reply): string[] {
  const { view } = reply;
  switch (request.opcode) {
    case Opcode.INIT:
      return [
        `version=${view.getUint32(BODY, true)}.${
          view.getUint32(BODY + 4, true)
        }`,
        `flags=${hex(view.getUint32(BODY + 12, true))}`,
      ];
    case Opcode.LOOKUP: {
      const node = u64(reply, BODY);
      // Offset of attr.size in fuse_entry_out.
      return node === 0
        ? ["none"]
        : [`node=${node}`, `size=${u64(reply, BODY + 48)}`];
    }
    case Opcode.GETATTR: // offsets of attr.size and attr.mode in fuse_attr_out
      return [
        `mode=0${view.getUint32(BODY + 76, true).toString(8)}`,
        `size=${u64(reply, BODY + 24)}`,
      ];
    case Opcode.READ:
    case Opcode.READLINK:
      return [`bytes=${reply.length - BODY + reply.payloadLength}`];
    case Opcode.READDIR:
      return [`entries=${countEntries(reply, 0)}`];
    case Opcode.READDIRPLUS:
      return [`entries=${countEntries(reply, ENTRY_OUT_SIZE)}`];
    default:
      return [];
  }
}

function countEntries(reply: Reply, before: number): number {
  let count = 0;
  for (let at = BODY; at < reply.length; count++) {
    const nameLength = reply.view.getUint32(at + before + 16, true); // fuse_dirent.namelen
    at += before + direntSize(nameLength);
  }
  return count;
}

function u64({ view }: Reply, at: number): number {
  return view.getUint32(at, true) +
    view.getUint32(at + 4, true) * 0x1_0000_0000;
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Formats the name as a JSON string; if it is not UTF-8, with `\xNN` escapes. */
function quotedName({ bytes, nameStart, nameEnd }: Request): string {
  const name = bytes.subarray(nameStart, nameEnd);
  try {
    return JSON.stringify(new TextDecoder("utf-8", strict).decode(name));
  } catch {
    const escaped = Array.from(
      name,
      (byte) =>
        byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
          ? String.fromCharCode(byte)
          : `\\x${byte.toString(16).padStart(2, "0")}`,
    );
    return `"${escaped.join("")}"`;
  }
}

const strict: TextDecoderOptions = { fatal: true, ignoreBOM: true };
