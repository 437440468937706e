import { type SampleRunColumns, SampleRuns } from "./sample_runs.ts";
import {
  firstFrom,
  includes,
  sharedFloat64,
  type WholeNumbers,
} from "./shared_numbers.ts";
import type { EntryVisitor, NodeId, Tree } from "./tree.ts";
import { reopenHandle, ROOT } from "./tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";

/** The part of a tree that is kept, over memory that threads share. */
interface Kept {
  readonly samples: SampleRunColumns;
  /** The samples that show, ascending. */
  readonly kept: WholeNumbers;
  /** The directories that lead to them, ascending; the root is not among them. */
  readonly directories: Float64Array;
}

/**
 * A tree of which only some samples show, each with all that is in it; directories above them show where they
 * lead to one, and files that are no samples where their directory does.
 *
 * Nodes keep their ids. One that does not show still can be described and read by its id, which nobody is told.
 */
export class SubsetTree extends WrappedTree<Kept> {
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly #samples: SampleRuns;

  /** @param inner Belongs to the tree from now on. */
  constructor(inner: Tree, kept: Kept) {
    super(inner, kept, import.meta.url);
    this.#samples = new SampleRuns(kept.samples);
    // Whether there are such methods tells whether there are links.
    if (inner.isLink) this.isLink = (node) => inner.isLink!(node);
    if (inner.readLink) {
      this.readLink = (node, into, at) => inner.readLink!(node, into, at);
    }
    if (inner.target) this.target = (node) => inner.target!(node);
  }

  /**
   * @param inner Belongs to the tree from now on.
   * @param samples Its samples.
   * @param kept Indices of those that are to show, ascending, in shared memory.
   */
  static of(inner: Tree, samples: SampleRuns, kept: WholeNumbers): SubsetTree {
    const directories = directoriesAbove(inner, samples, kept);
    const { columns } = samples;
    return new SubsetTree(inner, { samples: columns, kept, directories });
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const found = this.inner.lookup(parent, name, start, end);
    if (!this.#isFiltered(parent)) return found;
    return this.#shown(found);
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (!this.#isFiltered(dir)) return this.inner.list(dir, cursor, visit);
    return this.inner.list(
      dir,
      cursor,
      (name, start, end, node, next) =>
        this.#shown(node) === 0 || visit(name, start, end, node, next),
    );
  }

  /** True if a directory is above the samples: in and below them everything shows. */
  #isFiltered(directory: NodeId): boolean {
    return directory === ROOT || includes(this.seed.directories, directory);
  }

  /** An entry of a directory above the samples, or 0 where it does not show. */
  #shown(node: NodeId): NodeId {
    const { kept, directories } = this.seed;
    const sample = this.#samples.indexOf(node);
    const isShown = sample >= 0
      ? includes(kept, sample)
      : !this.inner.isDirectory(node) || includes(directories, node);
    return isShown ? node : 0;
  }
}

/** The directories that lead to samples. Each run has but one, which is asked for its first sample. */
function directoriesAbove(
  tree: Tree,
  samples: SampleRuns,
  kept: WholeNumbers,
): Float64Array {
  const { starts } = samples.columns;
  const found = new Set<NodeId>();
  for (let at = 0, run = 0; at < kept.length; run++) {
    const past = starts[run + 1]!;
    if (kept[at]! >= past) continue;
    const node = samples.node(kept[at]!);
    let directory = node === 0 ? ROOT : tree.parent(node); // 0: it is left out
    while (directory > ROOT && !found.has(directory)) {
      found.add(directory);
      directory = tree.parent(directory);
    }
    at = firstFrom(kept, past);
  }
  return sharedFloat64([...found]).sort();
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export async function reopenTree(
  { inner, seed }: WrappedHandle<Kept>,
): Promise<Tree> {
  return new SubsetTree(await reopenHandle(inner), seed);
}
