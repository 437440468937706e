import type { ByteSource } from "./byte_source.ts";
import { fill } from "./read_part.ts";
import { inParallel, type Steps } from "./steps.ts";

/** A range of one of several sources. */
export interface Slice {
  /** Index of the source. */
  readonly source: number;
  readonly offset: number;
  readonly length: number;
}

/** Slices up to this length are worth reading together with a neighbour. */
const SMALL = 32 * 1024;
/** Largest gap between neighbours that is read and thrown away. */
const GAP = 4 * 1024;
/** Longest joint read. */
const LONGEST_RUN = 1 << 20;

/**
 * Reads many slices in the order in which they lie, small neighbours in one read.
 *
 * @param sources What the slices are of.
 * @param slices Ranges inside their sources' sizes, in any order, repeats allowed.
 * @returns The bytes of each slice, in the order of `slices`, each in memory of its own.
 */
export function* readSlices(
  sources: readonly ByteSource[],
  slices: readonly Slice[],
): Steps<Uint8Array<ArrayBuffer>[]> {
  const result: Uint8Array<ArrayBuffer>[] = new Array(slices.length);
  const order = slices.map((_, i) => i).sort((i, k) => {
    const [a, b] = [slices[i]!, slices[k]!];
    return a.source - b.source || a.offset - b.offset;
  });
  yield* inParallel(
    runs(order, slices).map((run) => readRun(sources, slices, run, result)),
  );
  return result;
}

/** Splits the order into groups that are read together. */
function runs(order: readonly number[], slices: readonly Slice[]): number[][] {
  const groups: number[][] = [];
  let group: number[] = [];
  let start = 0;
  let end = 0;
  let source = -1;
  for (const i of order) {
    const slice = slices[i]!;
    const stop = Math.max(end, slice.offset + slice.length);
    const joins = slice.source === source && slice.length <= SMALL &&
      slice.offset - end <= GAP && stop - start <= LONGEST_RUN &&
      end - start <= LONGEST_RUN;
    if (!joins) {
      group = [];
      groups.push(group);
      start = slice.offset;
      source = slice.source;
    }
    group.push(i);
    end = joins ? stop : slice.offset + slice.length;
    if (slice.length > SMALL) source = -1; // long slices stay alone
  }
  return groups;
}

function* readRun(
  sources: readonly ByteSource[],
  slices: readonly Slice[],
  run: readonly number[],
  result: Uint8Array<ArrayBuffer>[],
): Steps<void> {
  const first = slices[run[0]!]!;
  const source = sources[first.source]!;
  if (run.length === 1) {
    const bytes = new Uint8Array(first.length);
    result[run[0]!] = bytes;
    yield* fill(source, bytes, first.offset);
    return;
  }
  let end = 0;
  for (const i of run) {
    end = Math.max(end, slices[i]!.offset + slices[i]!.length);
  }
  const joint = new Uint8Array(end - first.offset);
  yield* fill(source, joint, first.offset);
  for (const i of run) {
    const from = slices[i]!.offset - first.offset;
    result[i] = joint.slice(from, from + slices[i]!.length);
  }
}
