/** Sources behave like granular's, according to the description of each. */
import assert from "node:assert/strict";
import { IndexError } from "../../../src/base/errors.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { Dataset } from "../../../src/data/dataset.ts";
import { RECIPE } from "../../../src/data/recipe.ts";
import {
  Epochs,
  Interleave,
  Mix,
  Sample,
  Transform,
  Truncate,
} from "../../../src/open/data/mod.ts";
import { ListDataset, range } from "../../support/list_dataset.ts";

const numbers = new ListDataset(range(0, 10));
const letters = new ListDataset([..."abcdefghij"]);

Deno.test("Truncate has the first samples, and repeats them", async () => {
  const source = new Truncate(numbers, 5);
  assert.equal(source.length, 5);
  assert.deepEqual(
    await source.get(range(0, 10)),
    [0, 1, 2, 3, 4, 0, 1, 2, 3, 4],
  );
  assert.equal(new Truncate(numbers, 50).length, 10);
  const endless = new Truncate(new Epochs(numbers, { shuffle: false }), 12);
  assert.equal(endless.length, 12);
  assert.deepEqual(await endless.get([9, 10, 11, 12]), [9, 0, 1, 0]);
});

Deno.test("Interleave takes one sample of each source, alternating", async () => {
  const source = new Interleave<number | string>([numbers, letters]);
  const output = await source.get(range(0, 20));
  assert.deepEqual(output.filter((_, step) => step % 2 === 0), range(0, 10));
  assert.equal(
    output.filter((_, step) => step % 2 === 1).join(""),
    "abcdefghij",
  );
});

Deno.test("Interleave ends where a source has no further sample", async () => {
  const cases: [lengths: number[], length: number][] = [
    [[10, 10], 20],
    [[2, 5], 4], // step 4 would be the third sample of the first source
    [[5, 2], 5], // step 5 would be the third sample of the second source
    [[3, 3, 1], 5],
    [[0, 4], 0],
  ];
  for (const [lengths, length] of cases) {
    const source = new Interleave(
      lengths.map((count) => new ListDataset(range(0, count))),
    );
    assert.equal(source.length, length);
    await source.get(range(0, length));
    await assert.rejects(source.get([length]), IndexError);
  }
  const endless = new Interleave([new Epochs(numbers), new Sample(numbers)]);
  assert.equal(endless.length, Infinity);
});

Deno.test("Mix draws sources by their weights, and reads the same step", async () => {
  const first = new Sample<number | string>(numbers, { seed: 1 });
  const second = new Sample<number | string>(letters, { seed: 2 });
  const source = new Mix([first, second], [0.2, 0.8]);
  assert.equal(source.length, Infinity);
  const steps = range(0, 20_000);
  const output = await source.get(steps);
  const [asFirst, asSecond] = [await first.get(steps), await second.get(steps)];
  assert.ok(
    output.every((value, i) => value === asFirst[i] || value === asSecond[i]),
  );
  const share = output.filter((value) => typeof value === "number").length /
    steps.length;
  assert.ok(Math.abs(share - 0.2) < 0.01, `${share}`); // over three standard deviations
});

Deno.test("a Mix and its Samples with the same seed draw independently", async () => {
  const source = new Mix<number | string>(
    [new Sample<number | string>(numbers), new Sample(letters)],
    [1, 4],
  );
  const drawn = (await source.get(range(0, 5000))).filter((value) =>
    typeof value === "number"
  );
  const counts = range(0, 10).map((value) =>
    drawn.filter((other) => other === value).length
  );
  for (const count of counts) assert.ok(count > 50 && count < 150, `${counts}`);
});

Deno.test("Mix never draws a source of weight 0", async () => {
  const steps = range(0, 1000);
  for (const weights of [[0, 3], [3, 0], [0, 0.1, 0], [1e-320, 0]]) {
    const sources = weights.map((weight) =>
      new Epochs(new ListDataset([weight]))
    );
    const drawn = new Set(await new Mix(sources, weights).get(steps));
    assert.deepEqual([...drawn], [Math.max(...weights)]);
  }
});

Deno.test("Mix has the steps that all sources have", async () => {
  const source = new Mix([numbers, new Truncate(numbers, 4)], [1, 1]);
  assert.equal(source.length, 4);
  await assert.rejects(source.get([4]), {
    message: /step 4 of Mix: index out of range: valid indices are 0 to 3/,
  });
});

