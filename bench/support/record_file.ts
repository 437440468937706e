import { crc32 } from "node:zlib";

const CHUNK = 4 * 1024 * 1024;

/**
 * Writes an FFRecord file and waits until it is on the disk, so that writing it back does not run
 * into the measurement.
 *
 * @param sample Gives the samples in order; each is used before the next is asked for.
 * @returns The byte offset of each sample.
 */
export function writeRecordFileSync(
  path: string,
  count: number,
  sample: (index: number) => Uint8Array,
): BigInt64Array {
  // u32 CRC of the rest, i64 count, u32 × count CRCs, i64 × count offsets, samples.
  const header = new DataView(new ArrayBuffer(12 + 12 * count));
  const offsets = new BigInt64Array(count);
  using file = Deno.openSync(path, { write: true, createNew: true });
  file.seekSync(header.byteLength, Deno.SeekMode.Start);
  const chunk = new Uint8Array(CHUNK);
  let used = 0;
  let end = header.byteLength;
  for (let i = 0; i < count; i++) {
    const bytes = sample(i);
    if (used + bytes.length > CHUNK) {
      writeAllSync(file, chunk.subarray(0, used));
      used = 0;
    }
    if (bytes.length > CHUNK) {
      writeAllSync(file, bytes);
    } else {
      chunk.set(bytes, used);
      used += bytes.length;
    }
    header.setUint32(12 + 4 * i, crc32(bytes), true);
    header.setBigInt64(12 + 4 * count + 8 * i, BigInt(end), true);
    offsets[i] = BigInt(end);
    end += bytes.length;
  }
  writeAllSync(file, chunk.subarray(0, used));
  header.setBigInt64(4, BigInt(count), true);
  const checked = new Uint8Array(header.buffer, 4);
  header.setUint32(0, crc32(checked), true);
  file.seekSync(0, Deno.SeekMode.Start);
  writeAllSync(file, new Uint8Array(header.buffer));
  file.syncSync();
  return offsets;
}

function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
}
