import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";

/** Writes an FFRecord file of so many samples of one size. */
export function writeSamplesSync(
  path: string,
  count: number,
  size: number,
): void {
  // Every sample is another window of one block: cheap to make, yet no two are equal.
  const block = new Uint8Array(size + count);
  for (let i = 0; i < block.length; i++) block[i] = Math.imul(i, i) >> 7;
  using writer = FFRecordWriter.openSync(path, { count });
  for (let i = 0; i < count; i++) writer.writeSync(block.subarray(i, i + size));
  writer.closeSync();
}
