import assert from "node:assert/strict";
import type { Datapoint } from "../../../../src/formats/bags/read/selection.ts";
import fc from "../../../support/random.ts";
import {
  BagDataset,
  BatchMemory,
  DataError,
  RECIPE,
} from "../../../../src/open/data/datasets.ts";
import {
  DatasetReader,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { REPOSITORY } from "../../../support/paths.ts";
import { assertPortable } from "../../../data/support/in_thread.ts";

const USER = new URL(
  "../../../data/support/custom_dataset.ts",
  import.meta.url,
);
const golden = (name: string) => `${REPOSITORY}test/golden/${name}/data`;
const SHARDED = golden("granular3/sharded");
const LISTS = golden("granular2/lists");

Deno.test("any batch equals its datapoints one by one, in all generations", async () => {
  for (
    const path of [
      `${REPOSITORY}test/golden/granular/sharded/shards`,
      golden("granular2/sharded"),
      SHARDED,
      LISTS,
    ]
  ) {
    using reader = await ShardedDatasetReader.open(path, { decoders: null });
    using dataset = await BagDataset.open(path, { decoders: null });
    assert.equal(dataset.length, reader.length);
    assert.deepEqual(dataset.spec, reader.spec);
    const indices = fc.array(fc.nat(dataset.length - 1), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(indices, async (indices) => {
        const expected = indices.map((i) => reader.getSync(i));
        assert.deepEqual(await dataset.get(indices), expected);
        const memory = new BatchMemory();
        assert.deepEqual(await dataset.get(indices, { memory }), expected);
        assert.equal(memory.buffers.length, 1);
      }),
      { numRuns: 30 },
    );
  }
});

Deno.test("values are decoded, a mask selects them, and 'process' makes samples of them", async () => {
  using reader = await ShardedDatasetReader.open(LISTS);
  using dataset = await BagDataset.open(LISTS, { mask: ["bar"] });
  const { bar } = await reader.get(1);
  assert.deepEqual(await dataset.get([1]), [{ bar }]);
  using lengths = await BagDataset.open(LISTS, {
    mask: { bar: { start: 0, stop: 1 } },
    process: (datapoints, indices) =>
      datapoints.map(({ bar }, i) => [indices[i], (bar as []).length]),
  });
  const count = Math.min(1, (bar as []).length);
  assert.deepEqual(await lengths.get([1]), [[1, count]]);
  await assert.rejects(BagDataset.open(LISTS, { mask: ["nope"] }), {
    code: "unknown-key",
  });

  class Keys extends BagDataset<string> {
    protected override process(
      indices: readonly number[],
      datapoints: readonly Datapoint[],
    ): string[] {
      return datapoints.map((datapoint, i) =>
        `${indices[i]} ${Object.keys(datapoint)}`
      );
    }
  }
  using keys: Keys = await Keys.open(LISTS, { mask: ["seq", "bar"] });
  const inOrder = reader.keys.filter((key) => key === "seq" || key === "bar");
  assert.deepEqual(await keys.get([1, 0]), [`1 ${inOrder}`, `0 ${inOrder}`]);
  assert.throws(
    () => keys[RECIPE](),
    /^DataError: Cannot send Keys to worker threads: it extends BagDataset/,
  );
});

Deno.test("another thread makes the same dataset, with a module's decoders", async () => {
  using some = await BagDataset.open(SHARDED, {
    decoders: null,
    shardStart: 1,
    shardStep: 2,
    cacheIndex: false,
  });
  await assertPortable(some, [some.length - 1, 0]);
  using decoded = await BagDataset.open(LISTS, { mask: ["bar", "seq"] });
  await assertPortable(decoded, [1, 0]);
  using own = await BagDataset.open<string>(LISTS, {
    decoders: { module: USER, name: "lengths" },
    mask: { bar: true },
    process: { module: USER, name: "listKeys" },
  });
  assert.deepEqual(await own.get([0]), ["bar"]);
  await assertPortable(own, [1, 0]);
  using lengths = await BagDataset.open(LISTS, {
    decoders: { module: USER, name: "lengths" },
  });
  const [{ bar } = {}] = await lengths.get([0]);
  assert.ok((bar as unknown[]).every((value) => typeof value === "number"));
  await assertPortable(lengths, [1, 0]);
});

Deno.test("the error says why another thread cannot make a dataset", async () => {
  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  using decoding = await BagDataset.open(LISTS, {
    decoders: { utf8: (bytes) => bytes.length },
  });
  assert.throws(
    () => decoding[RECIPE](),
    isRefusal(/BagDataset is opened with .*'decoders'\) \(its 'utf8'/),
  );
  using inline = await BagDataset.open(LISTS, { process: (all) => all });
  assert.throws(() => inline[RECIPE](), isRefusal(/'process' of BagDataset/));
});

Deno.test("a dataset of a reader equals that of its path", async () => {
  using given = new BagDataset(await DatasetReader.open(LISTS), ["bar"]);
  assert.deepEqual(Object.keys((await given.get([0]))[0]!), ["bar"]);
  await assertPortable(given, [1, 0]);
});
