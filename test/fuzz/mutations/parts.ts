/** Parses FFRecord files and bags, independently of the project's readers. */
import { crc32 } from "node:zlib";

/** Returns the samples of a valid `.ffr` file; otherwise none. */
export function ffrSamples(bytes: Uint8Array): Uint8Array[] {
  const count = countOf(bytes);
  if (count === undefined) return [];
  const view = viewOf(bytes);
  const starts = Array.from(
    { length: count },
    (_, i) => Number(view.getBigUint64(12 + 4 * count + 8 * i, true)),
  );
  return starts.map((start, i) => bytes.subarray(start, starts[i + 1]));
}

/** Returns the header's number of samples, or `undefined` if the file is too small for it. */
function countOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < 12) return undefined;
  const count = Number(viewOf(bytes).getBigInt64(4, true));
  return count >= 0 && 12 + 12 * count <= bytes.length ? count : undefined;
}

/**
 * Corrects the checksums of a `.ffr` file.
 *
 * @param samples Whether to correct those of samples as well, if their offsets are in the file.
 */
export function sealed(bytes: Uint8Array, samples: boolean): Uint8Array {
  const count = countOf(bytes);
  if (count === undefined) return bytes;
  const copy = bytes.slice();
  const view = viewOf(copy);
  if (samples) {
    ffrSamples(copy).forEach((sample, i) =>
      view.setUint32(12 + 4 * i, crc32(sample), true)
    );
  }
  view.setUint32(0, crc32(copy.subarray(4, 12 + 12 * count)), true);
  return copy;
}

/** Returns the records of a bag whose index is ascending; otherwise `undefined`. */
export function bagRecords(
  bag: Uint8Array,
  index: Uint8Array | undefined,
): { records: Uint8Array[]; generation: 1 | 2 | 3 } | undefined {
  const start = index === undefined && bag.length >= 8
    ? Number(viewOf(bag).getBigUint64(bag.length - 8, true))
    : bag.length;
  if (start > bag.length) return undefined;
  const table = index ?? bag.subarray(start);
  const view = viewOf(table);
  const ends = Array.from(
    { length: Math.floor(table.length / 8) },
    (_, i) => Number(view.getBigUint64(8 * i, true)),
  );
  const generation = index !== undefined ? 3 : ends[0] === 0 ? 1 : 2;
  if (generation === 1) ends.shift();
  if (ends.some((end, i) => end > start || end < (ends[i - 1] ?? 0))) {
    return undefined;
  }
  const records = ends.map((end, i) => bag.subarray(ends[i - 1] ?? 0, end));
  return { records, generation };
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
