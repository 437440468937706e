import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import { windowedBytes } from "./windows.ts";

/** Writes an FFRecord file of `count` samples of one size. */
export function writeSamplesSync(
  path: string,
  count: number,
  size: number,
): void {
  const block = windowedBytes(size, count);
  using writer = FFRecordWriter.openSync(path, { count });
  for (let i = 0; i < count; i++) writer.writeSync(block.subarray(i, i + size));
  writer.closeSync();
}
