import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import * as fs from "node:fs";
import fc from "../../../support/random.ts";
import { DatasetReader } from "../../../../src/formats/bags/read/dataset_reader.ts";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import { check } from "../../../../src/open/open.ts";
import { pythonCases } from "../../../support/bags/bags_written_by_python.ts";
import {
  filesBelow,
  naiveDataset,
  type RawDatapoint,
} from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";

const GENERATIONS = [1, 2, 3] as const;
const RAW = { encoders: null };
const BYTE = Uint8Array.of(1);

for (const { name, path, generation } of pythonCases("dataset")) {
  Deno.test(`rewriting ${name} gives the original's files`, async () => {
    const { spec, datapoints } = naiveDataset(path, generation);
    await withTempDir(async (dir) => {
      const options = { encoders: null, generation };
      const reversed = Object.fromEntries(Object.entries(spec).reverse());
      await using writer = await DatasetWriter.open(
        `${dir}/a`,
        reversed,
        options,
      );
      using sync = DatasetWriter.openSync(`${dir}/b`, spec, options);
      assert.deepEqual(Object.entries(writer.spec), Object.entries(spec));
      for (const [i, datapoint] of datapoints.entries()) {
        assert.equal(await writer.write(datapoint), i);
        assert.equal(sync.writeSync(datapoint), i);
      }
      await writer.close();
      sync.closeSync();
      const expected = filesBelow(path);
      assert.deepEqual(filesBelow(`${dir}/a`), expected);
      assert.deepEqual(filesBelow(`${dir}/b`), expected);
      assert.deepEqual(fs.readdirSync(dir).sort(), ["a", "b"]);
      let size = -expected.get("spec.json")!.length;
      for (const { length } of expected.values()) size += length;
      assert.equal(writer.size, size);
    });
  });
}

const KEYS = fc.uniqueArray(
  fc.stringMatching(/^[a-z_][a-zA-Z0-9_.\- é]{0,6}$/).filter((key) =>
    key !== "refs"
  ),
  { minLength: 1, maxLength: 20 },
);

