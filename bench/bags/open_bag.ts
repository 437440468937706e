/**
 * Opens a bag and prints how much memory that took, as JSON: `BAG cached` or `BAG uncached`. Run with V8's
 * `--expose-gc`, so that garbage does not count as memory of the reader.
 *
 * @module
 */
import { BagReader } from "../../src/formats/bags/mod.ts";
import { anonymousMemory } from "../support/memory.ts";

/** Printed result: growth in bytes, time in ms. */
export interface BagOpening {
  readonly taken: number;
  readonly heap: number;
  readonly anonymous: number;
}

async function snapshot() {
  (globalThis as unknown as { gc(): void }).gc();
  return {
    heap: Deno.memoryUsage().heapUsed,
    anonymous: await anonymousMemory(),
  };
}

const [path, index] = Deno.args;
if (path === undefined) throw new Error("Which bag?");
const cacheIndex = index !== "uncached";
(await BagReader.open(path, { cacheIndex: false })).close(); // compiles code
const before = await snapshot();
const start = performance.now();
using bag = await BagReader.open(path, { cacheIndex });
bag.getSync(bag.length - 1);
const taken = performance.now() - start;
const after = await snapshot();
const opening: BagOpening = {
  taken,
  heap: after.heap - before.heap,
  anonymous: after.anonymous - before.anonymous,
};
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(opening)));
