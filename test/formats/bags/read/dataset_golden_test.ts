/** Valid and damaged datasets written by the original Python libraries, read in every way. */
import assert from "node:assert/strict";
import { FormatError, IndexError } from "../../../../src/base/errors.ts";
import {
  type DatasetOptions,
  DatasetReader,
  type Mask,
  RecordMemory,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { decoders, KNOWN } from "../../../support/bags/bag_decoders.ts";
import {
  assertBytes,
  assertValue,
  type DatasetCase,
  datasetCases,
  type DatasetContent,
  type ExpectedRecord,
  generationOf,
} from "../../../support/bags/bag_golden.ts";
import { FULL } from "../../../support/long.ts";

type Reader = DatasetReader | ShardedDatasetReader;

/** Options for opening datasets, alternating; each set is opened with all of them. */
const WAYS: readonly Partial<DatasetOptions>[] = [
  {},
  { cacheIndex: false },
  { parallel: true },
  { cacheIndex: false, parallel: true },
];

async function open(
  { path, content, valid }: DatasetCase,
  options: DatasetOptions,
): Promise<Reader> {
  const isSharded = content === undefined || !valid
    ? /shard/.test(path)
    : content.sharded;
  if (!isSharded) return await DatasetReader.open(path, options);
  return await ShardedDatasetReader.open(path, options);
}

/** Reads datapoint `i` in every way, and asserts that the results are equal. */
async function readAll(
  reader: Reader,
  i: number,
  mask?: Mask,
): Promise<Record<string, unknown>> {
  const value = await reader.get(i, mask);
  const memory = new RecordMemory();
  assert.deepEqual(reader.getSync(i, mask), value);
  assert.deepEqual(reader.getSync(i, mask, { memory }), value);
  assert.deepEqual(await reader.get(i, mask, { memory }), value);
  const range = await reader.range(i, i + 1, mask);
  assert.deepEqual(Object.keys(range), Object.keys(value));
  for (const [key, values] of Object.entries(range)) {
    assert.deepEqual(values, [value[key]]);
  }
  return value;
}

const valid = datasetCases.filter((golden) => golden.valid);
const invalid = datasetCases.filter((golden) => !golden.valid);

Deno.test("there are datasets of every generation", () => {
  assert.deepEqual([...new Set(valid.map(generationOf))], [1, 2, 3]);
  assert.ok(valid.length >= 24 && invalid.length >= 40);
});

for (const [i, golden] of valid.entries()) {
  Deno.test(`${golden.name}: ${golden.title}`, async () => {
    const ways = FULL ? WAYS : [WAYS[i % WAYS.length]!];
    for (const way of ways) {
      for (const generation of [undefined, generationOf(golden)]) {
        await compare(golden, { ...way, generation, decoders: null });
      }
      await compareDecoded(golden, { ...way, decoders });
    }
    const cacheKeys = Object.keys(golden.content!.spec);
    if (golden.content!.refs) cacheKeys.push("refs");
    await compare(golden, { decoders: null, cacheKeys });
    await compareDecoded(golden, { decoders, cacheKeys, cacheIndex: false });
  });
}

/** Compares the records of datapoints, and the metadata known without reading them. */
async function compare(
  golden: DatasetCase,
  options: DatasetOptions,
): Promise<void> {
  const content = golden.content!;
  using reader = await open(golden, options);
  assert.equal(reader.path, golden.path);
  assert.equal(reader.generation, generationOf(golden));
  assert.equal(reader.length, content.length);
  assert.deepEqual(reader.spec, content.spec);
  assert.deepEqual(reader.keys, Object.keys(content.spec));
  if (content.size !== undefined) assert.equal(reader.size, content.size);
  const expected = expectedRecords(content);
  assert.equal(expected.length, content.length);
  for (const [i, records] of expected.entries()) {
    const value = await readAll(reader, i);
    const available = await reader.available(i);
    assert.deepEqual(reader.availableSync(i), available);
    assert.deepEqual(Object.keys(value), reader.keys);
    for (const [key, of] of Object.entries(records)) {
      const isList = Array.isArray(of);
      assert.equal(available[key], isList ? of.length : true);
      const all = isList ? value[key] as unknown[] : [value[key]];
      [of].flat().forEach((record, k) => assertBytes(all[k], record));
    }
  }
  const range = reader.rangeSync(0, Infinity);
  for (const key of reader.keys) {
    assert.equal(range[key]!.length, expected.length);
    assert.deepEqual(
      range[key],
      expected.map((_, i) => reader.getSync(i)[key]),
    );
  }
  assert.throws(() => reader.getSync(content.length), IndexError);
  await assert.rejects(reader.get(content.length), IndexError);
  await assert.rejects(reader.available(content.length), IndexError);
}

/** Returns the records of each datapoint, by key. */
function expectedRecords(
  { shards, spec, refs }: DatasetContent,
): Record<string, ExpectedRecord | ExpectedRecord[]>[] {
  const keys = Object.keys(spec);
  let before = 0;
  return shards.flatMap(({ length, bags }) => {
    const datapoints = Array.from({ length }, (_, i) => {
      const own = refs?.[before + i];
      return Object.fromEntries(keys.map((key, k) => {
        const { records } = bags[key]!;
        const of = own?.[k] ?? i;
        if (typeof of === "number") return [key, records[of]!];
        const [first = 0, count = 0] = of;
        return [key, records.slice(first, first + count)];
      }));
    });
    before += length;
    return datapoints;
  });
}

async function compareDecoded(
  golden: DatasetCase,
  options: DatasetOptions,
): Promise<void> {
  const { datapoints = [], spec } = golden.content!;
  const compare = (actual: unknown, expected: unknown, key: string) => {
    if (KNOWN.test(spec[key]!)) assertValue(actual, expected);
  };
  using reader = await open(golden, options);
  for (const [i, datapoint] of datapoints.entries()) {
    const value = await reader.get(i);
    for (const key of reader.keys) compare(value[key], datapoint[key], key);
  }
  for (const { index, mask, values } of golden.queries ?? []) {
    const ours = Object.fromEntries(
      Object.entries(mask).map((
        [key, of],
      ) => [key, of === true ? true : { start: of[0], stop: of[1] }]),
    );
    const value = await readAll(reader, index, ours);
    assert.deepEqual(Object.keys(value), Object.keys(values));
    for (const key in values) compare(value[key], values[key], key);
  }
}

for (const golden of invalid) {
  const { outcome, words } = golden.expected;
  Deno.test(`${golden.name}: ${golden.title}`, async () => {
    for (const way of WAYS) {
      const options = { ...way, decoders };
      if (outcome === "error") {
        await assert.rejects(open(golden, options), (error: unknown) => {
          assert.ok(error instanceof FormatError, String(error));
          assert.ok(error.message.includes(words), error.message);
          assert.ok(error.message.includes(golden.path), error.message);
          return true;
        });
      } else await comparePartial(golden, options);
    }
  });
}

async function comparePartial(
  golden: DatasetCase,
  options: DatasetOptions,
): Promise<void> {
  const { datapoints = [], length } = golden.content!;
  using reader = await open(golden, options);
  assert.equal(reader.length, length);
  let faults = 0;
  for (const [i, datapoint] of datapoints.entries()) {
    if (typeof datapoint.error !== "string") {
      const value = await readAll(reader, i);
      for (const key of reader.keys) assertValue(value[key], datapoint[key]);
      continue;
    }
    const isFault = (error: unknown) => {
      assert.ok(error instanceof FormatError, String(error));
      assert.equal(error.code, datapoint.error);
      assert.equal(error.sample, i);
      assert.ok(error.message.includes(golden.expected.words), error.message);
      return true;
    };
    await assert.rejects(reader.get(i), isFault);
    await assert.rejects(reader.range(0, length), isFault);
    assert.throws(() => reader.getSync(i), isFault);
    faults++;
  }
  assert.ok(faults > 0);
}
