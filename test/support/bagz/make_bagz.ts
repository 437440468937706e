/** Makes Bagz files, by the README of Bagz. */
import { zstdCompressSync } from "node:zlib";

/** Returns a file with the limits at its end. */
export function bagzBytes(
  records: readonly Uint8Array[],
  isCompressed = true,
): Uint8Array {
  const { stored, limits } = bagzParts(records, isCompressed);
  const bytes = new Uint8Array(stored.length + limits.length);
  bytes.set(stored);
  bytes.set(limits, stored.length);
  return bytes;
}

/** Returns the records, and the separate file of their limits. */
export function bagzParts(
  records: readonly Uint8Array[],
  isCompressed = true,
): { readonly stored: Uint8Array; readonly limits: Uint8Array } {
  const packed = records.map((record) =>
    isCompressed && record.length > 0
      ? new Uint8Array(
        zstdCompressSync(record, sized(record.length)),
      )
      : record
  );
  const stored = new Uint8Array(
    packed.reduce((sum, { length }) => sum + length, 0),
  );
  const limits = new DataView(new ArrayBuffer(8 * records.length));
  let end = 0;
  for (const [i, record] of packed.entries()) {
    stored.set(record, end);
    end += record.length;
    limits.setBigUint64(8 * i, BigInt(end), true);
  }
  return { stored, limits: new Uint8Array(limits.buffer) };
}

/** Options for frames that state the size of their content, like those of the original library. */
function sized(pledgedSrcSize: number): object {
  return { pledgedSrcSize };
}
