import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../../src/io/concurrency/event_loop.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { readSlices } from "../../../src/io/read/read_slices.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";

function workUntilOthersTurn(): void {
  while (!shouldYield());
}

/** Counts turns of the event loop while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = () => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work();
  over = true;
  await new Promise((resolve) => setImmediate(resolve));
  return turns;
}

Deno.test("concurrent workers share the time between two turns of the loop", async () => {
  const piece = async () => {
    while (shouldYield()) await yieldToEventLoop();
    workUntilOthersTurn();
  };
  workUntilOthersTurn();
  const turns = await turnsDuring(() =>
    Promise.all(Array.from({ length: 5 }, piece))
  );
  assert.ok(turns >= 5, `${turns} turns for 5 pieces of work`);
});

Deno.test("a synchronous batch still lets timers and signals run", async () => {
  const source = new MemorySource(new Uint8Array(1000));
  const read = source.readAtSync.bind(source);
  source.readAtSync = (into, offset) => {
    workUntilOthersTurn(); // each read takes a full time slice
    return read(into, offset);
  };
  const slices = Array.from(
    { length: 100 },
    () => ({ source: 0, offset: 0, length: 1000 }),
  ).map((slice, i) => ({ ...slice, source: i % 2 })); // alternating sources prevent merged reads
  const turns = await turnsDuring(() =>
    runAsync(readSlices([source, source], slices))
  );
  assert.ok(turns >= 2, `${turns} turns`);

  const large = new MemorySource(new Uint8Array(8 << 20));
  const readLarge = large.readAtSync.bind(large);
  large.readAtSync = (into, offset) => {
    workUntilOthersTurn();
    return readLarge(into, offset);
  };
  const slice = { source: 0, offset: 0, length: 8 << 20 };
  const within = await turnsDuring(() =>
    runAsync(readSlices([large], [slice]))
  );
  assert.ok(within >= 10, `${within} turns within one slice`);
});

Deno.test("messages of a thread arrive within a few turns", async () => {
  // Time of the reply, which may have to wait for a CPU.
  const answer = "onmessage = () => postMessage(Date.now())";
  const worker = new Worker(`data:text/javascript,${answer}`, {
    type: "module",
  });
  let answered: number | undefined;
  worker.onmessage = ({ data }) => answered = data;
  const turnsUntilHeard = async () => {
    const turns: number[] = [];
    answered = undefined;
    worker.postMessage("anybody there?");
    while (answered === undefined) {
      workUntilOthersTurn();
      turns.push(Date.now());
      await yieldToEventLoop();
      await yieldToEventLoop();
    }
    return turns.filter((turn) => turn > answered!).length;
  };
  await turnsUntilHeard(); // waits until the thread has started
  // With setImmediate alone, every second reply takes 13 or 14 turns, regardless of load. On a busy machine some
  // replies do so here too, if the other thread replies before this one waits for it, but never for long.
  const turns: number[] = [];
  let atOnce = 0;
  while (atOnce < 6 && turns.length < 100) {
    turns.push(await turnsUntilHeard());
    atOnce = turns.at(-1)! <= 8 ? atOnce + 1 : 0;
  }
  worker.terminate();
  assert.equal(atOnce, 6, `after ${turns} turns`);
});
