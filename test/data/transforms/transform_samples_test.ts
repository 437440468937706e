import assert from "node:assert/strict";
import { imageCodec, ImageError } from "../../../src/codecs/image/mod.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { Random } from "../../../src/data/random/random.ts";
import {
  CenterCrop,
  Compose,
  DecodeImage,
  RandomCrop,
  transformSamples,
} from "../../../src/data/transforms/mod.ts";
import { assertClose, testImage } from "../../support/images.ts";
import { numberedImage } from "../../support/numbered_image.ts";

for (const name of ["imagescript", "sharp", "turbojpeg"] as const) {
  Deno.test(`DecodeImage() decodes like ${name}, to a short edge on request`, async () => {
    const codec = await imageCodec(name);
    const images = [testImage(90, 60), testImage(60, 90, 1)];
    const random = new Random(1);
    for (const image of images) {
      const jpeg = await codec.encode(image, 95);
      const whole = new DecodeImage({ codec: name });
      const decoded = await codec.decode(jpeg);
      assert.deepEqual(await whole.apply(jpeg), decoded);
      const small = await new DecodeImage({ codec: name, shortEdge: 20 })
        .apply(jpeg);
      const expected = await codec.resizeShortEdge(decoded, 20);
      assert.deepEqual(
        [small.width, small.height, small.channels],
        [expected.width, expected.height, expected.channels],
      );
      assertClose(small.data, expected.data, { mean: 2, max: 40 }, name);
      const gray = new Compose([
        new DecodeImage({ codec: name, colorspace: "GRAY" }),
      ]);
      assert.equal((await gray.apply(jpeg, random)).channels, 1);
    }
  });
}

Deno.test("DecodeImage() rejects content that is not an image, and invalid options", async () => {
  await assert.rejects(
    () => new DecodeImage().apply(new Uint8Array([1, 2, 3])),
    ImageError,
  );
  await assert.rejects(
    () => new DecodeImage().apply(testImage(3, 3) as never),
    /takes the bytes of an image file/,
  );
  await assert.rejects(
    () => new DecodeImage({ codec: "gif" as never }).apply(new Uint8Array(9)),
    /codec must be one of .*, not 'gif'/,
  );
  assert.throws(() => new DecodeImage({ shortEdge: 0 }), RangeError);
  assert.throws(
    () => new DecodeImage({ colorspace: "YUV" as never }),
    /colorspace must be .*, not "YUV"/,
  );
});

Deno.test("samples are transformed by seed, epoch and index, wherever they are in a batch", async () => {
  const crop = new RandomCrop(5);
  const image = numberedImage(40, 40, 3);
  const many = Array.from({ length: 50 }, (_, i) => i);
  const all = await transformSamples(crop, many.map(() => image), many, {
    seed: 5,
    epoch: 2,
  });
  many.forEach((index) => {
    const { data } = crop.apply(image, new Random(5, 2, index));
    assert.deepEqual(all[index], { dtype: "|u1", shape: [5, 5, 3], data });
  });
  const some = [49, 3, 3, 0];
  const again = await transformSamples(crop, some.map(() => image), some, {
    seed: 5,
    epoch: 2,
  });
  assert.deepEqual(again, some.map((index) => all[index]));
  const other = await transformSamples(crop, many.map(() => image), many, {
    seed: 5,
    epoch: 3,
  });
  assert.notDeepEqual(other, all);
  assert.deepEqual(
    (await transformSamples(crop, [image], [7]))[0]!.data,
    crop.apply(image, new Random(0, 0, 7)).data,
  );
});

Deno.test("only a limited number of samples is transformed at a time", async () => {
  let [now, most] = [0, 0];
  const count = 100;
  const step = async (value: number) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 1));
    now--;
    return value * 2;
  };
  const values = Array.from({ length: count }, (_, i) => i);
  assert.deepEqual(
    await transformSamples(step, values, values),
    values.map((value) => value * 2),
  );
  assert.ok(most > 1 && most <= 16, `${most}`);
});

Deno.test("errors name the index; an abort keeps its reason", async () => {
  const small = testImage(4, 4);
  await assert.rejects(
    () => transformSamples(new CenterCrop(3), [small, [] as never], [8, 17]),
    (error) => {
      assert.ok(error instanceof DataError && error.code === "sample-failed");
      assert.equal(error.sample, 17);
      assert.match(error.message, /^Cannot make sample 17: CenterCrop takes/);
      assert.ok(error.cause instanceof TypeError);
      return true;
    },
  );
  const late = async (value: number) => {
    await new Promise((resolve) => setTimeout(resolve, 10 - value));
    if (value > 2) throw new Error(`no ${value}`);
  };
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  await assert.rejects(
    () => transformSamples(late, all, all),
    /^DataError: Cannot make sample 3: no 3$/, // the first in the batch, not the first in time
  );
  const abort = new AbortController();
  const step = (value: number) => {
    if (value === 3) abort.abort(new Error("enough"));
    return Promise.resolve(value);
  };
  const values = Array.from({ length: 100 }, (_, i) => i);
  const { signal } = abort;
  await assert.rejects(
    () => transformSamples(step, values, values, { signal }),
    /^Error: enough$/,
  );
});
