import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { HostileDataset } from "../support/hostile_dataset.ts";

/** Waits until a condition holds; fails if it never does. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    assert.ok(i < 20_000, "It never came to hold");
    await setTimeout(5);
  }
}

function counted() {
  const counts = new Int32Array(new SharedArrayBuffer(16));
  return { counts, dataset: new HostileDataset("throw", -1, counts) };
}

for (
  const [numWorkers, prefetchFactor] of [[0, 1], [0, 3], [1, 1], [1, 3], [
    3,
    2,
  ]] as const
) {
  Deno.test(`no more than the limit is loaded ahead: ${numWorkers} workers, ${prefetchFactor} each`, async () => {
    const { counts, dataset } = counted();
    await using loader = new DataLoader(dataset, {
      batchSize: 1,
      numWorkers,
      prefetchFactor,
    });
    const ahead = Math.max(numWorkers, 1) * prefetchFactor;
    let taken = 0;
    for await (const _ of loader) {
      taken++;
      // While the caller works, as many batches as allowed are loaded, and no more.
      await until(() => counts[1]! >= taken + ahead);
      await setTimeout(20);
      assert.equal(counts[0], taken + ahead);
      if (taken === 5) break;
    }
    const begun = counts[0];
    await setTimeout(20);
    assert.equal(counts[0], begun); // an abandoned loop loads nothing more
    assert.equal(counts[3], numWorkers); // each thread has closed its dataset
  });
}

Deno.test("threads persist between loops on request", async () => {
  for (const persistentWorkers of [true, false]) {
    const { counts, dataset } = counted();
    const loader = new DataLoader<unknown, number>(dataset, {
      batchSize: 10,
      numWorkers: 1,
      persistentWorkers,
      collate: {
        module: import.meta.resolve("../support/collates.ts"),
        name: "numberInThread",
      },
    });
    const first: number[] = [];
    for (let loop = 0; loop < 3; loop++) {
      for await (const number of loader) {
        if (loader.step === 1) first.push(number);
      }
    }
    assert.deepEqual(first, persistentWorkers ? [1, 5, 9] : [1, 1, 1]);
    assert.equal(counts[3], persistentWorkers ? 0 : 3); // datasets closed
    await loader.close();
    await loader.close();
    assert.equal(counts[3], persistentWorkers ? 1 : 3);
    for await (const number of loader) {
      assert.equal(number, 1); // a new thread starts at 1
      break;
    }
    await loader.close();
  }
});

Deno.test("requests of an abandoned loop do not reach the next one", async () => {
  const { dataset } = counted();
  await using loader = new DataLoader(dataset, {
    batchSize: 3,
    shuffle: true,
    numWorkers: 2,
    persistentWorkers: true,
  });
  const alone = new DataLoader(dataset, { batchSize: 3, shuffle: true });
  for (let loop = 0; loop < 20; loop++) {
    const expected = alone[Symbol.asyncIterator]();
    for await (const batch of loader) {
      assert.deepEqual(batch, (await expected.next()).value);
      if (loader.step > loop % 4) break;
    }
    await expected.return();
  }
});

Deno.test("an abort ends a loop at once, with the signal's reason", async () => {
  for (const numWorkers of [0, 1]) {
    const abort = new AbortController();
    const { signal } = abort;
    const dataset = new HostileDataset("wait", 2);
    const loader = new DataLoader(dataset, { numWorkers, signal });
    const reason = new Error("enough");
    const seen: unknown[] = [];
    await assert.rejects(async () => {
      for await (const batch of loader) {
        seen.push(...batch);
        if (seen.length === 2) globalThis.setTimeout(() => abort.abort(reason));
      }
    }, reason);
    assert.deepEqual(seen, [0, 1]);
    assert.deepEqual([loader.epoch, loader.step], [0, 2]);
    await assert.rejects(loader[Symbol.asyncIterator]().next(), reason);
    await loader.close();
  }
});

Deno.test("an abort while the caller works is noticed before the next batch", async () => {
  for (const numWorkers of [0, 1]) {
    const abort = new AbortController();
    const { dataset } = counted();
    const loader = new DataLoader(dataset, {
      numWorkers,
      signal: abort.signal,
    });
    let count = 0;
    await assert.rejects(async () => {
      for await (const _ of loader) {
        count++;
        abort.abort();
      }
    }, { name: "AbortError" });
    assert.equal(count, 1);
    await loader.close();
  }
});

Deno.test("a loop can be abandoned even if the dataset hangs and ignores the signal", async () => {
  for (const numWorkers of [0, 1]) {
    const dataset = new HostileDataset("wait-for-ever", 1);
    await using loader = new DataLoader(dataset, { numWorkers });
    for await (const batch of loader) {
      assert.deepEqual([...batch], [0]);
      await setTimeout(50); // by now the next one has begun
      break;
    }
    assert.deepEqual([loader.epoch, loader.step], [0, 1]);
  }
});