Deno.test("Sample draws with replacement from all of a dataset, or the first of it", async () => {
  const source = new Sample(numbers, { seed: 7 });
  assert.equal(source.length, Infinity);
  const drawn = await source.get(range(0, 10_000));
  const counts = range(0, 10).map((value) =>
    drawn.filter((other) => other === value).length
  );
  // 1000 are expected of each, with a standard deviation of 30.
  for (const count of counts) assert.ok(Math.abs(count - 1000) < 150);
  const repeats = drawn.filter((value, i) => value === drawn[i + 1]).length;
  assert.ok(Math.abs(repeats - 1000) < 150, `${repeats}`);
  const few = await new Sample(numbers, { length: 3 }).get(range(0, 100));
  assert.deepEqual(new Set(few), new Set([0, 1, 2]));
});

Deno.test("Transform calls a function with each sample", async () => {
  const doubled = new Transform(numbers, (value) => 2 * value);
  assert.equal(doubled.length, 10);
  assert.deepEqual(await doubled.get([3, 3, 0]), [6, 6, 0]);
  const waiting = new Transform(
    letters,
    async (value) => await Promise.resolve(`${value}!`),
  );
  assert.deepEqual(await waiting.get([1]), ["b!"]);
});

Deno.test("Transform's random numbers follow from the step and the seeds alone", async () => {
  const draws = (seed?: number) =>
    new Transform(numbers, (_, random) => random.float(), { seed });
  const together = await draws().get(range(0, 10));
  assert.equal(new Set(together).size, 10);
  for (const step of [9, 2]) {
    assert.deepEqual(await draws().get([step, 3]), [
      together[step],
      together[3],
    ]);
  }
  const others = [
    await draws(1).get([5]),
    await draws().get([5], { seed: 1 }),
    await draws().get([5], { epoch: 1 }),
  ].flat();
  assert.equal(new Set([...others, together[5]]).size, 4);
});

Deno.test("Transform takes transforms, and finds functions in modules", async () => {
  const module = new URL("../../support/sample_functions.ts", import.meta.url);
  const negated = new Transform<number, number>(numbers, module);
  assert.deepEqual(await negated.get([4]), [-4]);
  const named = new Transform<number, number>(
    numbers,
    { module, name: "squared" },
  );
  assert.deepEqual(await named.get([4]), [16]);
  const wrong = new Transform<number, number>(
    numbers,
    { module, name: "cubed" },
  );
  await assert.rejects(wrong.get([4]), { message: /no export 'cubed'/ });
  const transform = {
    apply: (value: number) => value + 1,
    [RECIPE]: () => undefined,
  };
  const applied = new Transform<number, number>(numbers, transform);
  assert.deepEqual(await applied.get([4]), [5]);
  assert.throws(
    () => new Transform(numbers, "negated" as unknown as URL),
    TypeError,
  );
});

