import assert from "node:assert/strict";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { HostileDataset } from "../support/hostile_dataset.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";

const ENDED = {
  name: "TypeError",
  message: /Cannot continue this loop .* closed/,
};

type Loader = DataLoader<unknown, unknown>;

/** Actions that end the current loop. */
const ENDS: Readonly<Record<string, (loader: Loader) => unknown>> = {
  "close": (loader) => loader.close(),
  "setStep": (loader) => loader.setStep(3),
  "load": (loader) => loader.load(loader.save()),
  "another loop": (loader) => loader[Symbol.asyncIterator]().next(),
};

for (const [name, end] of Object.entries(ENDS)) {
  for (const numWorkers of [0, 1]) {
    for (
      const persistentWorkers of numWorkers === 0 ? [false] : [false, true]
    ) {
      const how = `${numWorkers} workers, kept: ${persistentWorkers}`;
      Deno.test(`a waiter for a batch is notified that ${name} ended the loop: ${how}`, async () => {
        const counts = new Int32Array(new SharedArrayBuffer(16));
        const dataset = new HostileDataset("wait", 1, counts);
        await using loader: Loader = new DataLoader<unknown, unknown>(dataset, {
          numWorkers,
          persistentWorkers,
        });
        const loop = loader[Symbol.asyncIterator]();
        await loop.next();
        const waiting = assert.rejects(loop.next(), ENDED);
        while (Atomics.load(counts, 0) < 2) { // wait until the second batch has begun
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await end(loader);
        await waiting;
        assert.equal((await loop.next()).done, true);
      });
    }
  }
}

for (const numWorkers of [0, 1]) {
  Deno.test(`a loop that is starting ends with the loader: ${numWorkers} workers`, async () => {
    const loader = new DataLoader(new NumbersDataset(10), { numWorkers });
    const loop = loader[Symbol.asyncIterator]();
    const beginning = assert.rejects(loop.next(), ENDED);
    await loader.close();
    await beginning;
    assert.equal((await loop.next()).done, true);
  });
}

Deno.test("a waiter for a dataset that never responds is notified of the end as well", async () => {
  class Deaf extends NumbersDataset {
    override get(): never {
      return new Promise(() => {}) as never;
    }
  }
  const loader = new DataLoader(new Deaf(10));
  const waiting = assert.rejects(loader[Symbol.asyncIterator]().next(), ENDED);
  await new Promise((resolve) => setTimeout(resolve));
  await loader.close();
  await waiting;
});
