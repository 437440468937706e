import { newStat, type NodeId } from "../../src/tree/tree.ts";
import { Errno } from "../errno.ts";
import { LONGEST_NAME, MAX_TRANSFER } from "../limits.ts";
import { localAnswer } from "../local_answer.ts";
import { EntryType } from "../wire/flags.ts";
import { type Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import {
  clear,
  direntSize,
  ENTRY_OUT_SIZE,
  entryType,
  putDirent,
  putEntry,
} from "../wire/structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** Directory offsets are those of the tree, moved up by the two entries it does not list. */
const DOT_ENTRIES = 2;
const DOTS = new Uint8Array([0x2e, 0x2e]);

/** READDIR: lists names; READDIRPLUS (`plus`): names with what LOOKUP would say of each. */
export function readdirHandler(
  context: HandlerContext,
  plus: boolean,
): Handler {
  const { tree, owner, log } = context;
  const stat = newStat();
  let reply: Reply;
  let at = 0; // where the next entry goes
  let limit = 0; // where the space ends
  let full = false;

  return (request, into) => {
    const directory = request.node;
    const offset = request.u64(8); // fuse_read_in.offset
    const size = Math.min(request.u32(16), MAX_TRANSFER); // fuse_read_in.size
    if (!tree.isDirectory(directory)) {
      const exists = localAnswer(tree.stat(directory, stat));
      into.fail(exists ? Errno.ENOTDIR : Errno.ENOENT);
      return;
    }
    reply = into;
    at = REPLY_HEADER_SIZE;
    limit = at + size;
    full = false;
    listFrom(directory, offset);
    // An empty listing would mean the end of the directory; getdents(2) says the same of a small buffer.
    if (full && at === REPLY_HEADER_SIZE) into.fail(Errno.EINVAL);
    else into.body(at - REPLY_HEADER_SIZE);
  };

  function listFrom(directory: NodeId, offset: number): void {
    if (offset < 1 && !putDots(directory, 1)) return;
    if (offset < 2 && !putDots(tree.parent(directory), 2)) return;
    const cursor = Math.max(offset - DOT_ENTRIES, 0);
    localAnswer(tree.list(directory, cursor, visit));
  }

  /** Puts "." (1) or ".." (2), whose cookies are 1 and 2. */
  function putDots(node: NodeId, count: number): boolean {
    const name = reserve(count);
    if (name < 0) return false;
    if (plus) clear(reply.view, name, ENTRY_OUT_SIZE); // node 0: the kernel knows these
    put(DOTS, 0, count, name, node, count, EntryType.DIRECTORY);
    return true;
  }

  function visit(
    name: Uint8Array,
    start: number,
    end: number,
    node: NodeId,
    next: number,
  ): boolean {
    if (end - start > LONGEST_NAME) {
      log.log(
        `A name of ${
          end - start
        } bytes is not listed: the kernel takes ${LONGEST_NAME}`,
      );
      return true;
    }
    const entry = reserve(end - start);
    if (entry < 0) return false;
    const type = plus ? describe(node, entry) : typeOf(node);
    put(name, start, end, entry, node, next + DOT_ENTRIES, type);
    return true;
  }

  /** Makes room for an entry with a name of that length; -1 where there is none. */
  function reserve(nameLength: number): number {
    const size = (plus ? ENTRY_OUT_SIZE : 0) + direntSize(nameLength);
    if (at + size > limit) {
      full = true;
      return -1;
    }
    const start = at;
    at += size;
    return start;
  }

  /** Writes the fuse_entry_out; a node that can't be described is listed all the same. */
  function describe(node: NodeId, entry: number): number {
    try {
      if (localAnswer(tree.stat(node, stat))) {
        putEntry(reply.view, entry, node, stat, owner);
        return entryType(stat.isDirectory);
      }
    } catch (error) {
      log.log(error instanceof Error ? error.message : String(error));
    }
    clear(reply.view, entry, ENTRY_OUT_SIZE); // node 0: the kernel will look it up when it needs it
    return typeOf(node);
  }

  function typeOf(node: NodeId): number {
    try {
      return entryType(tree.isDirectory(node));
    } catch {
      return EntryType.UNKNOWN;
    }
  }

  function put(
    name: Uint8Array,
    start: number,
    end: number,
    entry: number,
    node: NodeId,
    next: number,
    type: number,
  ): void {
    const dirent = entry + (plus ? ENTRY_OUT_SIZE : 0);
    let to = putDirent(reply.view, dirent, node, next, end - start, type);
    // Names are too short for a copy by TypedArray.set, which needs a view of each, to pay.
    for (let from = start; from < end; from++) {
      reply.bytes[to++] = name[from] as number;
    }
  }
}
