import { Extra } from "../layout.ts";

/** 100 nanoseconds between 1601, from where NTFS counts, and 1970. */
const NTFS_EPOCH = 116_444_736_000_000_000n;
const PER_MILLISECOND = 10_000n;
/** Of the attributes in a field of NTFS: the one that has the times. */
const NTFS_TIMES = 1;

/** A time that a later field does not replace unless it is told more exactly. */
export interface ToldTime {
  /** Milliseconds since 1970; NaN where none is known. */
  time: number;
  /** How exact its field is: 0 for DOS, which knows no time zone. */
  rank: number;
}

/** Takes the time of modification from an extra field of the central directory, if it has one. */
export function takeTime(
  told: ToldTime,
  view: DataView,
  kind: number,
  start: number,
  end: number,
): void {
  const rank = RANKS.get(kind) ?? 0;
  if (rank <= told.rank) return;
  const time = timeIn(view, kind, start, end);
  if (Number.isNaN(time)) return;
  told.time = time;
  told.rank = rank;
}

/** From the most exact on: 100 ns, then seconds. */
const RANKS: ReadonlyMap<number, number> = new Map([
  [Extra.NTFS, 4],
  [Extra.TIMES, 3],
  [Extra.PKWARE_UNIX, 2],
  [Extra.INFOZIP_UNIX, 1],
]);

function timeIn(
  view: DataView,
  kind: number,
  start: number,
  end: number,
): number {
  switch (kind) {
    case Extra.NTFS:
      return ntfsTime(view, start + 4, end);
    case Extra.TIMES:
      return end >= start + 5 && (view.getUint8(start) & 1) !== 0
        ? view.getInt32(start + 1, true) * 1000
        : NaN;
    default: // last access, then modification
      return end >= start + 8 ? view.getInt32(start + 4, true) * 1000 : NaN;
  }
}

/** Modification is the first of the three times of an attribute; 0 stands for none. */
function ntfsTime(view: DataView, start: number, end: number): number {
  for (let at = start; at + 4 <= end;) {
    const past = at + 4 + view.getUint16(at + 2, true);
    if (past > end) return NaN;
    if (view.getUint16(at, true) === NTFS_TIMES && past >= at + 12) {
      const ticks = view.getBigUint64(at + 4, true);
      if (ticks === 0n) return NaN;
      const since = ticks - NTFS_EPOCH;
      return Number(since / PER_MILLISECOND) +
        Number(since % PER_MILLISECOND) / Number(PER_MILLISECOND);
    }
    at = past;
  }
  return NaN;
}