Deno.test("random datasets are read as written", async () => {
  const bytes = fc.oneof(
    { weight: 20, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 40 }) },
    fc.integer({ min: 1, max: 600_000 }).map((length) =>
      new Uint8Array(length).fill(length)
    ),
  );
  const dataset = KEYS.chain((keys) =>
    fc.record({
      types: fc.tuple(
        ...keys.map(() => fc.constantFrom("bytes", "own_type", "bytes[]")),
      ),
      datapoints: fc.array(
        fc.tuple(
          ...keys.map(() => fc.array(bytes, { minLength: 1, maxLength: 4 })),
        ),
        { maxLength: 20 },
      ),
    }).map(({ types, datapoints }) => ({ keys, types, datapoints }))
  );
  await withTempDir(async (dir) => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        dataset,
        fc.constantFrom(...GENERATIONS),
        fc.constantFrom("array", "generator", "stream"),
        async ({ keys, types, datapoints }, generation, way) => {
          const path = `${dir}/${++number}`;
          const own = types.map((type) => generation === 3 ? "bytes" : type);
          const spec = Object.fromEntries(keys.map((key, k) => [key, own[k]!]));
          const lists = (values: Uint8Array[], i: number) =>
            values.slice(0, (values.length + i) % 5);
          const expected = datapoints.map((values, i): RawDatapoint =>
            Object.fromEntries(keys.map((key, k) => [
              key,
              own[k] === "bytes[]" ? lists(values[k]!, i) : values[k]![0]!,
            ]))
          );
          await using writer = await DatasetWriter.open(path, spec, {
            ...RAW,
            generation,
          });
          for (const datapoint of expected) {
            writer.write(Object.fromEntries(
              Object.entries(datapoint).map((
                [key, value],
              ) => [
                key,
                Array.isArray(value) ? handedOver(value, way) : value,
              ]),
            ));
          }
          await writer.close();
          const written = naiveDataset(path, generation);
          assert.deepEqual(written.spec, spec);
          assert.deepEqual(written.datapoints, expected);
          assert.equal(writer.length, expected.length);
          fs.rmSync(path, { recursive: true });
          assert.deepEqual(fs.readdirSync(dir), []);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function handedOver(values: Uint8Array[], way: string): unknown {
  switch (way) {
    case "generator":
      return (function* () {
        yield* values;
      })();
    case "stream":
      return ReadableStream.from(values);
    default:
      return values;
  }
}

Deno.test("encoders are called with the value and the type's arguments", async () => {
  await withTempDir(async (dir) => {
    const calls: unknown[][] = [];
    const text = (...args: unknown[]) => {
      calls.push(args);
      return new TextEncoder().encode(JSON.stringify(args[0]));
    };
    const encoders = {
      int: text,
      "whole(1,2)": text,
      whole: () => assert.fail("the whole word comes first"),
      // deno-lint-ignore require-await -- an asynchronous encoder
      late: async (value: string, size: string) =>
        new Uint8Array(Number(size)).fill(Number(value)),
    };
    const spec = {
      a: "int(8,big)",
      b: "int[]",
      c: "whole(1,2)",
      d: "late(3)",
      e: "raw(5)",
    };
    const options = { encoders, generation: 1 } as const;
    await using writer = await DatasetWriter.open(`${dir}/a`, spec, options);
    await writer.write({
      a: 7,
      b: [1, 2],
      c: null,
      d: "9",
      e: new Blob(["blob"]),
    });
    await writer.close();
    assert.deepEqual(calls, [[7, "8", "big"], [1], [2], [null]]);
    const { datapoints } = naiveDataset(`${dir}/a`, 1);
    assert.deepEqual(datapoints[0]!.d, Uint8Array.of(9, 9, 9));
    assert.deepEqual(datapoints[0]!.e, new TextEncoder().encode("blob"));
  });
});

Deno.test("a datapoint that cannot be written leaves all keys at the previous one", async () => {
  const refused = (code: string, message: RegExp) => ({
    name: "WriteError",
    code,
    message,
  });
  const spec = { a: "bytes", b: "bytes[]", c: "fails" };
  const large = new Uint8Array(700_000).fill(5);
  const failing = async function* () {
    yield large;
    await setTimeout(1);
    yield large;
    throw new Error("no more");
  };
  const encoders = {
    fails(value: unknown) {
      if (value === "throw") throw new RangeError("cannot be");
      if (value === "reject") {
        return Promise.reject(new RangeError("cannot be"));
      }
      return value as Uint8Array;
    },
  };
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const path = `${dir}/${generation}`;
      const own = generation === 3 ? { ...spec, b: "bytes" } : spec;
      const b = generation === 3 ? BYTE : [BYTE];
      await using writer = await DatasetWriter.open(path, own, {
        encoders,
        generation,
      });
      const good = { a: BYTE, b, c: BYTE };
      await writer.write(good);
      const bad: [object, object][] = [
        [{ a: BYTE, b }, refused("bad-datapoint", /has no 'c'/)],
        [{ ...good, d: 1 }, refused("bad-datapoint", /the spec has no 'd'/)],
        [
          { a: BYTE, B: b, c: BYTE },
          refused("bad-datapoint", /has no 'b', and the spec has no 'B'/),
        ],
        [null!, refused("bad-datapoint", /has no 'a', 'b', 'c'/)],
        [
          { ...good, a: "text" },
          refused(
            "bad-value",
            /'a' of type 'bytes' of datapoint 1 .* not string/,
          ),
        ],
        [
          { ...good, a: large, c: "throw" },
          refused(
            "bad-value",
            /'c' of type 'fails' of datapoint 1 .*cannot be/,
          ),
        ],
        [{ ...good, a: large, c: "reject" }, refused("bad-value", /cannot be/)],
        [{ ...good, c: "text" }, refused("bad-value", /must give bytes/)],
        [{ ...good, b: failing() }, /no more/],
        [
          { ...good, b: 7 },
          refused(
            "bad-value",
            generation === 3 ? /must be bytes/ : /must be an array/,
          ),
        ],
      ];
      if (generation === 2) {
        bad.push([
          { ...good, c: new Uint8Array(0) },
          refused("empty-record", /c\.bag/),
        ]);
      } else if (generation === 1) {
        bad.push([
          { ...good, b: "text" },
          refused("bad-value", /and not a string/),
        ]);
      }
      for (const [datapoint, error] of bad) {
        await assert.rejects(writer.write(datapoint as typeof good), error);
        assert.equal(writer.length, 1);
      }
      assert.equal(await writer.write(good), 1);
      const cause = await writer.write({ ...good, c: "throw" }).catch((
        { cause },
      ) => cause);
      assert.ok(cause instanceof RangeError);
      assert.throws(
        () => writer.writeSync({ ...good, c: "reject" }),
        refused("bad-value", /use write\(\)/),
      );
      await writer.close();
      assert.deepEqual(naiveDataset(path, generation).datapoints, [good, good]);
      const sizes = [...filesBelow(path).values()].map(({ length }) => length);
      assert.ok(Math.max(...sizes) < 100, `${sizes}`); // withdrawn data left nothing
    }
  });
});

