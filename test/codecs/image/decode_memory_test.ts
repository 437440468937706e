import assert from "node:assert/strict";
import {
  inDecodeMemory,
  newDecodeMemoryShare,
  returnDecodeMemory,
} from "../../../src/codecs/image/decode_memory.ts";
import { encodePng, imageCodec } from "../../../src/codecs/image/mod.ts";
import {
  CenterCrop,
  Compose,
  DataLoader,
  GulpImageDataset,
  Scale,
} from "../../../src/open/data/mod.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";

const MB = 2 ** 20;

/** Starts decoding images of these sizes, tracks which are running, and ends each on request. */
class Decoding {
  readonly underWay = new Set<number>();
  readonly #ends: (() => void)[] = [];
  readonly all: Promise<unknown>;

  constructor(sizes: readonly number[]) {
    this.all = Promise.all(
      sizes.map((bytes, i) =>
        inDecodeMemory(bytes, async () => {
          this.underWay.add(i);
          await new Promise<void>((resolve) => this.#ends[i] = resolve);
          this.underWay.delete(i);
        })
      ),
    );
  }

  /** Ends one, and waits until exactly `then` are running. */
  async end(i: number, then: readonly number[]): Promise<void> {
    this.#ends[i]!();
    await until(() => sameNumbers([...this.underWay], then));
  }
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((number) => b.includes(number));
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!holds()) {
    assert.ok(performance.now() < end, "it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

Deno.test("images are decoded concurrently as long as their pixels fit in memory", async () => {
  const large = 11_585 ** 2 * 4; // largest allowed image: 512 MiB
  const decoding = new Decoding([large, large, MB, large]);
  await until(() => decoding.underWay.size > 0);
  assert.deepEqual([...decoding.underWay], [0]); // the second does not fit; the small one is queued after it
  await decoding.end(0, [1]);
  for (const i of [1, 2, 3]) {
    await until(() => decoding.underWay.has(i));
    await decoding.end(i, i === 3 ? [] : [i + 1]);
  }
  await decoding.all;
});

Deno.test("an image that exceeds the memory is decoded alone", async () => {
  const decoding = new Decoding([MB, 4096 * MB, MB]);
  await until(() => decoding.underWay.size > 0);
  assert.deepEqual([...decoding.underWay], [0]);
  await decoding.end(0, [1]);
  await decoding.end(1, [2]);
  await decoding.end(2, []);
  await decoding.all;
});

Deno.test("many small images are decoded concurrently, and failures release their memory", async () => {
  const few = new Decoding(Array.from({ length: 64 }, () => 8 * MB));
  await until(() => few.underWay.size === 64);
  const failing = inDecodeMemory(MB, () => {
    throw new Error("damaged");
  });
  const rejected = assert.rejects(failing, /damaged/);
  for (let i = 0; i < 64; i++) {
    await few.end(
      i,
      [...few.underWay].filter((j) => j !== i),
    );
  }
  await Promise.all([few.all, rejected]);
  const alone = new Decoding([4096 * MB]);
  await until(() => alone.underWay.size === 1);
  await alone.end(0, []);
});

Deno.test("the memory of a thread that ends is released", async () => {
  const share = newDecodeMemoryShare();
  Atomics.add(share.total, 0, 4096 * 1024); // as a decoding thread would
  Atomics.add(share.own, 0, 4096 * 1024);
  const waiting = new Decoding([MB]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(waiting.underWay.size, 0);
  returnDecodeMemory(share);
  await until(() => waiting.underWay.size === 1);
  await waiting.end(0, []);
});

/** Occupies all memory until `end` is called. */
function takeAll(): { end: () => void; ended: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, ended: inDecodeMemory(4096 * MB, () => promise) };
}

/** Asserts that an operation waits while all memory is occupied, and continues when it is released. */
async function assertWaits<T>(begin: () => Promise<T>): Promise<T> {
  const all = takeAll();
  let isDone = false;
  const done = begin().finally(() => isDone = true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(!isDone);
  all.end();
  await all.ended;
  return await done;
}

for (const name of ["imagescript", "sharp", "turbojpeg"] as const) {
  Deno.test(`everything that ${name} decodes counts towards that memory`, async () => {
    const codec = await imageCodec(name);
    const image = {
      data: new Uint8Array(48 * 64),
      height: 48,
      width: 64,
      channels: 1,
    } as const;
    const png = await encodePng(image);
    await assertWaits(() => codec.decode(png));
    await assertWaits(() => codec.decode(png, { shortEdge: 16 }));
    await assertWaits(() => codec.decodeWithAlpha(png));
    await assertWaits(() => codec.jpegFromImageFile(png, { shortEdge: 16 }));
    await assert.rejects(codec.decode(png.subarray(0, png.length - 20)));
    assert.deepEqual((await codec.decode(png)).data, image.data); // a damaged image releases its memory
  });
}

Deno.test("threads of a loader share the same memory limit", async () => {
  const { path } = gulpCase("v2_image_list");
  using dataset = await GulpImageDataset.open(path, {
    transform: new Compose([new Scale(20), new CenterCrop(16)]),
  });
  assert.ok(dataset.length > 3); // more than can be loaded ahead
  await using loader = new DataLoader(dataset, {
    numWorkers: 1,
    prefetchFactor: 1,
  });
  const batches = loader[Symbol.asyncIterator]();
  await batches.next(); // waits until the thread has started
  const rest = await assertWaits(async () => {
    let count = 0;
    for (;; count++) if ((await batches.next()).done) return count;
  });
  assert.ok(rest > 0);
});
