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

/** Counts how often the event loop goes round while `work` goes on. */
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

Deno.test("those who work at the same time share the time between two turns of the loop", async () => {
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

Deno.test("a batch that needs no waiting still lets timers and signals in", async () => {
  const source = new MemorySource(new Uint8Array(1000));
  const read = source.readAtSync.bind(source);
  source.readAtSync = (into, offset) => {
    workUntilOthersTurn(); // each read is as long as may be worked on end
    return read(into, offset);
  };
  const slices = Array.from(
    { length: 100 },
    () => ({ source: 0, offset: 0, length: 1000 }),
  ).map((slice, i) => ({ ...slice, source: i % 2 })); // none are read together
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

Deno.test("what a thread says is heard within a few turns, however they follow each other", async () => {
  const echo = "onmessage = ({ data }) => postMessage(data)";
  const worker = new Worker(`data:text/javascript,${echo}`, { type: "module" });
  let heard = 0;
  worker.onmessage = () => heard++;
  const turnsUntilHeard = async () => {
    const before = heard;
    worker.postMessage("anybody there?");
    for (let turns = 0;; turns++) {
      if (heard > before) return turns;
      workUntilOthersTurn(); // much longer than the thread takes
      await yieldToEventLoop();
      await yieldToEventLoop();
    }
  };
  await turnsUntilHeard(); // it has started
  const turns: number[] = [];
  for (let i = 0; i < 10; i++) turns.push(await turnsUntilHeard());
  worker.terminate();
  assert.ok(Math.max(...turns) <= 5, `after ${turns} turns`);
});
