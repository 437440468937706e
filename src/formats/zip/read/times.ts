import { Extra } from "../layout.ts";

/** Units of 100 ns between 1601, the epoch of NTFS, and 1970. */
const NTFS_EPOCH = 116_444_736_000_000_000n;
const PER_MILLISECOND = 10_000n;
/** Attribute of an NTFS field that has the times. */
const NTFS_TIMES = 1;

/** A time, replaced only by one of a more exact field. */
export interface ToldTime {
  /** Milliseconds since 1970; NaN if unknown. */
  time: number;
  /** Exactness of its field: 0 for DOS, which knows no time zone. */
  rank: number;
}

/** Takes the modification time from an extra field of the central directory, if it has one. */
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

/** Most exact first: 100 ns, then seconds. */
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

/** Modification is the first of an attribute's three times; 0 means none. */
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
