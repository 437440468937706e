/** Writes LMDB databases with small pages, by the structures in LMDB's `mdb.c`, independently of the reader. */

/** Offsets of fields in a meta page, for tests that damage them. */
export const At = {
  MAGIC: 16,
  VERSION: 20,
  PAGE_SIZE: 40,
  MAIN_FLAGS: 92,
  MAIN_DEPTH: 94,
  MAIN_ENTRIES: 120,
  MAIN_ROOT: 128,
  LAST_PAGE: 136,
  TRANSACTION: 144,
} as const;

export const PAGE = 512;
const HEADER = 16;
const NODE = 8;

const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const META = 8;

type Text = string | Uint8Array;

/** Node of a page: a key, and its value or the value's page number. */
interface Node {
  readonly key: Uint8Array;
  /** Bytes after the key. */
  readonly data: Uint8Array;
  /** The first eight bytes, without the key's size: size of the value and flags, or a page number. */
  readonly head: bigint;
}

/** Fields of a database's record. */
export interface MadeRecord {
  readonly flags?: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflow: number;
  readonly entries: number;
  readonly root: number;
}

/** Builds the pages of a database file, in order. */
export class MadePages {
  readonly pages: Uint8Array[] = [];
  readonly size: number;

  constructor(size = PAGE) {
    this.size = size;
  }

  /** Number of the next page. */
  get next(): number {
    return 2 + this.pages.length;
  }

  /** Writes a tree of entries, which must be sorted by key. */
  tree(entries: readonly (readonly [Text, Text])[]): MadeRecord {
    let overflow = 0;
    let nodes = entries.map(([key, value]): Node => {
      const [name, data] = [bytesOf(key), bytesOf(value)];
      const most = (this.size - HEADER >> 1 & ~1) - 2;
      if (NODE + name.length + data.length <= most) {
        return { key: name, data, head: BigInt(data.length) };
      }
      const page = this.#overflow(data);
      overflow += this.next - page;
      const at = new Uint8Array(8);
      new DataView(at.buffer).setBigUint64(0, BigInt(page), true);
      const head = BigInt(data.length) | 1n << 32n;
      return { key: name, data: at, head };
    });
    const counts = { leaves: 0, branches: 0 };
    let depth = 0;
    let root = -1;
    while (root < 0) {
      if (nodes.length === 0) break;
      const kind = depth++ === 0 ? LEAF : BRANCH;
      const above = this.#level(kind, nodes);
      counts[kind === LEAF ? "leaves" : "branches"] += above.length;
      if (above.length === 1) root = Number(above[0]!.head);
      nodes = above;
    }
    return { depth, ...counts, overflow, entries: entries.length, root };
  }

  /** Returns the file. The first meta page is an older one, of an empty database. */
  file(main: MadeRecord): Uint8Array<ArrayBuffer> {
    const last = this.next - 1;
    const none = { depth: 0, branches: 0, leaves: 0, overflow: 0, entries: 0 };
    const metas = [
      this.#meta(0, { ...none, root: -1 }, 1),
      this.#meta(1, main, last),
    ];
    const file = new Uint8Array((last + 1) * this.size);
    for (const [i, page] of [...metas, ...this.pages].entries()) {
      file.set(page, i * this.size);
    }
    return file;
  }

  #meta(number: number, main: MadeRecord, last: number): Uint8Array {
    const page = this.#page(META, number);
    const view = new DataView(page.buffer);
    view.setUint32(At.MAGIC, 0xbeefc0de, true);
    view.setUint32(At.VERSION, 1, true);
    view.setBigUint64(32, 1n << 20n, true); // size of the map
    view.setUint32(At.PAGE_SIZE, this.size, true);
    view.setBigUint64(80, 2n ** 64n - 1n, true); // no free pages
    page.set(recordBytes(main), 88);
    view.setBigUint64(At.LAST_PAGE, BigInt(last), true);
    view.setBigUint64(At.TRANSACTION, BigInt(number), true);
    return page;
  }

  #overflow(data: Uint8Array): number {
    const first = this.next;
    const count = Math.ceil((HEADER + data.length) / this.size);
    const all = new Uint8Array(count * this.size);
    const head = this.#page(OVERFLOW, first);
    new DataView(head.buffer).setUint32(12, count, true);
    all.set(head);
    all.set(data, HEADER);
    for (let i = 0; i < count; i++) {
      this.pages.push(all.subarray(i * this.size, (i + 1) * this.size));
    }
    return first;
  }

  /** Writes pages of one kind. Returns their nodes for the level above. */
  #level(kind: number, nodes: readonly Node[]): Node[] {
    const above: Node[] = [];
    for (let from = 0; from < nodes.length;) {
      const number = this.next;
      const page = this.#page(kind, number);
      const view = new DataView(page.buffer);
      let [lower, upper, i] = [HEADER, this.size, from];
      for (; i < nodes.length; i++) {
        const { data, head } = nodes[i]!;
        // The first node of a branch page has no key.
        const key = kind === BRANCH && i === from
          ? new Uint8Array(0)
          : nodes[i]!.key;
        const length = NODE + key.length + data.length;
        const at = upper - length - length % 2;
        if (at < lower + 2) break;
        view.setUint16(lower, at, true);
        view.setBigUint64(at, head, true);
        view.setUint16(at + 6, key.length, true);
        page.set(key, at + NODE);
        page.set(data, at + NODE + key.length);
        [lower, upper] = [lower + 2, at];
      }
      view.setUint16(12, lower, true);
      view.setUint16(14, upper, true);
      this.pages.push(page);
      const nothing = new Uint8Array(0);
      above.push({
        key: nodes[from]!.key,
        data: nothing,
        head: BigInt(number),
      });
      from = i;
    }
    return above;
  }

  #page(kind: number, number: number): Uint8Array<ArrayBuffer> {
    const page = new Uint8Array(this.size);
    const view = new DataView(page.buffer);
    view.setBigUint64(0, BigInt(number), true);
    view.setUint16(10, kind, true);
    return page;
  }
}

/** Returns the record of a database, as a meta page or a named database's value contains it. */
export function recordBytes(
  { flags = 0, depth, branches, leaves, overflow, entries, root }: MadeRecord,
): Uint8Array {
  const view = new DataView(new ArrayBuffer(48));
  view.setUint16(4, flags, true);
  view.setUint16(6, depth, true);
  const numbers = [branches, leaves, overflow, entries, root];
  for (const [i, number] of numbers.entries()) {
    view.setBigInt64(8 + 8 * i, BigInt(number), true);
  }
  return new Uint8Array(view.buffer);
}

/** Returns a database of entries, which must be sorted by key. */
export function lmdbBytes(
  entries: readonly (readonly [Text, Text])[],
  pageSize?: number,
): Uint8Array<ArrayBuffer> {
  const pages = new MadePages(pageSize);
  return pages.file(pages.tree(entries));
}

/** Reads the page number of the root. */
export function rootOf(file: Uint8Array): number {
  const view = new DataView(file.buffer, file.byteOffset);
  const size = view.getUint32(At.PAGE_SIZE, true);
  return Number(view.getBigUint64(size + At.MAIN_ROOT, true));
}

function bytesOf(text: Text): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}
