import type { ChecksumKind } from "../sums/checksum.ts";

/** A range of one of several sources. */
export interface Slice {
  /** Index of the source. */
  readonly source: number;
  readonly offset: number;
  readonly length: number;
  /** Kind of the checksum that is to be taken of it; none unless given. */
  readonly checksumKind?: ChecksumKind | undefined;
}

/** Slices that are read together: a range of one source that covers them. */
export interface SliceRun {
  readonly source: number;
  readonly offset: number;
  readonly length: number;
  /** Where the slices' indices start in the order. */
  readonly first: number;
  /** Number of slices. */
  readonly count: number;
}

/** Slices up to this length are worth reading together with a neighbour. */
const SMALL = 32 * 1024;
/** Largest gap between neighbours that is read and thrown away. */
const GAP = 4 * 1024;
/** Longest joint read. */
const LONGEST_RUN = 1 << 20;

/** The indices of slices in the order in which they lie. */
export function orderOf(slices: readonly Slice[]): Uint32Array {
  const order = new Uint32Array(slices.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  return order.sort((i, k) => {
    const a = slices[i]!;
    const b = slices[k]!;
    return a.source - b.source || a.offset - b.offset;
  });
}

/** Splits slices into what is read together: small neighbours; long slices stay alone. */
export function runsOf(
  slices: readonly Slice[],
  order: Uint32Array,
): SliceRun[] {
  const runs: SliceRun[] = [];
  for (let first = 0; first < order.length;) {
    const { source, offset, length } = slices[order[first]!]!;
    let end = offset + length;
    let next = first + 1;
    while (next < order.length && end - offset <= LONGEST_RUN) {
      const slice = slices[order[next]!]!;
      const stop = Math.max(end, slice.offset + slice.length);
      const joins = slices[order[next - 1]!]!.length <= SMALL &&
        slice.length <= SMALL && slice.source === source &&
        slice.offset - end <= GAP && stop - offset <= LONGEST_RUN;
      if (!joins) break;
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
