/** Mutations of LMDB: fields of meta pages, pages and nodes, and pages that replace others. */
import type { Dice } from "../dice.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const NAMED = /(\.lmdb|data\.mdb)$/;

/** Name, offset and length of fields. */
type Fields = readonly (readonly [string, number, number])[];

const META: Fields = [
  ["kind", 10, 2],
  ["magic", 16, 4],
  ["version", 20, 4],
  ["page size", 40, 4],
  ["flags of the main database", 92, 2],
  ["depth", 94, 2],
  ["entries", 120, 8],
  ["root", 128, 8],
  ["last page", 136, 8],
  ["transaction", 144, 8],
];
const PAGE: Fields = [
  ["number", 0, 8],
  ["value size", 8, 2],
  ["kind", 10, 2],
  ["lower", 12, 2],
  ["upper", 14, 2],
];
const NODE: Fields = [
  ["low", 0, 2],
  ["high", 2, 2],
  ["flags", 4, 2],
  ["key size", 6, 2],
];
const SMALL = [0n, 1n, 2n, 3n, 4n, 6n, 8n, 16n, 0x22n, 48n, 512n, 32_768n];

/** Sets a field of a meta page, a page or a node to a limit. */
const setField: Mutation = {
  name: "set field of a database",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const size = pageSizeOf(bytes);
    if (size === undefined) return;
    const pages = Math.floor(bytes.length / size);
    const [start, fields] = placeIn(bytes, size, pages, dice);
    const [name, offset, length] = dice.pick(fields);
    if (start + offset + length > bytes.length) return;
    const value = dice.once(2)
      ? dice.pick(SMALL)
      : dice.once(2)
      ? BigInt(dice.int(pages))
      : dice.pick(limitsAround(bytes.length, pages, size));
    const field = integerBytes(value, length, true);
    draft.overwrite(path, start + offset, field, `${name} of a database`);
  },
};

/** Replaces a page by another one, with or without the right page number. */
const copyPage: Mutation = {
  name: "copy page of a database",
  weight: 3,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const size = pageSizeOf(bytes);
    if (size === undefined) return;
    const pages = Math.floor(bytes.length / size);
    const [from, to] = [dice.int(pages), dice.int(pages)];
    const page = bytes.slice(from * size, (from + 1) * size);
    if (dice.once(2)) page.set(integerBytes(BigInt(to), 8, true));
    draft.overwrite(path, to * size, page, `page ${from} of a database`);
  },
};

export const LMDB_MUTATIONS: readonly Mutation[] = [setField, copyPage];

/** Picks a meta page, a page or a node. Returns its offset and fields. */
function placeIn(
  bytes: Uint8Array,
  size: number,
  pages: number,
  dice: Dice,
): readonly [number, Fields] {
  if (dice.once(3)) return [dice.int(2) * size, META];
  const page = dice.int(pages) * size;
  if (dice.once(2)) return [page, PAGE];
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const nodes = view.getUint16(page + 12, true) - 16 >> 1;
  if (nodes <= 0 || nodes > size / 2) return [page, PAGE];
  const list = page + 16 + 2 * dice.int(nodes);
  if (list + 2 > bytes.length) return [page, PAGE];
  return [page + view.getUint16(list, true), NODE];
}

/** Returns the page size, or `undefined` if it is invalid. */
function pageSizeOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < 44) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const size = view.getUint32(40, true);
  return size >= 512 && 2 * size <= bytes.length ? size : undefined;
}
