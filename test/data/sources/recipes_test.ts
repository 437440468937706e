import assert from "node:assert/strict";
import { Dataset } from "../../../src/data/dataset.ts";
import { followRecipe, RECIPE } from "../../../src/data/recipe.ts";
import {
  Epochs,
  Interleave,
  Mix,
  Sample,
  Transform,
  Truncate,
} from "../../../src/open/data/mod.ts";
import { ListDataset, range } from "../../support/list_dataset.ts";

const module = new URL("../../support/sample_functions.ts", import.meta.url);

/** Makes a source that nests all kinds of sources. */
function composed(): Dataset<number> {
  const lists = [range(0, 20), range(100, 117), range(200, 230)]
    .map((values) => new ListDataset(values));
  const drawn = new Transform<number, number>(
    new Epochs(lists[0]!, { length: 15, seed: 3 }),
    { module, name: "withRandom" },
    { seed: 11 },
  );
  const mixed = new Mix(
    [drawn, new Sample(lists[1]!, { length: 9, seed: 5 })],
    [2, 1],
    { seed: 8 },
  );
  const turns = new Interleave([
    mixed,
    new Epochs(new Truncate(lists[2]!, 7), { shuffle: false }),
  ]);
  return new Transform<number, number>(turns, module);
}

Deno.test("another thread makes the same source from its recipe", async () => {
  const source = composed();
  const recipe = structuredClone(source[RECIPE]()!);
  const reopened = await followRecipe(recipe) as Dataset<number>;
  assert.equal(reopened.length, source.length);
  const steps = [...range(0, 200), 1e12];
  for (const options of [{}, { seed: 7 }, { seed: 7, epoch: 2 }]) {
    const expected = await source.get(steps, options);
    assert.deepEqual(await reopened.get(steps, options), expected);
    assert.ok(new Set(expected).size > 60);
  }
});

Deno.test("a source that cannot be sent to another thread is named", () => {
  class Local extends Dataset<number> {
    readonly length = 3;
    override get(indices: readonly number[]): readonly number[] {
      return indices;
    }
  }
  const list = new ListDataset([1]);
  const cases: [Dataset<number>, RegExp][] = [
    [new Epochs(new Local()), /^The dataset of Epochs cannot be sent/],
    [new Sample(new Local()), /^The dataset of Sample cannot be sent/],
    [new Truncate(new Local(), 1), /^The source of Truncate cannot be sent/],
    [new Mix([list, new Local()], [1, 1]), /^Source 1 of Mix cannot be sent/],
    [new Interleave([new Local()]), /^Source 0 of Interleave cannot be sent/],
    [
      new Transform(list, (value) => value),
      /^The function of Transform cannot be sent/,
    ],
    [
      new Transform<number, number>(new Local(), module),
      /^The source of Transform cannot be sent/,
    ],
    [
      new Truncate(new Epochs(new Transform(list, (value) => value)), 1),
      /^The function of Transform cannot be sent/,
    ],
  ];
  for (const [source, message] of cases) {
    assert.throws(() => source[RECIPE](), { code: "not-portable", message });
  }
  class Own extends Epochs<number> {}
  assert.throws(() => new Own(list)[RECIPE](), {
    code: "not-portable",
    message: /^Cannot send Own to worker threads: it extends Epochs/,
  });
});