Deno.test("a failing function is reported with the step and the file", async () => {
  const cause = new Error("no such label");
  const source = new Transform(
    new Truncate(new ListDataset(range(0, 5), "numbers.ffr"), 4),
    (value) => {
      if (value === 2) throw cause;
      return value;
    },
  );
  await assert.rejects(source.get([6, 0, 1]), (error) => {
    assert.ok(error instanceof DataError);
    const { code, sample, path, message } = error;
    assert.deepEqual([code, sample, path], [
      "sample-failed",
      6,
      "numbers.ffr#2",
    ]);
    assert.match(message, /step 6 of numbers\.ffr#2: no such label/);
    assert.equal(error.cause, cause);
    return true;
  });
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(
    source.get([2], { signal }),
    (error) => error === reason,
  );
});

Deno.test("a batch is one read of each source, and comes in order", async () => {
  const sources = [
    new ListDataset(range(0, 100)),
    new ListDataset(range(100, 200)),
  ];
  const mix = new Mix(sources, [1, 1]);
  const steps = range(0, 50).map((i) => i * 7 % 100);
  const output = await mix.get(steps);
  assert.deepEqual(output.map((value) => value % 100), steps);
  assert.deepEqual(sources.map(({ reads }) => reads.length), [1, 1]);
  const nested = new Sample(
    new Truncate(new Transform(sources[0]!, (value) => value), 90),
  );
  await nested.get(steps);
  assert.equal(sources[0]!.reads.length, 2);
  await new Interleave(sources).get(range(0, 30));
  assert.deepEqual(sources.map(({ reads }) => reads.length), [3, 2]);
});

Deno.test("a batch may be empty", async () => {
  for (const source of all()) assert.deepEqual(await source.get([]), []);
});

Deno.test("sources reject invalid steps", async () => {
  for (const source of all()) {
    for (const step of [-1, 0.5, NaN, 2 ** 53]) {
      await assert.rejects(async () => await source.get([0, step]), (error) => {
        assert.ok(error instanceof IndexError);
        assert.equal(error.index, step);
        return true;
      });
    }
  }
});

Deno.test("sources know the file of a step, and close their inputs", async () => {
  const files = new ListDataset(range(0, 10), "f");
  for (const make of MAKERS) {
    const source = make(files);
    files.closed = false;
    const options = { seed: 3, epoch: 1 };
    for (const step of [0, 1, 7]) {
      const [value] = await source.get([step], options);
      assert.equal(source.fileOf(step, options), `f#${value}`);
    }
    assert.equal(source.fileOf(-1, options), undefined);
    const isDrawn = [Epochs, Sample, Mix].some((of) => source instanceof of);
    assert.equal(source.fileOf(3), isDrawn ? undefined : "f#3");
    source.close();
    assert.ok(files.closed);
  }
});

Deno.test("sources reject invalid options", () => {
  const empty = new ListDataset<number>([]);
  const endless = new Epochs(numbers);
  const cases: [() => unknown, RegExp][] = [
    [() => new Epochs(empty), /Epochs needs a dataset that has samples/],
    [() => new Sample(empty), /Sample needs a dataset that has samples/],
    [() => new Truncate(empty, 3), /Truncate needs a dataset that has samples/],
    [() => new Epochs(endless), /Epochs needs a number of samples/],
    [() => new Sample(endless), /Sample needs a number of samples/],
    [() => new Epochs(numbers, { length: 11 }), /from 1 to 10 .* not 11/],
    [() => new Epochs(numbers, { length: 0 }), /from 1 to 10 .* not 0/],
    [() => new Sample(numbers, { length: 1.5 }), /not 1\.5/],
    [() => new Truncate(numbers, -1), /not -1/],
    [
      () => new Truncate(endless, Infinity),
      /Truncate needs a number of samples/,
    ],
    [() => new Epochs(numbers, { seed: -1 }), /seed.*-1/],
    [() => new Mix([numbers], [1], { seed: 0.5 }), /seed.*0\.5/],
    [() => new Mix([numbers], [1, 2]), /there are 1, and weights for 2/],
    [() => new Mix([numbers, numbers], [1, -1]), /not 1, -1/],
    [() => new Mix([numbers, numbers], [0, 0]), /not all 0/],
    [() => new Mix([numbers], [NaN]), /NaN/],
    [() => new Mix([numbers, numbers], [1, Infinity]), /Infinity/],
    [() => new Mix([], []), /at least one source/],
    [() => new Interleave([]), /at least one source/],
  ];
  for (const [make, message] of cases) {
    assert.throws(make, (error) => {
      assert.ok(error instanceof RangeError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("no read continues when a batch has failed", async () => {
  let isReading = false;
  class Slow extends ListDataset<number> {
    override async get(indices: readonly number[]): Promise<readonly number[]> {
      isReading = true;
      await new Promise((resolve) => setTimeout(resolve, 5));
      isReading = false;
      return indices;
    }
  }
  class Failing extends ListDataset<number> {
    override get(): Promise<readonly number[]> {
      return Promise.reject(new Error("unreadable"));
    }
  }
  const source = new Interleave([
    new Failing(range(0, 9)),
    new Slow(range(0, 9)),
  ]);
  await assert.rejects(source.get([0, 1]), { message: "unreadable" });
  assert.equal(isReading, false);
});

Deno.test("a function that does not end is abandoned on the signal", async () => {
  const source = new Transform(numbers, () => new Promise<number>(() => {}));
  const controller = new AbortController();
  const reading = source.get([1], { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 5);
  await assert.rejects(reading, { message: "enough" });
});

Deno.test("a dataset that returns too few samples is detected", async () => {
  class Short extends Dataset<number> {
    readonly length = 10;
    override get(): readonly number[] {
      return [1];
    }
  }
  for (const make of MAKERS) {
    await assert.rejects(
      async () => await make(new Short()).get([0, 1, 2, 3, 4]),
      { code: "bad-batch" },
    );
  }
});

/** One source of each kind over a dataset. */
const MAKERS: readonly ((source: Dataset<number>) => Dataset<number>)[] = [
  (source) => new Epochs(source, { seed: 1 }),
  (source) => new Epochs(source, { shuffle: false }),
  (source) => new Sample(source),
  (source) => new Mix([source], [1]),
  (source) => new Interleave([source]),
  (source) => new Transform(source, (value) => value),
  (source) => new Truncate(source, 8),
];

function all(): Dataset<number>[] {
  return MAKERS.map((make) => make(numbers));
}
