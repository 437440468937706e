import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { FractalHeap } from "./heaps.ts";
import { Cursor, type Metadata, NOWHERE } from "./metadata.ts";
import {
  type Message,
  MessageType,
  type ObjectReader,
} from "./object_header.ts";
import { walkTree, walkTree2 } from "./trees.ts";

/** Type of the B-tree of groups (III.A.1). */
const GROUPS = 0;
/** Type of a cached symbol (III.C) that is a soft link. */
const SOFT = 2;
/** How often the bytes of a name are compared. */
const SORTING = 16;
/** Types of links (IV.A.2.g). */
const LinkType = { HARD: 0, SOFT: 1, EXTERNAL: 64 } as const;

/** Link of a group, named in bytes. */
export type Link =
  & { readonly name: Uint8Array }
  & (
    | { readonly is: "hard"; readonly address: number }
    | { readonly is: "soft"; readonly target: Uint8Array }
    | { readonly is: "external"; readonly file: Uint8Array }
    | { readonly is: "other" }
  );

/** Whether messages are those of a group. */
export function isGroup(messages: readonly Message[]): boolean {
  const { LINK, LINK_INFO, SYMBOL_TABLE } = MessageType;
  return messages.some(({ type }) =>
    type === LINK || type === LINK_INFO || type === SYMBOL_TABLE
  );
}

/** Reads the links of a group, in the order of their names. */
export function* readLinks(
  objects: ObjectReader,
  messages: readonly Message[],
): Steps<Link[]> {
  const { metadata } = objects;
  const table = yield* objects.find(messages, MessageType.SYMBOL_TABLE);
  const links: Link[] = [];
  if (table !== undefined) {
    links.push(
      ...yield* readSymbols(metadata, table.offset(), table.offset()),
    );
  }
  for (const { type, bytes } of messages) {
    if (type !== MessageType.LINK) continue;
    links.push(readLink(new Cursor(bytes, metadata)));
  }
  const info = yield* objects.find(messages, MessageType.LINK_INFO);
  if (info !== undefined) {
    const flags = info.skip(1).u8();
    info.skip(flags & 1 ? 8 : 0);
    for (const stored of yield* readDense(metadata, info, 4)) {
      links.push(readLink(stored));
    }
  }
  for (const { name } of links) metadata.charge(SORTING * name.length);
  return links.sort((a, b) => compare(a.name, b.name));
}

/**
 * Reads the objects of a fractal heap that a B-tree of names lists: links (III.A.2, type 5), or attributes (type 8).
 *
 * @param info At the addresses of both.
 * @param before Bytes of a record before the id, or after it if it is first.
 */
export function* readDense(
  metadata: Metadata,
  info: Cursor,
  before: number,
): Steps<Cursor[]> {
  const heapAddress = info.offset();
  const names = info.offset();
  if (heapAddress === NOWHERE) return [];
  const heap = yield* FractalHeap.open(metadata, heapAddress);
  const ids: Uint8Array[] = [];
  yield* walkTree2(metadata, names, (record) => {
    ids.push(before > 0 ? record.skip(before).take(7) : record.take(8));
  });
  const objects: Cursor[] = [];
  for (const id of ids) objects.push(yield* heap.read(id));
  return objects;
}

/** Reads a link message (IV.A.2.g). */
function readLink(cursor: Cursor): Link {
  const flags = cursor.skip(1).u8();
  const type = flags & 8 ? cursor.u8() : LinkType.HARD;
  cursor.skip((flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
  const name = cursor.take(cursor.uint(1 << (flags & 3)));
  switch (type) {
    case LinkType.HARD:
      return { is: "hard", name, address: cursor.offset() };
    case LinkType.SOFT:
      return { is: "soft", name, target: cursor.take(cursor.u16()) };
    case LinkType.EXTERNAL:
      return { is: "external", name, file: cursor.skip(3).name() };
    default:
      return { is: "other", name };
  }
}

/** Reads a symbol table (III.B), whose names are in a local heap. */
function* readSymbols(
  metadata: Metadata,
  tree: number,
  heapAddress: number,
): Steps<Link[]> {
  const heap = yield* readLocalHeap(metadata, heapAddress);
  const nodes: number[] = [];
  yield* walkTree(
    metadata,
    tree,
    GROUPS,
    metadata.lengthSize,
    (_, child) => nodes.push(child),
  );
  const links: Link[] = [];
  const entry = 2 * metadata.offsetSize + 24;
  for (const address of nodes) {
    const head = yield* metadata.part(address, 8);
    head.expect("SNOD");
    const count = head.skip(1).u16();
    const node = yield* metadata.part(address, 8 + count * entry);
    node.skip(8);
    for (let i = 0; i < count; i++) {
      const symbol = node.cursor(entry);
      const name = nameIn(heap, symbol.offset());
      const target = symbol.offset();
      const isSoft = symbol.u32() === SOFT;
      links.push(
        isSoft
          ? { is: "soft", name, target: nameIn(heap, symbol.skip(4).u32()) }
          : { is: "hard", name, address: target },
      );
    }
  }
  return links;
}

/** Reads the data of a local heap (III.D). */
export function* readLocalHeap(
  metadata: Metadata,
  address: number,
): Steps<Cursor> {
  const { lengthSize, offsetSize } = metadata;
  const head = yield* metadata.part(address, 8 + 2 * lengthSize + offsetSize);
  head.expect("HEAP");
  const length = head.skip(3).length();
  head.length();
  return yield* metadata.part(head.offset(), length);
}

export function nameIn(heap: Cursor, at: number): Uint8Array {
  if (!(at >= 0 && at < heap.bytes.length)) {
    throw new CellFault("has a name outside of its heap");
  }
  heap.at = at;
  return heap.name();
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}
