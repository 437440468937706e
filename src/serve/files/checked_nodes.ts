/** Bits of a page: 8 KiB of them. */
const PAGE_BITS = 1 << 16;
/** Pages that are kept at most, 64 MiB of them; then all begins anew. */
const MOST_PAGES = 1 << 13;

/** Which files have been compared with their checksums: a bit each, where there are some near it. */
export class CheckedNodes {
  readonly #pages = new Map<number, Uint32Array>();

  has(node: number): boolean {
    const page = this.#pages.get(Math.floor(node / PAGE_BITS));
    if (page === undefined) return false;
    const bit = node % PAGE_BITS;
    return (page[bit >>> 5]! >>> (bit & 31) & 1) === 1;
  }

  add(node: number): void {
    const number = Math.floor(node / PAGE_BITS);
    let page = this.#pages.get(number);
    if (page === undefined) {
      if (this.#pages.size === MOST_PAGES) this.#pages.clear();
      this.#pages.set(number, page = new Uint32Array(PAGE_BITS / 32));
    }
    const bit = node % PAGE_BITS;
    page[bit >>> 5]! |= 1 << (bit & 31);
  }
}
