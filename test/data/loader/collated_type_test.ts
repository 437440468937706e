/** Type of a batch: the result of the loader's stacking for a type of samples. */
import type { JsonValue } from "../../../src/codecs/json/value.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";
import type { Collated } from "../../../src/open/data/mod.ts";
import { BatchMemory } from "../../../src/data/batch_memory.ts";
import { stackSamples } from "../../../src/data/loader/batch/stack_samples.ts";
import assert from "node:assert/strict";

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

/** Fails to compile unless both types are the same. */
function same<A, B>(_: IsSame<A, B>): void {}

Deno.test("the batch of a union is that of one of its members", () => {
  same<Collated<number | string>, Float64Array | string[]>(true);
  same<Collated<NdArray | string>, NdArray | string[]>(true);
  same<
    Collated<{ a: number | string; readonly b: NdArray }>,
    { a: Float64Array | string[]; readonly b: NdArray }
  >(true);
  same<Collated<JsonValue>, never>(false); // the type is finite, although JSON nests without limit
  const batch = (samples: (number | string)[]) =>
    stackSamples(samples, new BatchMemory()) as Collated<number | string>;
  assert.deepEqual(batch([1, 2]), new Float64Array([1, 2]));
  assert.deepEqual(batch(["a", "b"]), ["a", "b"]);
  assert.throws(() => batch([1, "b"]), { code: "bad-batch" });
});

Deno.test("values that are not stacked are a list, of all members of a union", () => {
  same<Collated<"a" | "b">, ("a" | "b")[]>(true);
  same<Collated<boolean>, boolean[]>(true);
  same<Collated<string | undefined>, (string | undefined)[]>(true);
  same<Collated<Uint8Array>, Uint8Array[]>(true);
  same<Collated<never>, never[]>(true);
});

Deno.test("stacked values have the type of their parts", () => {
  same<Collated<1 | 2>, Float64Array>(true);
  same<Collated<Float32Array>, NdArray>(true);
  same<Collated<readonly [number, string]>, [Float64Array, string[]]>(true);
  same<Collated<number[]>, Float64Array[]>(true);
  same<Collated<unknown>, unknown>(true);
});

Deno.test("an object with the fields of an array or image, and others, retains all of them", () => {
  type Labelled = Image & { readonly label: number };
  same<Collated<Image>, NdArray>(true);
  same<Collated<Image | NdArray>, NdArray>(true);
  same<Collated<Labelled>["label"], Float64Array>(true);
  same<Collated<NdArray & { readonly at: string }>["at"], string[]>(true);
  const image = { data: new Uint8Array(12), height: 2, width: 2 };
  const samples = [1, 2].map((label): Labelled => ({
    ...image,
    channels: 3,
    label,
  }));
  const batch = stackSamples(samples, new BatchMemory()) as Collated<Labelled>;
  assert.deepEqual(batch.label, Float64Array.of(1, 2));
  assert.deepEqual(batch.data, [image.data, image.data]);
  const arrays = [1, 2].map((at) => ({
    dtype: "<f4",
    shape: [1],
    data: Float32Array.of(at),
    at: String(at),
  }));
  const stacked = stackSamples(arrays, new BatchMemory());
  assert.deepEqual((stacked as Collated<typeof arrays[0]>).at, ["1", "2"]);
});

Deno.test("whole numbers beyond 2^53 are collated with smaller ones as bigint; others are not", () => {
  same<Collated<number | bigint>, Float64Array | bigint[]>(true);
  const batch = (samples: unknown[]) =>
    stackSamples(samples, new BatchMemory());
  assert.deepEqual(batch([2n ** 60n, 7, -1]), [2n ** 60n, 7n, -1n]);
  assert.deepEqual(batch([7, 2n ** 60n]), [7n, 2n ** 60n]);
  assert.deepEqual(batch([{ id: 1 }, { id: 2n ** 60n }]), {
    id: [1n, 2n ** 60n],
  });
  assert.throws(
    () => batch([0.5, 2n ** 60n]),
    /is a number and number 1 is a bigint/,
  );
});
