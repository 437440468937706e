/** Conversions of the original packages' datasets, and of generated ones, between generations. */
import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { type Generation } from "../../src/formats/bags/dataset/dataset_names.ts";
import { DatasetReader, DatasetWriter } from "../../src/formats/bags/mod.ts";
import { pythonCases } from "../support/bags/bags_written_by_python.ts";
import { datapointsOf } from "../support/converted.ts";
import { LONG } from "../support/long.ts";
import { withTempDir } from "../support/paths.ts";
import { writeDataset } from "../support/bags/make_bag.ts";

const GENERATIONS: readonly Generation[] = [1, 2, 3];

/** Cases with keys that granular's writers reject, or custom types with arguments. */
const REFUSED = /^bags\/(types|own_type)$/;

for (const kind of ["dataset", "shards"] as const) {
  for (const { name, path, generation } of pythonCases(kind)) {
    if (REFUSED.test(name)) continue;
    for (const other of GENERATIONS.filter((other) => other !== generation)) {
      Deno.test(`${name} reads the same in generation ${other}, and back`, async () => {
        await withTempDir(async (dir) => {
          const options = { to: "bags", onWarning: assert.fail } as const;
          const there = await convert(path, `${dir}/there`, {
            ...options,
            generation: other,
          });
          assert.deepEqual(there.plan.lost, []);
          await convert(`${dir}/there`, `${dir}/back`, {
            ...options,
            generation,
          });
          const before = datapointsOf(path);
          assert.equal(there.count, before.length);
          assert.deepEqual(datapointsOf(`${dir}/there`), before);
          assert.deepEqual(datapointsOf(`${dir}/back`), before);
        });
      });
    }
  }
}

/** Values by type name of generation 1, for the types that each package has. */
const TYPES = {
  "utf8": fc.string({ unit: "grapheme" }),
  "bytes": fc.uint8Array({ maxLength: 40 }),
  "int": fc.bigInt({ min: 0n, max: 2n ** 100n }),
  "int(8)": fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  "int(3,big)": fc.nat({ max: 2 ** 24 - 1 }),
  "msgpack": fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
  "array(int16,2)": fc.int16Array({ minLength: 2, maxLength: 2 }).map((
    data,
  ) => ({
    dtype: "<i2",
    shape: [2],
    data,
  })),
};

const key = fc.stringMatching(/^[a-z_][a-z0-9_.-]{0,8}$/).filter((key) =>
  key !== "refs"
);
const word = fc.constantFrom(...Object.keys(TYPES) as (keyof typeof TYPES)[]);

/** A spec and datapoints of generation 1. */
const datasets = fc.uniqueArray(
  fc.record({ key, word, isList: fc.boolean() }),
  { selector: ({ key }) => key, minLength: 1, maxLength: 4 },
).chain((keys) => {
  const fields = Object.fromEntries(keys.map(({ key, word, isList }) => {
    // In lists, integers have 64 bits, as in msgpack.
    const type: keyof typeof TYPES = isList && word === "int" ? "int(8)" : word;
    const value: fc.Arbitrary<unknown> = TYPES[type];
    return [key, isList ? fc.array(value, { maxLength: 4 }) : value];
  }));
  const spec = Object.fromEntries(
    keys.map(({ key, word, isList }) => [key, isList ? `${word}[]` : word]),
  );
  return fc.record({
    spec: fc.constant(spec),
    datapoints: fc.array(fc.record(fields), { maxLength: 5 }),
    shardLength: fc.option(fc.integer({ min: 1, max: 3 })),
  });
});

