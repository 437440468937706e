import { lastUpTo, sharedFloat64, sharedUint32 } from "./shared_numbers.ts";
import type { NodeId, SampleNodes } from "./tree.ts";

/** Columns of {@linkcode SampleRuns}, over memory that threads can share. */
export interface SampleRunColumns {
  /** Whether samples are directories with all their contents, rather than files; `undefined` if mixed. */
  readonly areDirectories: boolean | undefined;
  /** Per run, plus one: index of its first sample. */
  readonly starts: Float64Array;
  /** Per run: node of its first sample. */
  readonly firsts: Float64Array;
  /** Per run: distance between its nodes. */
  readonly strides: Float64Array;
  /** Per run: consecutive nodes per sample; `undefined` if one each. */
  readonly widths?: Uint32Array | undefined;
  /** Runs ordered by node, or `undefined` if they already are. */
  readonly byNode: Uint32Array | undefined;
}

/**
 * Nodes of a dataset's samples, in dataset order. If node ids are arithmetic, ten million samples are a single run;
 * stored names take one or a few runs per directory.
 */
export class SampleRuns {
  readonly columns: SampleRunColumns;
  readonly length: number;

  constructor(columns: SampleRunColumns) {
    this.columns = columns;
    this.length = columns.starts.at(-1)!;
  }

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

  get runs(): number {
    return this.columns.firsts.length;
  }

  /** Largest node id of a sample, or 0 if there are none. */
  get largestNode(): NodeId {
    const { starts, firsts, byNode } = this.columns;
    const run = byNode?.at(-1) ?? firsts.length - 1;
    return run < 0 ? 0 : this.node(starts[run + 1]! - 1);
  }

  /** Returns the node of a sample, or 0 if it does not exist or is skipped. */
  node(sample: number): NodeId {
    if (!(sample >= 0 && sample < this.length)) return 0;
    const { starts, firsts, strides } = this.columns;
    const run = lastUpTo(starts, sample, firsts.length);
    return firsts[run]! + (sample - starts[run]!) * strides[run]!;
  }

  get most(): number {
    return this.columns.widths?.reduce((a, b) => Math.max(a, b), 1) ?? 1;
  }

  /** Returns the number of files of a sample, which have consecutive nodes; 1 if it is a directory or skipped. */
  widthOf(sample: number): number {
    const { starts, firsts, widths } = this.columns;
    return widths?.[lastUpTo(starts, sample, firsts.length)] ?? 1;
  }

  /** Returns the sample that a node is, or is a file of; -1 for others, such as entries of a sample's directory. */
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

/** Returns the run numbers ordered by node, or `undefined` if they already are. */
function orderByNode(firsts: readonly number[]): Uint32Array | undefined {
  if (firsts.every((first, i) => i === 0 || firsts[i - 1]! < first)) {
    return undefined;
  }
  return sharedUint32(firsts.map((_, i) => i))
    .sort((a, b) => firsts[a]! - firsts[b]!);
}
