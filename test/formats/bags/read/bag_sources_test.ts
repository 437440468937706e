/** Bags whose bytes are in memory, or whose index is elsewhere, as the original's BagReader accepts them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { pathToFileURL } from "node:url";
import { FormatError, RecordfsError } from "../../../../src/base/errors.ts";
import {
  type BagOptions,
  BagReader,
  RecordMemory,
} from "../../../../src/formats/bags/mod.ts";
import {
  assertBytes,
  type BagCase,
  bagCases,
  generationOf,
} from "../../../support/bags/bag_golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

type Source = Parameters<typeof BagReader.open>[0];
type Bytes = Exclude<Source, string | URL>;

/** Types of byte arguments, one of them a view into a larger buffer. */
const FORMS: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Bytes> = {
  view: (bytes) => bytes,
  buffer: (bytes) => bytes.buffer,
  shared: (bytes) => shared(bytes),
  "part of a shared buffer": (bytes) => {
    const buffer = new SharedArrayBuffer(bytes.length + 20);
    new Uint8Array(buffer).fill(0xee).set(bytes, 7);
    return new Uint8Array(buffer, 7, bytes.length) as Uint8Array;
  },
};

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

function bytesIn(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fs.readFileSync(path));
}

const valid = bagCases.filter(({ valid }) => valid);

/** Reads all of a bag in every way, and compares it with `expect.json`. */
async function compare(
  golden: BagCase,
  source: Source,
  options: BagOptions,
  path: string,
): Promise<void> {
  const { length, size, records } = golden.content!;
  using bag = await BagReader.open(source, options);
  using again = BagReader.openSync(source, options);
  assert.equal(bag.path, path);
  assert.equal(bag.generation, generationOf(golden));
  assert.deepEqual([bag.length, again.length], [length, length]);
  if (size !== undefined) assert.equal(bag.size, size);
  const range = await bag.range(0, length);
  const memory = new RecordMemory();
  for (const [i, record] of records.entries()) {
    assertBytes(range[i], record);
    assertBytes(again.getSync(i), record);
    if (i % 97 === 0) assertBytes(await bag.get(i, { memory }), record);
  }
  const backwards = [...Array(Math.min(length, 50)).keys()].reverse();
  const batch = await bag.read(backwards);
  for (const [i, index] of backwards.entries()) {
    assertBytes(batch[i], records[index]!);
  }
}

for (const golden of valid) {
  const idx = golden.path.replace(/bag$/, "idx");
  const isThird = generationOf(golden) === 3;

  Deno.test(`${golden.name} is read from memory, in every form`, async () => {
    const bytes = bytesIn(golden.path);
    for (const form of Object.values(FORMS)) {
      for (const cacheIndex of [true, false]) {
        for (const indexForm of isThird ? Object.values(FORMS) : [undefined]) {
          const index = indexForm?.(bytesIn(idx));
          const options = { cacheIndex, index };
          await compare(golden, form(bytes), options, "a bag in memory");
        }
      }
    }
  });

  Deno.test(`${golden.name} is read with its data cached, even if its file changes`, async () => {
    await withTempDir(async (dir) => {
      const path = `${dir}/a.bag`;
      for (const cacheIndex of [true, false]) {
        fs.copyFileSync(golden.path, path);
        if (isThird) fs.copyFileSync(idx, `${dir}/a.idx`);
        const options = { cacheIndex, cacheData: true };
        await compare(golden, path, options, path);
        if (!cacheIndex) continue; // an uncached index is read from the file
        using bag = await BagReader.open(path, options);
        fs.truncateSync(path, 0);
        for (const [i, record] of golden.content!.records.entries()) {
          assertBytes(bag.getSync(i), record);
        }
      }
    });
  });

  if (!isThird) continue;
  Deno.test(`${golden.name} is read with its index elsewhere`, async () => {
    await withTempDir(async (dir) => {
      fs.copyFileSync(golden.path, `${dir}/a.bag`);
      fs.copyFileSync(idx, `${dir}/other`);
      const path = `${dir}/a.bag`;
      const places = [`${dir}/other`, pathToFileURL(`${dir}/other`)];
      for (const index of [...places, bytesIn(idx), shared(bytesIn(idx))]) {
        for (const cacheIndex of [true, false]) {
          await compare(golden, path, { index, cacheIndex }, path);
          await compare(
            golden,
            bytesIn(path),
            { index, cacheIndex, generation: 3 },
            "a bag in memory",
          );
        }
      }
    });
  });
}