Deno.test("any dataset reads the same in all generations, one after the other", async () => {
  await withTempDir(async (parent) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(datasets, async ({ spec, datapoints, shardLength }) => {
        const dir = `${parent}/${run++}`;
        await Deno.mkdir(dir);
        {
          await using writer = await DatasetWriter.open(`${dir}/0`, spec, {
            generation: 1,
          });
          for (const datapoint of datapoints) await writer.write(datapoint);
          await writer.close();
        }
        const before = datapointsOf(`${dir}/0`);
        assert.equal(before.length, datapoints.length);
        for (const [i, generation] of [2, 3, 2, 1].entries()) {
          await convert(`${dir}/${i}`, `${dir}/${i + 1}`, {
            to: "bags",
            generation: generation as Generation,
            shardLength: i === 0 ? shardLength ?? undefined : undefined,
          });
          assert.deepEqual(datapointsOf(`${dir}/${i + 1}`), before);
        }
      }),
      { numRuns: LONG ? 200 : 8 },
    );
  });
});

/** Bytes, and those that granular 0.22 (`int.from_bytes(…, "little", signed=True)`) reads as the same numbers. */
const SIGNED: readonly [first: number[], third: number[]][] = [
  [[], [0]], // 0
  [[0x7f], [0x7f]], // 127
  [[0x80], [0x80, 0]], // 128
  [[0xff, 0xff], [0xff, 0xff, 0]], // 65535
];

Deno.test("integers get a sign byte if they would be read as negative, and zero gets a byte", async () => {
  await withTempDir(async (dir) => {
    const datapoints = SIGNED.map(([first]) => ({ n: Uint8Array.from(first) }));
    writeDataset(`${dir}/a`, { n: "int" }, datapoints, 1);
    for (const generation of [2, 3] as const) {
      await convert(`${dir}/a`, `${dir}/${generation}`, {
        to: "bags",
        generation,
      });
      using reader = DatasetReader.openSync(`${dir}/${generation}`, {
        decoders: null,
      });
      SIGNED.forEach(([, third], i) => {
        assert.deepEqual(reader.getSync(i), { n: Uint8Array.from(third) });
      });
    }
  });
});

Deno.test("type arguments of Bags become granular's type names", async () => {
  await withTempDir(async (dir) => {
    const spec = {
      a: "array(uint8,2)",
      b: "int(8)",
      c: "jpeg(80)",
      d: "int(2,big)",
      e: "own(1,2)",
    };
    const [a, b, c, d, e] = [
      [1, 200],
      [1, 0, 0, 0, 0, 0, 0, 0x80],
      [0xff, 0xd8],
      [1, 2],
      [5],
    ].map((bytes) => Uint8Array.from(bytes));
    writeDataset(`${dir}/a`, spec, [{ a: a!, b: b!, c: c!, d: d!, e: e! }], 1);
    const { plan } = await convert(`${dir}/a`, `${dir}/b`, { to: "bags" });
    assert.equal(plan.changed.length, 5);
    using reader = DatasetReader.openSync(`${dir}/b`, { decoders: null });
    assert.deepEqual(reader.spec, {
      a: "array",
      b: "u64",
      c: "jpg",
      d: "int",
      e: "own(1,2)",
    });
    // msgpack: ["|u1", [2], bin 01 c8]
    const array = Uint8Array.fromHex("93a37c75319102c40201c8");
    const number = Uint8Array.of(2, 1); // 0x0102
    assert.deepEqual(reader.getSync(0), { a: array, b, c, d: number, e });
  });
});

Deno.test("records that datapoints share become copies, as the plan reports", async () => {
  await withTempDir(async (dir) => {
    const one = Uint8Array.of(1);
    writeDataset(`${dir}/a`, { x: "bytes" }, [{ x: one }], 2);
    // Both datapoints refer to record 0, in a MessagePack array; then the end offsets of both.
    const ends = [2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    await Deno.writeFile(
      `${dir}/a/refs.bag`,
      Uint8Array.of(0x91, 0, 0x91, 0, ...ends),
    );
    const { plan, count } = await convert(`${dir}/a`, `${dir}/b`, {
      to: "bags",
    });
    assert.equal(count, 2);
    assert.match(plan.changed.join(), /'x': records that several .* copies/);
    assert.deepEqual(
      await Deno.readFile(`${dir}/b/x.bag`),
      Uint8Array.of(1, 1),
    );
  });
});
