import type { ChecksumKind } from "../checksums/checksum.ts";

export interface Slice {
  readonly source: number;
  readonly offset: number;
  readonly length: number;
  /** Kind of checksum to compute; none if not given. */
  readonly checksumKind?: ChecksumKind | undefined;
}

/** Slices read together: the range of one source that covers them. */
export interface SliceRun {
  readonly source: number;
  readonly offset: number;
  readonly length: number;
  /** Position of the first slice in the order. */
  readonly first: number;
  readonly count: number;
}

export interface RunLimits {
  /** Longest slice that is combined with a neighbour. */
  readonly small: number;
  /** Largest gap between neighbours that is read and discarded. */
  readonly gap: number;
  readonly longest: number;
  /** Whether overlapping slices are combined whatever their lengths, because they stay where they are read. */
  readonly overlaps: boolean;
}

const LIMITS: RunLimits = {
  small: 32 * 1024,
  gap: 4 * 1024,
  longest: 1 << 20,
  overlaps: false,
};

/** Returns the indices of slices in storage order. */
export function orderOf(slices: readonly Slice[]): Uint32Array {
  const order = new Uint32Array(slices.length);
  let isOrdered = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (i > 0) isOrdered &&= compare(slices[i - 1]!, slices[i]!) <= 0;
  }
  return isOrdered
    ? order
    : order.sort((i, k) => compare(slices[i]!, slices[k]!));
}

function compare(a: Slice, b: Slice): number {
  return a.source - b.source || a.offset - b.offset;
}

/** Groups slices into runs: small neighbours together, long slices alone. */
export function runsOf(
  slices: readonly Slice[],
  order: Uint32Array,
  { small, gap, longest, overlaps } = LIMITS,
): SliceRun[] {
  const runs: SliceRun[] = [];
  for (let first = 0; first < order.length;) {
    const { source, offset, length } = slices[order[first]!]!;
    let end = offset + length;
    let next = first + 1;
    while (next < order.length) {
      const slice = slices[order[next]!]!;
      const stop = Math.max(end, slice.offset + slice.length);
      const isNear = slices[order[next - 1]!]!.length <= small &&
        slice.length <= small &&
        slice.offset - end <= gap && stop - offset <= longest;
      const joins = isNear || overlaps && slice.offset < end;
      if (slice.source !== source || !joins) break;
      end = stop;
      next++;
    }
    runs.push({
      source,
      offset,
      length: end - offset,
      first,
      count: next - first,
    });
    first = next;
  }
  return runs;
}
