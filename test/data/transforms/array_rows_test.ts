/** Arrays that a loader stacks are written directly into the batch. */
import assert from "node:assert/strict";
import type { Image } from "../../../src/codecs/image/image.ts";
import { BatchMemory } from "../../../src/data/batch_memory.ts";
import { STACK } from "../../../src/data/dataset.ts";
import type { Random } from "../../../src/data/random/random.ts";
import { stackSamples } from "../../../src/data/loader/batch/stack_samples.ts";
import {
  Compose,
  ComposeVideo,
  NormalizeVideo,
  Scale,
  ToArray,
  ToArrayVideo,
  transformSamples,
} from "../../../src/data/transforms/mod.ts";
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";

function image(value: number, height = 6, width = 8): Image {
  const data = Uint8Array.from(
    { length: height * width * 3 },
    (_, i) => value + i,
  );
  return { data, height, width, channels: 3 };
}

/** Returns memory that already contains data. */
function usedMemory(): BatchMemory {
  const memory = new BatchMemory();
  memory.take(3);
  return memory;
}

const images = [image(1), image(50), image(90)];
const still = new Compose<NdArray>([
  new Scale({ height: 3, width: 4 }),
  new ToArray(),
]);
const clip = new ComposeVideo<NdArray>([], [
  new NormalizeVideo(3, 2),
  new ToArrayVideo({ layout: "channels-outermost", dtype: "float16" }),
]);

for (
  const [name, transform, samples] of [
    ["pictures", still, images],
    ["an array that is the whole transform", new ToArray(), images],
    ["clips", clip, images.map((one) => [one, images[0]!])],
  ] as const
) {
  Deno.test(`${name} become rows of the batch without a copy`, async () => {
    const memory = usedMemory();
    const before = memory.buffers.length;
    const indices = [4, 1, 2];
    const seed = { seed: 7, epoch: 1 };
    // deno-lint-ignore no-explicit-any -- each transform has its own type of samples
    const make = (options: any) =>
      // deno-lint-ignore no-explicit-any -- as above
      transformSamples<any, NdArray>(transform, samples, indices, options);
    const arrays = await make({ ...seed, [STACK]: memory });
    const alone = await make(seed);
    assert.deepEqual(arrays, alone);
    const taken = memory.buffers.length;
    assert.equal(taken, before + 1);

    const batch = stackSamples(arrays, memory) as NdArray;
    const data = batch.data as Float32Array;
    assert.equal(memory.buffers.length, taken);
    assert.equal(data.buffer, memory.buffers.at(-1));
    const copied = stackSamples(alone, new BatchMemory());
    assert.deepEqual(batch, copied);
  });
}

Deno.test("arrays of other orders or memories are copied", async () => {
  const memory = usedMemory();
  const options = { [STACK]: memory };
  const rows = await transformSamples(still, images, [0, 1, 2], options);
  for (
    const samples of [
      rows.toReversed(),
      [rows[0]!, rows[0]!, rows[1]!],
      await transformSamples(still, images, [0, 1, 2]),
    ]
  ) {
    const { data } = stackSamples(samples, memory) as NdArray;
    const expected = samples.flatMap(({ data }) => [...data as Float32Array]);
    assert.deepEqual([...data as Float32Array], expected);
    (data as Float32Array).fill(-1);
    assert.ok(
      rows.every((row) => !(row.data as Float32Array).includes(-1)),
    );
  }
  const elsewhere = stackSamples(rows, new BatchMemory()) as NdArray;
  assert.notEqual((elsewhere.data as Float32Array).buffer, memory.buffers[1]);
});

Deno.test("a sample of another size has memory of its own, and is reported", async () => {
  const memory = usedMemory();
  const samples = [image(1), image(2, 6, 9), image(3)];
  const arrays = await transformSamples(
    new ToArray(),
    samples,
    [0, 1, 2],
    { [STACK]: memory },
  );
  const [first, other, last] = arrays.map(({ data }) => data as Float32Array);
  assert.equal(first!.buffer, last!.buffer);
  assert.notEqual(first!.buffer, other!.buffer);
  assert.deepEqual([...other!].slice(0, 3), [2, 5, 8]);
  assert.throws(() => stackSamples(arrays, memory), /number 1 is <f4 of shape/);
});

Deno.test("an overridden method of a step's subclass is called", async () => {
  class Negative extends ToArray {
    override apply(picture: Image): NdArray {
      const { dtype, shape, data } = super.apply(picture);
      return { dtype, shape, data: (data as Float32Array).map((x) => -x) };
    }
  }
  class Twice extends Compose<NdArray> {
    override async apply(value: unknown, random: Random): Promise<NdArray> {
      const { dtype, shape, data } = await super.apply(value, random);
      return { dtype, shape, data: (data as Float32Array).map((x) => 2 * x) };
    }
  }
  const options = { [STACK]: usedMemory() };
  for (
    const [step, first] of [
      [new Negative(), -5],
      [new Compose<NdArray>([new Negative()]), -5],
      [new Twice([new ToArray()]), 10],
      [new Compose<NdArray>([new Twice([new Negative()])]), -10],
    ] as const
  ) {
    const [array] = await transformSamples(step, [image(5)], [0], options);
    assert.equal((array!.data as Float32Array)[0], first);
  }
});

Deno.test("a step after ToArray gets the array, which is then copied", async () => {
  const memory = usedMemory();
  const doubled = new Compose<NdArray>([
    new ToArray(),
    ({ dtype, shape, data }: NdArray) => ({
      dtype,
      shape,
      data: (data as Float32Array).map((value) => value * 2),
    }),
  ]);
  const kept = new Compose<NdArray>([
    new ToArray(),
    (array: NdArray) => {
      (array.data as Float32Array)[0] = 1000;
      return array;
    },
  ]);
  const options = { [STACK]: memory };
  const [two] = await transformSamples(doubled, [image(5)], [0], options);
  assert.deepEqual([...two!.data as Float32Array].slice(0, 2), [10, 16]);
  const [changed] = await transformSamples(kept, [image(5)], [0], options);
  assert.equal((changed!.data as Float32Array)[0], 1000);
  assert.equal(memory.buffers.length, 1);
});
