/**
 * Opens an FFRecord file `TIMES` times and prints times and memory as JSON: `FFR TIMES`. Run with V8's `--expose-gc`,
 * so that garbage does not count as memory of the reader.
 */
import { FFRecordReader } from "../../src/formats/ffrecord/mod.ts";
import { anonymousMemory } from "../support/memory.ts";

/** Printed result: times in ms, growth in bytes while the first reader was open. */
export interface RecordFileOpening {
  readonly taken: number[];
  readonly heap: number;
  readonly anonymous: number;
}

/** Opens the file and reads its last sample, so that an index built on first use counts as well. */
async function open(path: string) {
  const reader = await FFRecordReader.open(path);
  await reader.readOne(reader.length - 1);
  return reader;
}

async function snapshot() {
  (globalThis as unknown as { gc(): void }).gc();
  return {
    heap: Deno.memoryUsage().heapUsed,
    anonymous: await anonymousMemory(),
  };
}

const [path, times] = Deno.args;
if (path === undefined) throw new Error("Which file?");
const taken: number[] = [];
let heap = 0;
let anonymous = 0;
for (let i = 0; i < Number(times); i++) {
  const before = await snapshot();
  const start = performance.now();
  const reader = await open(path);
  taken.push(performance.now() - start);
  const after = await snapshot();
  if (i === 0) {
    heap = after.heap - before.heap;
    anonymous = after.anonymous - before.anonymous;
  }
  reader.close();
}
const opening: RecordFileOpening = { taken, heap, anonymous };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(opening)));
