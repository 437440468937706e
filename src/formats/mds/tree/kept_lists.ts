/** Bytes of lists that are kept; one that is larger is kept until the next is read. */
const MOST_BYTES = 32 << 20;
/** What a list takes beside where its elements start. */
const OWN_BYTES = 128;

/** Where the elements of the lists that were used last start, and where the last one ends. */
export class KeptLists {
  /** By the number of their file among all, in order of use. */
  readonly #lists = new Map<number, Float64Array>();
  #last: Float64Array | undefined;
  #lastFile = -1;
  #bytes = 0;

  /** Where the elements of a list start, if that is kept. */
  known(file: number): Float64Array | undefined {
    if (file === this.#lastFile) return this.#last;
    const starts = this.#lists.get(file);
    if (starts === undefined) return undefined;
    this.#lists.delete(file); // to the end: most recently used
    this.#lists.set(file, starts);
    this.#last = starts;
    this.#lastFile = file;
    return starts;
  }

  /** Keeps where the elements of a list start. */
  keep(file: number, starts: Float64Array): void {
    if (this.#lists.has(file)) return; // read twice at a time
    this.#lists.set(file, starts);
    this.#bytes += weightOf(starts);
    for (const [other, starts] of this.#lists) {
      if (this.#bytes <= MOST_BYTES || other === file) return;
      this.#lists.delete(other);
      this.#bytes -= weightOf(starts);
    }
  }
}

function weightOf({ byteLength }: Float64Array): number {
  return OWN_BYTES + byteLength;
}
