/** Subsets and concatenations of datasets, compared with arrays. */
import assert from "node:assert/strict";
import { IndexError } from "../../../src/base/errors.ts";
import fc from "../../support/random.ts";
import {
  BagDataset,
  BatchMemory,
  ConcatDataset,
  Dataset,
  FFRecordDataset,
  type GetOptions,
  PackedFolderDataset,
  RECIPE,
  Subset,
  writeIndexFile,
} from "../../../src/open/data/datasets.ts";
import { goldenCase } from "../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { assertPortable } from "../support/in_thread.ts";
import { ListDataset } from "../support/list_dataset.ts";

const many = goldenCase("ffrecord/plain_many");
const one = goldenCase("ffrecord/plain_one");
const parts = goldenCase("ffrecord/parts_dump");

/** Returns `count` numbers from `first` on, as samples. */
function numbers(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

Deno.test("a subset has the chosen samples, in their order, with repeats", async () => {
  const cases = fc.integer({ min: 1, max: 50 }).chain((length) =>
    fc.record({
      length: fc.constant(length),
      chosen: fc.array(fc.nat(length - 1), { minLength: 1, maxLength: 30 }),
      batch: fc.array(fc.nat(), { maxLength: 20 }),
    })
  );
  await fc.assert(fc.asyncProperty(cases, async ({ length, chosen, batch }) => {
    const whole = new ListDataset(numbers(length, 1000));
    const subset = new Subset(whole, chosen);
    const indices = batch.map((number) => number % chosen.length);
    const options = { seed: 1, memory: new BatchMemory() };
    assert.equal(subset.length, chosen.length);
    assert.deepEqual(
      await subset.get(indices, options),
      indices.map((i) => 1000 + chosen[i]!),
    );
    assert.equal(whole.asked.length, 1); // one read
    assert.equal(whole.options[0], options);
    for (const i of indices) {
      assert.equal(subset.fileOf(i), `/file/${1000 + chosen[i]!}`);
    }
  }));
});

Deno.test("indices of a subset are copied, and checked against its dataset", async () => {
  const whole = new ListDataset(numbers(5));
  const indices = [4, 0];
  const subset = new Subset(whole, indices);
  indices[0] = 1;
  assert.deepEqual(await subset.get([0]), [4]);
  assert.deepEqual(await new Subset(whole, Int16Array.of(3)).get([0]), [3]);
  for (const iterable of [new Set([3, 1]), [3, 1].values()]) {
    const iterated = new Subset(whole, iterable);
    assert.equal(iterated.length, 2);
    assert.deepEqual(await iterated.get([0, 1]), [3, 1]);
  }
  for (const index of [5, -1, 0.5, NaN]) {
    assert.throws(
      () => new Subset(whole, [0, index]),
      (error) =>
        error instanceof IndexError && Object.is(error.index, index) &&
        error.message.includes("/file/0"),
    );
  }
  for (const index of [2, -1, 0.5]) {
    assert.throws(
      () => subset.get([index]),
      (error) =>
        error instanceof IndexError && error.length === 2 &&
        error.message.includes(
          `Cannot read sample ${index} of this subset of /file/0: index out of range`,
        ),
    );
    assert.equal(subset.fileOf(index), undefined);
  }
  const none = new Subset(whole, []);
  assert.equal(none.length, 0);
  assert.throws(() => none.get([0]), /it has no samples/);
  subset.close();
  assert.ok(whole.closed);
});

Deno.test("a subset of a dataset that never ends takes any index", async () => {
  class Endless extends Dataset<number> {
    override readonly length = Infinity;
    override get(indices: readonly number[]): number[] {
      return [...indices];
    }
  }
  const subset = new Subset(new Endless(), [2 ** 40, 3]);
  assert.deepEqual(await subset.get([1, 0]), [3, 2 ** 40]);
});

Deno.test("joined datasets are one, with one read of each for a batch", async () => {
  const cases = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 })
    .filter((lengths) => lengths.some((length) => length > 0)).chain(
      (lengths) =>
        fc.record({
          lengths: fc.constant(lengths),
          batch: fc.array(
            fc.nat(lengths.reduce((sum, length) => sum + length) - 1),
            { maxLength: 20 },
          ),
        }),
    );
  await fc.assert(fc.asyncProperty(cases, async ({ lengths, batch }) => {
    let first = 0;
    const datasets = lengths.map((length) => {
      const part = new ListDataset(numbers(length, first));
      first += length;
      return part;
    });
    const joined = new ConcatDataset(datasets);
    assert.equal(joined.length, first);
    const options = { epoch: 3 };
    assert.deepEqual(await joined.get(batch, options), batch);
    for (const { asked } of datasets) assert.ok(asked.length <= 1);
    const read = datasets.flatMap(({ options }) => options);
    assert.ok(read.every((given) => given === options));
    for (const i of batch) assert.equal(joined.fileOf(i), `/file/${i}`);
    joined.close();
    assert.ok(datasets.every(({ closed }) => closed));
  }));
});