Deno.test("records of a bag in memory belong to the caller", async () => {
  const path = `${REPOSITORY}test/golden/bags/types/data/text.bag`;
  const bytes = bytesIn(path);
  const before = bytes.slice();
  for (const source of [bytes, shared(bytes)]) {
    using bag = await BagReader.open(source);
    bag.getSync(0).fill(9);
    (await bag.get(0)).fill(9);
    for (const record of await bag.read([0, 1])) record.fill(9);
    for (const record of await bag.range(0, 2)) record.fill(9);
  }
  assert.deepEqual(bytes, before);
  using bag = BagReader.openSync(bytes);
  const view = bag.unsafeView(1);
  assert.equal(view.buffer, bytes.buffer);
  assert.deepEqual(view.slice(), bag.getSync(1));
  using ofShared = BagReader.openSync(shared(bytes));
  assert.throws(() => ofShared.unsafeView(1), (error) => {
    assert.ok(error instanceof RecordfsError);
    assert.equal(error.code, "unsupported");
    return true;
  });
});

Deno.test("threads open one shared buffer", async () => {
  const path = `${REPOSITORY}test/golden/granular3/many/tok_3`;
  const [bytes, index] = ["bag", "idx"].map((suffix) =>
    shared(bytesIn(`${path}.${suffix}`))
  );
  const script = `
    import { BagReader } from "${
    import.meta.resolve("../../../../src/formats/bags/mod.ts")
  }";
    self.onmessage = ({ data: [bytes, index, which] }) => {
      using bag = BagReader.openSync(bytes, { index });
      self.postMessage(bag.readSync(which));
      self.close();
    };`;
  const url = URL.createObjectURL(
    new Blob([script], { type: "text/typescript" }),
  );
  using own = BagReader.openSync(bytes!, { index });
  const which = [own.length - 1, 0, 1];
  const worker = new Worker(url, { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage([bytes, index, which]);
  assert.deepEqual(await promise, own.readSync(which));
  URL.revokeObjectURL(url);
});

Deno.test("a file that is not a bag, or lacks its index, is reported", async () => {
  const third = `${REPOSITORY}test/golden/granular3/types/data`;
  const text = bytesIn(`${third}/text.bag`);
  const index = bytesIn(`${third}/text.idx`);
  const first = bytesIn(`${REPOSITORY}test/golden/bags/types/data/text.bag`);
  const cases: [Source, BagOptions, RegExp][] = [
    [text, {}, /a bag in memory.*give it by the option index/],
    [text, { generation: 3 }, /in memory: it has no index: the option index/],
    [new Uint8Array(5), {}, /too short for a bag.*the option index/],
    [text.subarray(0, 1), { index }, /a bag in memory/],
  ];
  for (const [source, options, words] of cases) {
    const use = async () => {
      using bag = await BagReader.open(source, options);
      await bag.get(bag.length - 1);
    };
    await assert.rejects(use, (error) => {
      assert.ok(error instanceof FormatError, `${error}`);
      assert.match(error.message, words);
      return true;
    });
  }
  for (const generation of [1, 2] as const) {
    assert.throws(
      () => BagReader.openSync(first, { generation, index }),
      RangeError,
    );
  }
  for (const nothing of [null, 5, {}, [1, 2]]) {
    assert.throws(
      () => BagReader.openSync(nothing as never),
      /must be a path, a file: URL, or the bytes/,
    );
    if (nothing === null) continue;
    assert.throws(
      () => BagReader.openSync(text, { index: nothing as never }),
      TypeError,
    );
  }
  const lost = text.slice();
  structuredClone(lost, { transfer: [lost.buffer] });
  assert.throws(() => BagReader.openSync(lost), TypeError);
  assert.throws(
    () => BagReader.openSync(text, { index: "/nowhere/a.idx" }),
    { code: "ENOENT" },
  );
});
