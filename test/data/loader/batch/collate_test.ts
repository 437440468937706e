import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import type { NdArray } from "../../../../src/codecs/numpy/mod.ts";
import { BatchMemory } from "../../../../src/data/batch_memory.ts";
import { stackSamples } from "../../../../src/data/loader/batch/stack_samples.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { NumbersDataset } from "../../support/numbers_dataset.ts";
import { indicesOf } from "../../support/batches.ts";

function stack(samples: readonly unknown[]): unknown {
  return stackSamples(samples, new BatchMemory());
}

Deno.test("arrays of one shape become one with a leading dimension", () => {
  const arrays: NdArray[] = [0, 1, 2].map((i) => ({
    dtype: "<i2",
    shape: [2, 1],
    data: new Int16Array([i, -i]),
  }));
  assert.deepEqual(stack(arrays), {
    dtype: "<i2",
    shape: [3, 2, 1],
    data: new Int16Array([0, 0, 1, -1, 2, -2]),
  });
});

Deno.test("single values, complex and text arrays keep their types", () => {
  const single = { dtype: "<f4", shape: [], data: new Float32Array([1.5]) };
  assert.deepEqual(stack([single, single]), {
    dtype: "<f4",
    shape: [2],
    data: new Float32Array([1.5, 1.5]),
  });
  const complex = { dtype: "<c8", shape: [1], data: new Float32Array([1, 2]) };
  assert.deepEqual(stack([complex, complex]), {
    dtype: "<c8",
    shape: [2, 1],
    data: new Float32Array([1, 2, 1, 2]),
  });
  const texts = [
    { dtype: "<U2", shape: [2], data: ["a", "bc"] },
    { dtype: "<U11", shape: [2], data: ["hello world", ""] },
  ];
  assert.deepEqual(stack(texts), {
    dtype: "<U11",
    shape: [2, 2],
    data: ["a", "bc", "hello world", ""],
  });
});

Deno.test("typed arrays and images become arrays, numbers a Float64Array", () => {
  const floats = [new Float32Array([1, 2]), new Float32Array([3, 4])];
  assert.deepEqual(stack(floats), {
    dtype: "<f4",
    shape: [2, 2],
    data: new Float32Array([1, 2, 3, 4]),
  });
  const image = {
    data: new Uint8Array([1, 2, 3, 4, 5, 6]),
    height: 1,
    width: 2,
    channels: 3,
  };
  assert.deepEqual(stack([image, image]), {
    dtype: "|u1",
    shape: [2, 1, 2, 3],
    data: new Uint8Array([1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]),
  });
  assert.deepEqual(stack([1, 2.5, -0]), new Float64Array([1, 2.5, -0]));
});

Deno.test("bytes, texts and other values stay lists, without being copied", () => {
  const bytes = [new Uint8Array([1]), new Uint8Array([2, 3])];
  const stacked = stack(bytes) as Uint8Array[];
  assert.equal(stacked[0], bytes[0]);
  assert.equal(stacked[1], bytes[1]);
  for (
    const list of [
      ["a", "b"],
      [true, false],
      [1n, 2n],
      [null, undefined],
      [new Date(0), new Date(1)],
      [new Map([[1, 2]]), new Map()],
    ]
  ) {
    assert.deepEqual(stack(list), list);
  }
});

Deno.test("objects are stacked by key, lists by position", () => {
  const samples = [0, 1].map((i) => ({
    label: i,
    name: `n${i}`,
    pair: [new Uint8Array([i]), { deep: new Float64Array([i]) }],
  }));
  assert.deepEqual(stack(samples), {
    label: new Float64Array([0, 1]),
    name: ["n0", "n1"],
    pair: [
      [new Uint8Array([0]), new Uint8Array([1])],
      {
        deep: { dtype: "<f8", shape: [2, 1], data: new Float64Array([0, 1]) },
      },
    ],
  });
});

