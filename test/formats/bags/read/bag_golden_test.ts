/** Valid and damaged bags written by the original Python libraries, read in every way. */
import assert from "node:assert/strict";
import { FormatError, IndexError } from "../../../../src/base/errors.ts";
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

/** Ways to read a bag, each with and without a cached index. */
const WAYS: readonly [string, (bag: BagReader, i: number) => unknown][] = [
  ["get", (bag, i) => bag.get(i)],
  ["getSync", (bag, i) => bag.getSync(i)],
  [
    "getSync into memory",
    (bag, i) => bag.getSync(i, { memory: new RecordMemory() }),
  ],
  ["range", async (bag, i) => (await bag.range(i, i + 1))[0]],
  ["read", async (bag, i) => (await bag.read([i]))[0]],
  ["readSync", (bag, i) => bag.readSync([i])[0]],
];

async function open(path: string, options: BagOptions): Promise<BagReader> {
  const bag = BagReader.openSync(path, options);
  using other = await BagReader.open(path, options);
  assert.deepEqual([bag.length, bag.size], [other.length, other.size]);
  return bag;
}

const valid = bagCases.filter((golden) => golden.valid);
const invalid = bagCases.filter((golden) => !golden.valid);

Deno.test("there are bags of every generation", () => {
  assert.deepEqual([...new Set(valid.map(generationOf))], [1, 2, 3]);
  assert.ok(valid.length >= 16 && invalid.length >= 18);
});

for (const golden of valid) {
  Deno.test(`${golden.name}: ${golden.title}`, async () => {
    const generation = generationOf(golden);
    for (const cacheIndex of [true, false]) {
      for (const forced of [undefined, generation]) {
        await compare(golden, { cacheIndex, generation: forced });
      }
    }
  });
}

async function compare(golden: BagCase, options: BagOptions): Promise<void> {
  const { length, size, records } = golden.content!;
  using bag = await open(golden.path, options);
  assert.equal(bag.path, golden.path);
  assert.equal(bag.generation, generationOf(golden));
  assert.equal(bag.length, length);
  if (size !== undefined) assert.equal(bag.size, size);
  for (const [, read] of WAYS) {
    for (let i = 0; i < length; i++) {
      assertBytes(await read(bag, i), records[i]!);
    }
  }
  const backwards = records.map((_, i) => length - 1 - i);
  for (const memory of [undefined, new RecordMemory()]) {
    const all = bag.rangeSync(0, length, { memory });
    all.forEach((bytes, i) => assertBytes(bytes, records[i]!));
    const batch = await bag.read([...backwards, ...backwards], { memory });
    assert.equal(batch.length, 2 * length);
    batch.forEach((bytes, i) =>
      assertBytes(bytes, records[backwards[i % length]!]!)
    );
  }
  for (const { start, stop, indices } of golden.queries ?? []) {
    const found = await bag.range(start, stop);
    assert.equal(found.length, indices.length);
    found.forEach((bytes, i) => assertBytes(bytes, records[indices[i]!]!));
  }
  assert.throws(() => bag.getSync(length), IndexError);
  await assert.rejects(bag.get(length), IndexError);
  await assert.rejects(bag.read([0, length]), IndexError);
}

for (const golden of invalid) {
  const { outcome, words } = golden.expected;
  Deno.test(`${golden.name}: ${golden.title}`, async () => {
    for (const cacheIndex of [true, false]) {
      const warnings: string[] = [];
      const options = {
        cacheIndex,
        onWarning: (message: string) => warnings.push(message),
      };
      if (outcome === "error-or-ok") {
        // By its content it is a valid bag of generation 2.
        using bag = BagReader.openSync(golden.path, options);
        assert.equal(bag.generation, 2);
        await refused(golden, { ...options, generation: 1 });
      } else if (outcome === "error" || golden.name.endsWith("missing_idx")) {
        await refused(golden, options);
      } else {
        const faults = await faultsOf(golden, options);
        assert.ok([...faults, ...warnings].length > 0);
        for (const message of [...faults, ...warnings]) {
          assert.ok(message.includes(words), message);
        }
      }
    }
  });
}

async function refused(golden: BagCase, options: BagOptions): Promise<void> {
  const isRefusal = (error: unknown) => {
    assert.ok(error instanceof FormatError);
    assert.ok(error.message.includes(golden.expected.words), error.message);
    assert.ok(error.message.includes(golden.path), error.message);
    return true;
  };
  assert.throws(() => BagReader.openSync(golden.path, options), isRefusal);
  await assert.rejects(BagReader.open(golden.path, options), isRefusal);
}

/** Returns the errors of damaged records, and compares the others. */
async function faultsOf(
  golden: BagCase,
  options: BagOptions,
): Promise<string[]> {
  const faults: string[] = [];
  using bag = await open(golden.path, options);
  for (const [way, read] of WAYS) {
    for (let i = 0; i < bag.length; i++) {
      const expected = golden.content?.records[i];
      let bytes: unknown;
      try {
        bytes = await read(bag, i);
      } catch (error) {
        assert.ok(error instanceof FormatError, `${way}: ${error}`);
        assert.equal(error.sample, i);
        if (expected !== undefined) assert.equal(error.code, expected.error);
        faults.push(error.message);
        continue;
      }
      if (expected === undefined) continue;
      assert.equal(expected.error, undefined, `${way}: record ${i}`);
      assertBytes(bytes, expected);
    }
  }
  return faults;
}
