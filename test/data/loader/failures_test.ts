import assert from "node:assert/strict";
import { FormatError } from "../../../src/base/errors.ts";
import { BatchError, DataLoader } from "../../../src/open/data/mod.ts";
import { type Deed, HostileDataset } from "../support/hostile_dataset.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";
import { Dataset } from "../../../src/data/dataset.ts";
import { Epochs } from "../../../src/open/data/mod.ts";
import { RECIPE } from "../../../src/data/recipe.ts";

/** Loops over batches of 4, of which the third has a bad sample, 10. */
async function failureOf(
  deed: Deed,
  numWorkers: number,
): Promise<{ error: unknown; before: number; loader: DataLoader<unknown> }> {
  const dataset = new HostileDataset(deed, 10);
  const loader = new DataLoader<unknown>(dataset, {
    batchSize: 4,
    numWorkers,
    persistentWorkers: numWorkers > 0,
  });
  let before = 0;
  try {
    for await (const _ of loader) before++;
  } catch (error) {
    return { error, before, loader };
  }
  throw new Error("It did not fail");
}

for (const numWorkers of [0, 2]) {
  const where = `${numWorkers} workers`;

  Deno.test(`an error of a dataset names batch, sample and file: ${where}`, async () => {
    const { error, before, loader } = await failureOf("throw", numWorkers);
    assert.equal(before, 2);
    assert.ok(error instanceof BatchError);
    assert.equal(error.name, "BatchError");
    assert.equal(error.code, "sample-failed");
    assert.deepEqual([error.epoch, error.step], [0, 2]);
    assert.deepEqual(error.indices, [8, 9, 10, 11]);
    assert.equal(error.sample, 10);
    assert.equal(error.path, "file_10");
    assert.equal(error.worker !== undefined, numWorkers > 0);
    assert.equal(
      error.message,
      "Cannot load batch 2 of epoch 0 (samples 8, 9, 10, 11): sample 10 of file_10 cannot be loaded: no such luck",
    );
    const { cause } = error;
    assert.ok(cause instanceof RangeError);
    assert.equal(cause.message, "no such luck");
    assert.match(cause.stack!, /hostile_dataset\.ts/);
    assert.ok(cause.cause instanceof FormatError);
    assert.equal(cause.cause.code, "too-large");
    assert.equal(cause.cause.offset, 7);

    // The loader remains usable: for the rest of the epoch, or for the next one.
    assert.deepEqual([loader.epoch, loader.step], [0, 2]);
    loader.setStep(3);
    const rest: unknown[] = [];
    for await (const batch of loader) rest.push(...batch as Float64Array);
    assert.equal(rest.length, 28);
    assert.equal(rest[0], 12);
    await assert.rejects(async () => {
      for await (const _ of loader);
    }, { code: "sample-failed", epoch: 1, step: 2 });
    await loader.close();
  });

  Deno.test(`the sample is the loader's, whatever the error says: ${where}`, async () => {
    const { error, loader } = await failureOf("throw-fact", numWorkers);
    assert.ok(error instanceof BatchError);
    assert.equal(error.sample, 10);
    assert.ok(error.cause instanceof FormatError);
    assert.equal(error.cause.sample, 3);
    assert.equal(error.cause.path, "the.ffr");
    await loader.close();
  });

  Deno.test(`a thrown value that is not an error is reported: ${where}`, async () => {
    const { error, loader } = await failureOf("throw-text", numWorkers);
    assert.ok(error instanceof BatchError);
    assert.match(error.message, /: not an error at all$/);
    await loader.close();
  });

  Deno.test(`an error of a whole batch names no sample: ${where}`, async () => {
    const { error, loader } = await failureOf("fail-in-batches", numWorkers);
    assert.ok(error instanceof BatchError);
    assert.equal(error.code, "sample-failed");
    assert.equal(error.sample, undefined);
    assert.match(error.message, /only together/);
    await loader.close();
  });

  Deno.test(`a dataset that returns too few samples: ${where}`, async () => {
    const { error, loader } = await failureOf("too-few", numWorkers);
    assert.ok(error instanceof BatchError);
    assert.equal(error.code, "bad-batch");
    assert.match(error.message, /HostileDataset\.get returned 0 samples/);
    await loader.close();
  });

  Deno.test(`samples that cannot be stacked: ${where}`, async () => {
    const { error, loader } = await failureOf("function", numWorkers);
    assert.ok(error instanceof BatchError);
    assert.equal(error.code, "bad-batch");
    assert.match(error.message, /: Cannot stack samples: they are not alike/);
    await loader.close();
  });

  Deno.test(`an error of a collating function is reported: ${where}`, async () => {
    const module = import.meta.resolve("../support/collates.ts");
    await using loader = new DataLoader(new NumbersDataset(8), {
      batchSize: 4,
      numWorkers,
      collate: { module, name: "refuse" },
    });
    await assert.rejects(
      loader[Symbol.asyncIterator]().next(),
      (error: unknown) => {
        assert.ok(error instanceof BatchError);
        assert.equal(error.code, "bad-batch");
        assert.equal(error.step, 0);
        assert.ok(error.cause instanceof SyntaxError);
        assert.match(error.message, /I refuse these 4 samples/);
        return true;
      },
    );
  });
}

