import { type SampleRunColumns, SampleRuns } from "../sample_runs.ts";
import {
  firstFrom,
  includes,
  sharedFloat64,
  type WholeNumbers,
} from "../shared_numbers.ts";
import type {
  EntryVisitor,
  NodeId,
  SampleNodes,
  SampleRun,
  Tree,
} from "../tree.ts";
import { reopenHandle, ROOT } from "../tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";

/** Visible part of a tree, over memory that threads share. */
interface ChosenNode {
  readonly samples: SampleRunColumns;
  /** Indices of the visible samples, ascending. */
  readonly kept: WholeNumbers;
  /** Directories above the visible samples, ascending; without the root. */
  readonly directories: Float64Array;
}

/**
 * A tree that shows only some samples, each with all its contents. A directory above the samples appears if it leads to
 * a visible one; files that are not samples appear if their directory does.
 *
 * Nodes keep their ids. Hidden nodes can still be read by their ids, but no listing or lookup returns them.
 */
export class SubsetTree extends WrappedTree<ChosenNode> {
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly samples?: () => SampleNodes;
  readonly #samples: SampleRuns;

  constructor(inner: Tree, kept: ChosenNode) {
    super(inner, kept, import.meta.url);
    this.#samples = new SampleRuns(kept.samples);
    // The presence of these methods says whether there are links, and samples other than files.
    if (inner.isLink) this.isLink = (node) => inner.isLink!(node);
    if (inner.readLink) {
      this.readLink = (node, into, at) => inner.readLink!(node, into, at);
    }
    if (inner.target) this.target = (node) => inner.target!(node);
    if (inner.samples) {
      const { areDirectories } = kept.samples;
      this.samples = () => ({ areDirectories, runs: this.#runs() });
    }
  }

  /** Shows only the samples `kept`: ascending indices in shared memory. The new tree owns `inner`. */
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

  /** Yields the visible samples; those that are consecutive in the container are one run. */
  *#runs(): Generator<SampleRun, void, undefined> {
    const { kept, samples: { starts, strides } } = this.seed;
    for (let at = 0, run = 0; at < kept.length;) {
      while (kept[at]! >= starts[run + 1]!) run++;
      const from = at++;
      while (kept[at] === kept[at - 1]! + 1 && kept[at]! < starts[run + 1]!) {
        at++;
      }
      yield {
        first: this.#samples.node(kept[from]!),
        stride: strides[run]!,
        count: at - from,
        width: this.#samples.widthOf(kept[from]!),
      };
    }
  }

  /** Whether a directory is above the samples. Inside samples everything is visible. */
  #isFiltered(directory: NodeId): boolean {
    return directory === ROOT || includes(this.seed.directories, directory);
  }

  #shown(node: NodeId): NodeId {
    const { kept, directories } = this.seed;
    const sample = this.#samples.indexOf(node);
    const isShown = sample >= 0
      ? includes(kept, sample)
      : !this.inner.isDirectory(node) || includes(directories, node);
    return isShown ? node : 0;
  }
}

/** Finds the directories above the samples, one lookup per run: all its samples have the same directory. */
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
    let directory = node === 0 ? ROOT : tree.parent(node); // 0: skipped sample
    while (directory > ROOT && !found.has(directory)) {
      found.add(directory);
      directory = tree.parent(directory);
    }
    at = firstFrom(kept, past);
  }
  return sharedFloat64([...found]).sort();
}

export async function reopenTree(
  { inner, seed }: WrappedHandle<ChosenNode>,
): Promise<Tree> {
  return new SubsetTree(await reopenHandle(inner), seed);
}