Deno.test("joined datasets name missing samples, and datasets that cannot be joined", async () => {
  const joined = new ConcatDataset([
    new ListDataset(numbers(2)),
    new ListDataset(numbers(3)),
  ]);
  for (const index of [5, -1, 1.5]) {
    await assert.rejects(
      joined.get([0, index]),
      (error) =>
        error instanceof IndexError && error.index === index &&
        error.message.includes("these 2 joined datasets"),
    );
    assert.equal(joined.fileOf(index), undefined);
  }
  assert.throws(() => new ConcatDataset([]), TypeError);
  const endless = Object.assign(new ListDataset([]), {});
  Object.defineProperty(endless, "length", { value: Infinity });
  assert.throws(() => new ConcatDataset([endless]), RangeError);
});

Deno.test("a joined dataset that returns too few or too many samples is rejected", async () => {
  for (const given of [[], [7], [7, 8, 9], "ab", undefined]) {
    class Wrong extends ListDataset<number> {
      override get(): number[] {
        return given as number[];
      }
    }
    const joined = new ConcatDataset([
      new ListDataset([1, 2]),
      new Wrong([3, 4, 5]),
    ]);
    await assert.rejects(joined.get([0, 2, 3]), {
      name: "DataError",
      code: "bad-batch",
    });
    assert.deepEqual(await joined.get([1, 0]), [2, 1]);
  }
});

Deno.test("parts of datasets whose indices are drawn name the file of the drawn sample", () => {
  class Drawn extends ListDataset<number> {
    override fileOf(index: number, options?: GetOptions): string | undefined {
      return options && `${index} in epoch ${options.epoch}`;
    }
  }
  const drawn = () => new Drawn([1, 2, 3]);
  const joined = new ConcatDataset([drawn(), new Subset(drawn(), [2, 0])]);
  assert.equal(joined.fileOf(1, { epoch: 4 }), "1 in epoch 4");
  assert.equal(joined.fileOf(3, { epoch: 5 }), "2 in epoch 5");
  assert.equal(joined.fileOf(9, { epoch: 5 }), undefined);
});

Deno.test("a joined read ends when all its reads have ended, also after an error", async () => {
  let ended = false;
  class Slow extends ListDataset<number> {
    override get(indices: readonly number[]): number[] {
      return super.get(indices);
    }
  }
  class Waiting extends Dataset<number> {
    override readonly length = 1;
    override async get(): Promise<number[]> {
      await new Promise((resolve) => setTimeout(resolve, 10));
      ended = true;
      return [1];
    }
  }
  class Failing extends Dataset<number> {
    override readonly length = 1;
    override get(): number[] {
      throw new Error("it is gone");
    }
  }
  const joined = new ConcatDataset<number>([
    new Slow([7]),
    new Failing(),
    new Waiting(),
  ]);
  await assert.rejects(joined.get([2, 1, 0]), /it is gone/);
  assert.ok(ended);
});

Deno.test("parts of files and joined files have the samples of those files", async () => {
  const first = await FFRecordDataset.open(one.path);
  const second = await FFRecordDataset.open(parts.path);
  using joined = new ConcatDataset([first, second]);
  const memory = new BatchMemory();
  const batch = await joined.get([3, 0, 5, 3], { memory });
  assert.deepEqual(batch, [
    ...await second.get([2]),
    ...await first.get([0]),
    ...await second.get([4, 2]),
  ]);
  for (const { buffer } of batch) assert.ok(memory.buffers.includes(buffer));
  assert.equal(joined.fileOf(0), one.path);
  assert.equal(joined.fileOf(1), second.fileOf(0));
  await assert.rejects(joined.get([joined.length]), IndexError);
});

Deno.test("other threads make subsets and joined datasets of any datasets", async () => {
  const whole = await FFRecordDataset.open(many.path);
  const folder = await PackedFolderDataset.open(
    goldenCase("ffrecord/packed_tree").path,
  );
  const bags = await BagDataset.open(
    `${REPOSITORY}test/golden/granular3/sharded/data`,
    { decoders: null },
  );
  using joined = new ConcatDataset<unknown>([
    new Subset(whole, [5, 7, 1000]),
    folder,
    new Subset(new ConcatDataset<unknown>([bags, whole]), [2, 0]),
  ]);
  await assertPortable(joined, [joined.length - 1, 0, 1, 4, 2]);

  const own = new ListDataset([1]);
  assert.throws(
    () => new Subset(own, [0])[RECIPE](),
    /The dataset of Subset cannot be sent/,
  );
  assert.throws(
    () => new ConcatDataset<unknown>([whole, own])[RECIPE](),
    /Dataset 1 of ConcatDataset cannot be sent/,
  );
});

Deno.test("a subset is read from its file", async () => {
  await withTempDir(async (dir) => {
    using whole = await FFRecordDataset.open(many.path);
    const path = `${dir}/val.txt`;
    await writeIndexFile(path, [9, 3, 9], { comments: ["made by a test"] });
    const subset = await Subset.fromFile(whole, path);
    assert.deepEqual(
      await subset.get([0, 1, 2]),
      await whole.get([9, 3, 9]),
    );
    await assertPortable(subset, [1, 0]);
    await writeIndexFile(path, [0, whole.length]);
    await assert.rejects(Subset.fromFile(whole, path), {
      code: "bad-indices",
      path,
      sample: whole.length,
    });
  });
});