Deno.test("samples that are not alike are rejected, with the difference", () => {
  const f4 = (...shape: number[]): NdArray => ({
    dtype: "<f4",
    shape,
    data: new Float32Array(shape.reduce((a, b) => a * b, 1)),
  });
  const cases: [unknown[], RegExp][] = [
    [[1, "a"], /first is a number and number 1 is a single value/],
    [[1, null], /number 1 is a single value/],
    [
      [f4(2, 3), f4(2, 3), f4(3, 2)],
      /first is <f4 of shape \(2, 3\) and number 2 is <f4 of shape \(3, 2\)/,
    ],
    [
      [f4(1), { dtype: "<i4", shape: [1], data: new Int32Array(1) }],
      /number 1 is <i4/,
    ],
    [[new Int8Array(2), new Int8Array(3)], /shape \(2\).*shape \(3\)/],
    [[[1, 2], [1]], /first has 2 entries and number 1 has 1/],
    [[{ a: 1 }, { b: 1 }], /keys a and number 1 has b/],
    [[{ a: 1 }, { a: 1, b: 1 }], /number 1 has a, b/],
    [
      [{ a: [1] }, { a: ["x"] }],
      /^Cannot stack samples\.a\[0\]: they are not alike/,
    ],
  ];
  for (const [samples, message] of cases) {
    assert.throws(() => stack(samples), {
      name: "DataError",
      code: "bad-batch",
      message,
    });
  }
});

Deno.test("any numbers are restored from their batch", () => {
  const arrays = fc.integer({ min: 0, max: 5 }).chain((length) =>
    fc.array(
      fc.array(fc.float(), { minLength: length, maxLength: length }),
      { minLength: 1, maxLength: 9 },
    )
  );
  fc.assert(fc.property(arrays, (samples) => {
    const floats = samples.map((sample) => new Float32Array(sample));
    const { shape, data } = stack(floats) as NdArray;
    assert.deepEqual(shape, [samples.length, samples[0]!.length]);
    assert.deepEqual(data, new Float32Array(samples.flat()));
  }));
});

Deno.test("a collating function, a module's function, and none", async () => {
  const dataset = new NumbersDataset(5);
  const collate = async (samples: readonly (readonly number[])[]) => {
    await Promise.resolve();
    return samples.map(([index]) => index!).join();
  };
  const own: string[] = [];
  for await (
    const batch of new DataLoader(dataset, { batchSize: 2, collate })
  ) {
    own.push(batch);
  }
  assert.deepEqual(own, ["0,1", "2,3", "4"]);

  const module = import.meta.resolve("../../support/collates.ts");
  for (const numWorkers of [0, 1]) {
    await using columns = new DataLoader<[number, number, number], Int32Array>(
      dataset,
      { batchSize: 3, numWorkers, collate: { module, name: "firstColumn" } },
    );
    const batches: Int32Array[] = [];
    for await (const batch of columns) batches.push(batch);
    assert.deepEqual(batches, [
      new Int32Array([0, 1, 2]),
      new Int32Array([3, 4]),
    ]);

    type Sample = [number, number, number];
    await using lists = new DataLoader<Sample, Sample[]>(dataset, {
      batchSize: 5,
      numWorkers,
      collate: false,
    });
    for await (const batch of lists) {
      assert.deepEqual(batch, [0, 1, 2, 3, 4].map((index) => [index, 0, 0]));
    }
  }
  assert.equal((await indicesOf(new DataLoader(dataset))).length, 5);
});

Deno.test("a thread must not return again what a collating function keeps", async () => {
  const module = import.meta.resolve("../../support/collates.ts");
  await using loader = new DataLoader<[number, number, number], Float32Array>(
    new NumbersDataset(5),
    { numWorkers: 1, collate: { module, name: "keep" } },
  );
  const loop = loader[Symbol.asyncIterator]();
  assert.deepEqual((await loop.next()).value, new Float32Array([1, 2, 3]));
  await assert.rejects(loop.next(), {
    code: "bad-batch",
    message: /Return a copy \(slice\(\)\)/,
  });
});
