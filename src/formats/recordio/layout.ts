/**
 * Layout of RecordIO: `include/dmlc/recordio.h` and `src/recordio.cc` of dmlc-core; of image records: `pack` and
 * `unpack` in `python/mxnet/recordio.py`, and `src/io/image_recordio.h`, of MXNet. Numbers are little-endian.
 */

import type { ChainedPart } from "../../tree/limits/chained_limits.ts";

/** First word of each part of a record. */
export const MAGIC = 0xced7230a;
/** Bytes before the data of a part: the magic, and a word of a flag and a length. */
export const HEADER = 8;
/** Bits of the length. */
const LENGTH_BITS = 29;

/** Flags of parts. A record whose data contain the magic is split there, and that magic is not stored. */
const Part = { WHOLE: 0, FIRST: 1, MIDDLE: 2, LAST: 3 } as const;

/** Bytes of MXNet's `IRHeader`, `IfQQ`: number of labels, label, id, upper half of the id. */
export const IMAGE_HEADER = 24;
/** Most labels of an image. Detection data have some hundreds. */
const MOST_LABELS = 1 << 20;

interface PartHead extends ChainedPart {
  /** Bytes of its data. */
  readonly length: number;
}

/** Reads the header of a part; `undefined` if there is none. */
export function partAt(view: DataView, at: number): PartHead | undefined {
  if (at + HEADER > view.byteLength) return undefined;
  const word = view.getUint32(at + 4, true);
  const flag = word >>> LENGTH_BITS;
  const isPart = view.getUint32(at, true) === MAGIC && flag <= Part.LAST;
  if (!isPart) return undefined;
  const length = word % 2 ** LENGTH_BITS;
  return {
    length,
    stored: HEADER + 4 * Math.ceil(length / 4),
    begins: flag <= Part.FIRST,
    ends: flag === Part.WHOLE || flag === Part.LAST,
  };
}

/** Returns the bytes before the content of an image record: header and labels; `undefined` if they do not fit it. */
export function contentStart(
  view: DataView,
  at: number,
  length: number,
): number | undefined {
  if (length < IMAGE_HEADER) return undefined;
  const labels = view.getUint32(at, true);
  const start = IMAGE_HEADER + 4 * labels;
  return labels > MOST_LABELS || start > length ? undefined : start;
}

/** Names of this format. */
export const NAMED = /\.rec$/i;