Deno.test("a signal ends a waiting append, and the next continues", async () => {
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const encoders = {
        slow: (value: Uint8Array) =>
          value.length > 1 ? new Promise<never>(() => {}) : value,
      };
      const options = { encoders, generation };
      await using writer = await DatasetWriter.open(`${dir}/${generation}`, {
        a: "bytes",
        s: "slow",
      }, options);
      const controller = new AbortController();
      const append = writer.write({
        a: new Uint8Array(500_000),
        s: new Uint8Array(2),
      }, controller);
      await setTimeout(5);
      controller.abort(new Error("too slow"));
      await assert.rejects(append, /too slow/);
      assert.equal(await writer.write({ a: BYTE, s: BYTE }), 0);
      await writer.close();
      assert.deepEqual(naiveDataset(writer.path, generation).datapoints, [{
        a: BYTE,
        s: BYTE,
      }]);
    }
  });
});

Deno.test("specs are rejected exactly if the originals reject them", async () => {
  await withTempDir((dir) => {
    let number = 0;
    const opens = (spec: object, generation: 1 | 2 | 3) => {
      const writer = DatasetWriter.openSync(
        `${dir}/${++number}`,
        spec as Record<string, string>,
        { encoders: null, generation },
      );
      writer.abort();
    };
    // bags: any key, types of [a-z0-9-_] with arguments; granular: both start with [a-z_]
    const fits: [object, readonly (1 | 2 | 3)[]][] = [
      [{ a: "utf8" }, [1, 2, 3]],
      [{ _a: "_own Type!" }, [1, 2, 3]],
      [{ Upper: "utf8", "0": "0-9(1,2)[]" }, [1]],
      [{ Upper: "utf8 " }, []],
      [{ a: "Own" }, []],
      [{ a: "0" }, [1]],
      [{ a: "" }, []],
      [{ a: "[]" }, []],
      [{}, [1, 2]],
      [{ refs: "utf8" }, [3]],
      [{ "a/b": "utf8" }, []],
      [{ "../a": "utf8" }, []],
      [{ "": "utf8" }, []],
      [{ [`${"a".repeat(252)}`]: "utf8" }, []],
      [{ [`${"a".repeat(251)}`]: "utf8" }, [1, 2, 3]],
      [{ a: 7 }, []],
      [[], []],
    ];
    for (const [spec, generations] of fits) {
      for (const generation of GENERATIONS) {
        if (generations.includes(generation)) opens(spec, generation);
        else {
          assert.throws(
            () => opens(spec, generation),
            { name: "WriteError", code: "bad-spec" },
            `${generation} ${JSON.stringify(spec)}`,
          );
        }
      }
    }
    const escaped = fs.readdirSync(dir).filter((name) => !/^\d+$/.test(name));
    assert.deepEqual(escaped, []);
  });
});

Deno.test("a dataset without datapoints can be read", async () => {
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const path = `${dir}/new/${generation}`;
      await using writer = await DatasetWriter.open(path, {
        a: "bytes",
        b: "bytes",
      }, { ...RAW, generation });
      await writer.close();
      assert.deepEqual(naiveDataset(path, generation), {
        spec: { a: "bytes", b: "bytes" },
        datapoints: [],
      });
      assert.equal(writer.size, generation === 1 ? 24 : 0);
      using reader = await DatasetReader.open(path);
      assert.equal(reader.length, 0);
      const { damaged } = await check(path, { onDamage() {} });
      assert.equal(damaged, 0);
    }
  });
});

Deno.test("a directory that is not empty is not changed", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/full`);
    fs.writeFileSync(`${dir}/full/file`, "");
    fs.writeFileSync(`${dir}/file`, "");
    fs.mkdirSync(`${dir}/empty`);
    for (const generation of [1, 2] as const) {
      const open = (name: string) =>
        DatasetWriter.open(`${dir}/${name}`, { a: "bytes" }, {
          ...RAW,
          generation,
        });
      await assert.rejects(open("full"), { code: "not-empty" });
      await assert.rejects(open("file"), { code: "not-a-directory" });
      await assert.rejects(open("file/deep"), {
        name: "WriteError",
        code: "not-a-directory",
      });
      (await open("empty")).abort();
    }
    const third = DatasetWriter.open(`${dir}/file`, { a: "bytes" }, RAW);
    await assert.rejects(third, { code: "not-a-directory" });
    assert.deepEqual([...filesBelow(dir).keys()], ["file", "full/file"]);
  });
});
