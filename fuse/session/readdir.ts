import { newStat, type NodeId } from "../../src/tree/tree.ts";
import { Errno } from "../wire/errno.ts";
import { LONGEST_NAME } from "../limits.ts";
import { direntSize, entryType, putDirent } from "../wire/dirent.ts";
import { EntryType } from "../wire/flags.ts";
import {
  clearEntry,
  ENTRY_OUT_SIZE,
  NodeStructs,
} from "../wire/node_structs.ts";
import { type Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** Directory offsets are those of the tree plus two, for "." and "..", which the tree does not list. */
const DOT_ENTRIES = 2;
const DOTS = new Uint8Array([0x2e, 0x2e]);

/** Handles READDIR, which lists names, and READDIRPLUS (`plus`), which adds the LOOKUP result of each. */
export function readdirHandler(
  context: HandlerContext,
  plus: boolean,
): Handler {
  const { tree, owner, log, checks } = context;
  const stat = newStat();
  const structs = new NodeStructs(owner);
  /** Bytes before each `struct fuse_dirent`. */
  const before = plus ? ENTRY_OUT_SIZE : 0;
  let reply: Reply;
  let at = 0; // offset of the next entry
  let limit = 0; // end of the available space
  let full = false;
  let resume = 0; // cookie of the last entry

  return (request, into) => {
    const directory = request.node;
    const offset = request.listOffset;
    const size = Math.min(request.listSize, into.capacity);
    if (!tree.isDirectory(directory)) {
      const exists = tree.stat(directory, stat);
      into.fail(exists ? Errno.ENOTDIR : Errno.ENOENT);
      return;
    }
    reply = into;
    at = REPLY_HEADER_SIZE;
    limit = at + size;
    full = false;
    listFrom(directory, offset);
    // An empty page would mean the end of the directory. getdents(2) also returns EINVAL for a small buffer.
    if (full && at === REPLY_HEADER_SIZE) {
      into.fail(Errno.EINVAL);
      return;
    }
    into.body(at - REPLY_HEADER_SIZE);
    if (full) into.resume = resume;
  };

  function listFrom(directory: NodeId, offset: number): void {
    if (offset < 1 && !putDots(directory, 1)) return;
    if (offset < 2 && !putDots(tree.parent(directory), 2)) return;
    const cursor = Math.max(offset - DOT_ENTRIES, 0);
    tree.list(directory, cursor, visit);
  }

  /** Writes "." (1) or ".." (2), whose cookies are 1 and 2. */
  function putDots(node: NodeId, count: number): boolean {
    const entry = reserve(count);
    if (entry < 0) return false;
    const { words } = reply;
    if (plus) clearEntry(words, entry); // node 0: the kernel ignores it
    const type = EntryType.DIRECTORY;
    putDirent(words, entry + before, node, count, type, DOTS, 0, count);
    resume = count;
    return true;
  }

  function visit(
    name: Uint8Array,
    start: number,
    end: number,
    node: NodeId,
    next: number,
  ): boolean {
    const length = end - start;
    if (length > LONGEST_NAME) {
      log.log(
        `A name of ${length} bytes is not listed: the kernel allows ${LONGEST_NAME}`,
      );
      return true;
    }
    const entry = reserve(length);
    if (entry < 0) return false;
    const type = plus ? describe(node, entry) : typeOf(node);
    resume = next + DOT_ENTRIES;
    const dirent = entry + before;
    putDirent(reply.words, dirent, node, resume, type, name, start, end);
    return true;
  }

  /** Reserves space for an entry with a name of that length; returns -1 if there is none. */
  function reserve(nameLength: number): number {
    const size = before + direntSize(nameLength);
    if (at + size > limit) {
      full = true;
      return -1;
    }
    const start = at;
    at += size;
    return start;
  }

  /** Writes the fuse_entry_out. A node that cannot be described is still listed. */
  function describe(node: NodeId, entry: number): number {
    try {
      if (tree.stat(node, stat)) {
        checks?.checkEmpty(node, stat);
        structs.putEntry(reply.words, entry, node, stat);
        return entryType(stat.isDirectory, stat.isLink);
      }
    } catch (error) {
      log.error(error);
    }
    clearEntry(reply.words, entry); // node 0: the kernel looks it up when needed
    return typeOf(node);
  }

  function typeOf(node: NodeId): number {
    try {
      return entryType(tree.isDirectory(node), tree.isLink?.(node) === true);
    } catch {
      return EntryType.UNKNOWN;
    }
  }
}
