/**
 * Writes a dataset of generation 3: `WAY DIRECTORY COUNT SIZE…`, like `reference/bags_write.py`; `WAY` is `append` or
 * `appendSync`. Prints as JSON the seconds until everything is written and flushed, and the memory in use after a
 * tenth of the datapoints and at the end.
 *
 * @module
 */
import { DatasetWriter } from "../../src/formats/bags/mod.ts";
import { anonymousMemory } from "../support/memory.ts";
import { windowedBytes } from "../support/windows.ts";

/** Printed result: `memory` in bytes, after a tenth of the datapoints and after all. */
export interface DatasetWriting {
  readonly seconds: number;
  readonly memory: readonly [number, number];
}

const WINDOWS = 64;

const [way, path, count, ...sizes] = Deno.args;
if (way === undefined || path === undefined || sizes.length === 0) {
  throw new Error("Give append or appendSync, DIRECTORY, COUNT and SIZE…");
}
const keys = sizes.map((size, i) => ({
  key: String.fromCharCode("a".charCodeAt(0) + i),
  size: Number(size),
}));
const block = windowedBytes(Math.max(...sizes.map(Number)), WINDOWS);
const datapoints = Array.from(
  { length: WINDOWS },
  (_, i) =>
    Object.fromEntries(
      keys.map(({ key, size }) => [key, block.subarray(i, i + size)]),
    ),
);

const start = performance.now();
const spec = Object.fromEntries(keys.map(({ key }) => [key, "bytes"]));
await using writer = await DatasetWriter.open(path, spec, { encoders: null });
const tenth = Math.ceil(Number(count) / 10);
await writeUntil(tenth);
const early = await anonymousMemory();
await writeUntil(Number(count));
await writer.flush();
const seconds = (performance.now() - start) / 1000;
const memory = [early, await anonymousMemory()] as const;
await writer.close(); // waits for the disk, which Python does not
const writing: DatasetWriting = { seconds, memory };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(writing)));

async function writeUntil(end: number): Promise<void> {
  for (let i = writer.length; i < end; i++) {
    const datapoint = datapoints[i % WINDOWS]!;
    if (way === "append") await writer.write(datapoint);
    else writer.writeSync(datapoint);
  }
}
