import { isIndex } from "./sample_indices.ts";
import type { RecordNames } from "./names/named_tree.ts";
import { type NumberedNames, numberedNames } from "./names/numbered_names.ts";
import type { SampleNodes } from "./tree.ts";
import { type EntryVisitor, type NodeId, ROOT } from "./tree.ts";

const FIRST = ROOT + 1;

/** One directory of records named by their numbers, such as `000042.jpg`. Record i has node id i + 2. */
export class NumberedFiles implements RecordNames {
  readonly count: number;
  readonly suffix: string;
  readonly #names: NumberedNames;
  readonly #name: Uint8Array;

  constructor(count: number, suffix: string) {
    this.count = count;
    this.suffix = suffix;
    this.#names = numberedNames(count, suffix);
    this.#name = new Uint8Array(this.#names.maxLength);
  }

  get length(): number {
    return this.count + 1;
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT;
  }

  parent(): NodeId {
    return ROOT;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent !== ROOT) return 0;
    const record = this.#names.parse(name, start, end);
    return record >= 0 && record < this.count ? record + FIRST : 0;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir !== ROOT) return;
    for (let record = cursor; record < this.count; record++) {
      const end = this.#names.write(record, this.#name);
      if (!visit(this.#name, 0, end, record + FIRST, record + 1)) return;
    }
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const record = this.record(node);
    return record < 0 ? 0 : this.#names.write(record, into);
  }

  /** Returns the nodes of all records, or of ranges from `first` (inclusive) to `end` (exclusive). */
  samples(
    ranges: readonly { readonly first: number; readonly end: number }[] = [
      { first: 0, end: this.count },
    ],
  ): SampleNodes {
    const runs = ranges.map(({ first, end }) => ({
      first: FIRST + first,
      stride: 1,
      count: end - first,
    }));
    return { areDirectories: false, runs };
  }

  nodeOf(record: number): NodeId {
    return record + FIRST;
  }

  record(node: NodeId): number {
    const record = node - FIRST;
    return isIndex(record, this.count) ? record : -1;
  }
}
