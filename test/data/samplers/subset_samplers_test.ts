import assert from "node:assert/strict";
import { DataError } from "../../../src/data/data_error.ts";
import {
  asSampler,
  type SamplerLike,
} from "../../../src/data/samplers/subset_samplers.ts";
import { RandomSampler } from "../../../src/data/samplers/whole_samplers.ts";
import { indicesOf } from "./orders.ts";

Deno.test("samplers, lists and iterables are accepted as samplers", () => {
  const random = new RandomSampler(10);
  const given = asSampler(random, 10);
  assert.equal(given.length, 10);
  assert.deepEqual(
    indicesOf(given.order(1, 2)),
    indicesOf(random.order(1, 2)),
  );
  const lists: SamplerLike[] = [
    [3, 1, 3],
    new Uint8Array([3, 1, 3]),
    { length: 3, 0: 3, 1: 1, 2: 3 },
    [3, 1, 3].values(),
  ];
  for (const list of lists) {
    const sampler = asSampler(list, 4);
    assert.equal(sampler.length, 3);
    // An iterator is exhausted after one pass, yet every epoch is the same.
    for (const epoch of [0, 1]) {
      assert.deepEqual(indicesOf(sampler.order(0, epoch)), [3, 1, 3]);
    }
  }
  assert.equal(asSampler([2 ** 50], Infinity).order(0, 0).at(0), 2 ** 50);
});

Deno.test("an index that the dataset does not have is an error", () => {
  const wrong = {
    length: 1,
    order: () => ({ length: 1, at: () => wrongIndex }),
  };
  let wrongIndex = 4;
  const order = asSampler(wrong, 4).order(0, 0);
  for (wrongIndex of [4, -1, 0.5, NaN]) {
    assert.throws(() => order.at(0), (error) => {
      assert.ok(error instanceof DataError);
      assert.equal(error.code, "bad-batch");
      assert.equal(error.actual, wrongIndex);
      assert.equal(
        error.message,
        `The sampler gave index ${wrongIndex} at position 0, but the dataset has 4 samples: ` +
          "make the sampler for the length of this dataset",
      );
      return true;
    });
  }
  assert.throws(() => asSampler([4], 4).order(0, 0).at(0), DataError);
});

Deno.test("values that are not samplers are rejected", () => {
  for (const value of [undefined, null, 5, "012", {}, () => [1]]) {
    assert.throws(() => asSampler(value as unknown as SamplerLike, 4), {
      name: "TypeError",
      message:
        "A sampler must be an object with length and order(seed, epoch), or a list of indices",
    });
  }
});
