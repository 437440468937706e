import { lastUpTo, sharedFloat64, sharedUint32 } from "./shared_numbers.ts";
import type { NodeId, SampleNodes } from "./tree.ts";

/** The columns of {@linkcode SampleRuns}, over memory that threads can share. */
export interface SampleRunColumns {
  /** Whether the samples are directories, with all that is in them, and not files; `undefined` where some are. */
  readonly areDirectories: boolean | undefined;
  /** Per run, and once more: the index of its first sample. */
  readonly starts: Float64Array;
  /** Per run: the node of its first sample. */
  readonly firsts: Float64Array;
  /** Per run: how far its nodes are apart. */
  readonly strides: Float64Array;
  /** Per run: how many neighbours each sample is; `undefined` where each is one node. */
  readonly widths?: Uint32Array | undefined;
  /** The runs in the order of their nodes, or `undefined` where they stand in it. */
  readonly byNode: Uint32Array | undefined;
}

/**
 * Which nodes of a tree are the samples of a dataset, in the dataset's order. Where node ids are arithmetic,
 * ten million of them are a single run; stored names take a run for each directory, or a few.
 */
export class SampleRuns {
  readonly columns: SampleRunColumns;
  /** Number of samples. */
  readonly length: number;

  constructor(columns: SampleRunColumns) {
    this.columns = columns;
    this.length = columns.starts.at(-1)!;
  }

  /** Joins runs. */
  static of({ areDirectories, runs }: SampleNodes): SampleRuns {
    const starts = [0];
    const firsts: number[] = [];
    const strides: number[] = [];
    const widths: number[] = [];
    let length = 0;
    for (const { first, stride, count, width = 1 } of runs) {
      if (count === 0) continue;
      length += count;
      starts.push(length);
      firsts.push(first);
      strides.push(stride);
      widths.push(width);
    }
    return new SampleRuns({
      areDirectories,
      starts: sharedFloat64(starts),
      firsts: sharedFloat64(firsts),
      strides: sharedFloat64(strides),
      ...widths.some((width) => width > 1)
        ? { widths: sharedUint32(widths) }
        : {},
      byNode: orderByNode(firsts),
    });
  }

  /** Number of runs. */
  get runs(): number {
    return this.columns.firsts.length;
  }

  /** The largest id that a sample has, or 0 where there are none. */
  get largestNode(): NodeId {
    const { starts, firsts, byNode } = this.columns;
    const run = byNode?.at(-1) ?? firsts.length - 1;
    return run < 0 ? 0 : this.node(starts[run + 1]! - 1);
  }

  /** The node of a sample, or 0 where there is no such sample, or it is left out. */
  node(sample: number): NodeId {
    if (!(sample >= 0 && sample < this.length)) return 0;
    const { starts, firsts, strides } = this.columns;
    const run = lastUpTo(starts, sample, firsts.length);
    return firsts[run]! + (sample - starts[run]!) * strides[run]!;
  }

  /** How many files each sample is at most. */
  get most(): number {
    return this.columns.widths?.reduce((a, b) => Math.max(a, b), 1) ?? 1;
  }

  /** How many files a sample is, its node's neighbours; 1 where it is a directory, or left out. */
  widthOf(sample: number): number {
    const { starts, firsts, widths } = this.columns;
    return widths?.[lastUpTo(starts, sample, firsts.length)] ?? 1;
  }

  /** The sample that a node is, or is a part of beside others, or -1. What lies in a sample is none. */
  indexOf(node: NodeId): number {
    const { starts, firsts, strides, byNode } = this.columns;
    if (firsts.length === 0) return -1;
    const place = lastUpTo(firsts, node, firsts.length, byNode);
    const run = byNode === undefined ? place : byNode[place]!;
    const stride = strides[run]!;
    const distance = node - firsts[run]!;
    const steps = stride === 0 ? NaN : Math.floor(distance / stride);
    const count = starts[run + 1]! - starts[run]!;
    const width = this.columns.widths?.[run] ?? 1;
    return steps >= 0 && steps < count && distance - steps * stride < width
      ? starts[run]! + steps
      : -1;
  }
}

/** The numbers of the runs in the order of their nodes, where that is another one. */
function orderByNode(firsts: readonly number[]): Uint32Array | undefined {
  if (firsts.every((first, i) => i === 0 || firsts[i - 1]! < first)) {
    return undefined;
  }
  return sharedUint32(firsts.map((_, i) => i))
    .sort((a, b) => firsts[a]! - firsts[b]!);
}