Deno.test("if samples are drawn, an error names the file of the drawn one", async () => {
  const drawn = new Epochs(new HostileDataset("throw", 10), { length: 40 });
  await using loader = new DataLoader<unknown>(drawn, { seed: 3 });
  await assert.rejects(
    async () => {
      for await (const _ of loader);
    },
    { name: "BatchError", code: "sample-failed", path: "file_10" },
  );
});

Deno.test("values that cannot pass between threads are reported", async () => {
  const dataset = new HostileDataset("function", 1);
  await using loader = new DataLoader<unknown, unknown[]>(dataset, {
    batchSize: 2,
    numWorkers: 1,
    collate: false,
  });
  await assert.rejects(loader[Symbol.asyncIterator]().next(), {
    name: "BatchError",
    code: "bad-batch",
    message: /cannot pass from its thread/,
  });
});

Deno.test("an invalid index of a batch sampler is reported", async () => {
  for (const indices of [[3, 40], [-1], [0.5], [], "12" as never]) {
    const batchSampler = {
      length: 1,
      order: () => ({ length: 1, at: () => indices }),
    };
    for (const numWorkers of [0, 1]) {
      await using loader = new DataLoader(new NumbersDataset(40), {
        batchSampler,
        numWorkers,
      });
      await assert.rejects(loader[Symbol.asyncIterator]().next(), {
        name: "DataError",
        code: "bad-batch",
      });
    }
  }
});

Deno.test("a thread that cannot start reports why", async () => {
  const module = import.meta.resolve("../support/collates.ts");
  const dataset = new NumbersDataset(8);
  for (
    const [options, message] of [
      [
        { workerInit: { module, name: "failToInit" } },
        /in the loader's thread 0: thread 0 shall not start/,
      ],
      [{ collate: { module, name: "missing" } }, /has no export 'missing'/],
      [{ workerInit: new URL("./missing.ts", import.meta.url) }, /missing\.ts/],
    ] as const
  ) {
    await using loader = new DataLoader<unknown, unknown>(dataset, {
      numWorkers: 1,
      ...options,
    });
    for (let i = 0; i < 2; i++) { // the second loop starts new threads
      await assert.rejects(loader[Symbol.asyncIterator]().next(), {
        name: "DataError",
        code: "worker-failed",
        message,
      });
    }
  }
});

Deno.test("workerInit is called in each thread, with the thread's index", async () => {
  const module = import.meta.resolve("../support/collates.ts");
  await using loader = new DataLoader(new NumbersDataset(4), {
    numWorkers: 2,
    workerInit: { module, name: "noteInit" },
    collate: { module, name: "initialised" },
  });
  const workers: unknown[] = [];
  for await (const worker of loader) workers.push(worker);
  assert.deepEqual([...new Set(workers)].toSorted(), [0, 1]);
});

Deno.test("threads whose dataset has another length are rejected", async () => {
  const dataset = new NumbersDataset(8);
  await using loader = new DataLoader(dataset, { numWorkers: 1 });
  const other = new NumbersDataset(9);
  Object.defineProperty(other, "length", { value: 8 });
  other[RECIPE] = () => new NumbersDataset(9)[RECIPE]();
  await using wrong = new DataLoader(other, { numWorkers: 1 });
  await assert.rejects(wrong[Symbol.asyncIterator]().next(), {
    code: "worker-failed",
    message: /9 samples there and 8 here/,
  });
  assert.equal(loader.length, 8);
});

Deno.test("a thread that cannot start closes its dataset", async () => {
  const module = import.meta.resolve("../support/collates.ts");
  const counts = new Int32Array(new SharedArrayBuffer(16));
  const dataset = new HostileDataset("throw", -1, counts);
  await using loader = new DataLoader<unknown, unknown>(dataset, {
    numWorkers: 1,
    collate: { module, name: "missing" },
  });
  const loop = loader[Symbol.asyncIterator]();
  await assert.rejects(loop.next(), { code: "worker-failed" });
  assert.equal(counts[3], 1);
});

Deno.test("datasets that threads cannot make are rejected at once", () => {
  class Own extends Dataset<number> {
    override readonly length = 3;
    override get(indices: readonly number[]): readonly number[] {
      return indices;
    }
  }
  const notPortable = { name: "DataError", code: "not-portable" };
  const options = { numWorkers: 1 };
  assert.throws(() => new DataLoader(new Own(), options), {
    ...notPortable,
    message: /send a Own .* cannot make it.*datasetFrom/,
  });
  const plain = { length: 1, get: () => [1] } as unknown as Dataset<number>;
  assert.throws(() => new DataLoader(plain, options), notPortable);
  const collate = (samples: readonly unknown[]) => samples.length;
  assert.throws(
    () => new DataLoader(new NumbersDataset(3), { ...options, collate }),
    { ...notPortable, message: /option 'collate'/ },
  );
});
