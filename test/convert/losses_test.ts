/** Losses are reported and rejected; failed conversions leave nothing behind. */
import assert from "node:assert/strict";
import {
  ConversionError,
  type ConvertOptions,
  type ConvertReport,
} from "../../src/convert/conversion.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { RecordfsError, WriteError } from "../../src/base/errors.ts";
import { DatasetReader } from "../../src/formats/bags/mod.ts";
import { dump } from "../../src/formats/ffrecord/mod.ts";
import { datapointsOf, namesIn } from "../support/converted.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { withTempDir } from "../support/paths.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Asserts that a conversion is rejected for losses that match `words`, and leaves nothing behind. */
async function assertLoses(
  source: string,
  target: string,
  options: ConvertOptions,
  words: RegExp,
): Promise<void> {
  const dir = target.slice(0, target.lastIndexOf("/"));
  const before = namesIn(dir);
  let error: unknown;
  try {
    await convert(source, target, options);
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof ConversionError, `${error}`);
  assert.equal(error.code, "would-lose");
  assert.match(error.losses.join("; "), words);
  assert.match(error.message, words);
  assert.deepEqual(namesIn(dir), before);
}

Deno.test("empty texts and bytes become msgpack in generations without empty records", async () => {
  await withTempDir(async (dir) => {
    const spec = { b: "bytes", full: "utf8", t: "utf8", u: "utf8[]" };
    const full = bytes(0x61);
    writeDataset(`${dir}/a`, spec, [
      { b: bytes(), full, t: bytes(0x62), u: [bytes(), full] },
      { b: bytes(7), full, t: bytes(), u: [] },
    ], 1);
    const two = { to: "bags", generation: 2 } as const;
    const { plan } = await convert(`${dir}/a`, `${dir}/b`, two);
    assert.deepEqual(plan.lost, []);
    using reader = DatasetReader.openSync(`${dir}/b`);
    assert.deepEqual(reader.spec, {
      b: "msgpack",
      full: "utf8",
      t: "msgpack",
      u: "msgpack[]",
    });
    assert.deepEqual(datapointsOf(`${dir}/b`), datapointsOf(`${dir}/a`));
  });
});

Deno.test("empty values keep their types in generations that have empty records", async () => {
  await withTempDir(async (dir) => {
    const spec = { b: "bytes", t: "utf8", x: "point" };
    const datapoints = [
      { b: bytes(), t: bytes(), x: bytes() },
      { b: bytes(1), t: bytes(0x61), x: bytes(2) },
    ];
    for (const [from, to] of [[1, 3], [3, 1], [3, 3]] as const) {
      const [source, target] = [
        `${dir}/${from}${to}`,
        `${dir}/${from}${to}out`,
      ];
      writeDataset(source, spec, datapoints, from);
      const { plan } = await convert(source, target, {
        to: "bags",
        generation: to,
      });
      assert.deepEqual(plan.lost, []);
      using reader = DatasetReader.openSync(target);
      assert.deepEqual([reader.generation, reader.spec], [to, spec]);
      assert.deepEqual(datapointsOf(target), datapointsOf(source));
      assert.equal(datapointsOf(target).length, 2);
    }
    const { plan } = await convert(`${dir}/33`, `${dir}/33two`, {
      to: "bags",
      generation: 2,
      lossy: true,
    });
    assert.match(plan.lost.join(), /empty 'x' \(1 values\)/);
    using reader = DatasetReader.openSync(`${dir}/33two`);
    assert.deepEqual(reader.spec, { b: "msgpack", t: "msgpack", x: "point" });
  });
});

Deno.test("other empty values are a loss that the plan reports", async () => {
  await withTempDir(async (dir) => {
    const point = (x: Uint8Array) => ({ x });
    writeDataset(
      `${dir}/a`,
      { x: "point" },
      [bytes(1), bytes(), bytes(2)].map(point),
      1,
    );
    const options = { to: "bags", generation: 2 } as const;
    await assertLoses(
      `${dir}/a`,
      `${dir}/b`,
      options,
      /empty 'x' \(1 values\)/,
    );
    const warnings: string[] = [];
    const { count, leftOut } = await convert(`${dir}/a`, `${dir}/b`, {
      ...options,
      lossy: true,
      onWarning: (message) => warnings.push(message),
    });
    assert.deepEqual([count, leftOut], [2, 1]);
    assert.match(warnings.join(), /datapoint 1 of .*'x' is empty/);
    assert.deepEqual(datapointsOf(`${dir}/b`), [bytes(1), bytes(2)].map(point));
  });
});

Deno.test("a number below 0 cannot be stored in generation 1", async () => {
  await withTempDir(async (dir) => {
    const values = [5, 0xff, 6].map((n) => ({ n: bytes(n) }));
    writeDataset(`${dir}/a`, { n: "int" }, values, 3);
    const options = { to: "bags", generation: 1 } as const;
    await assertLoses(
      `${dir}/a`,
      `${dir}/b`,
      options,
      /datapoint 1 of .*: its 'n' is below 0/,
    );
    const quiet = { onWarning: () => {} };
    await convert(`${dir}/a`, `${dir}/b`, {
      ...options,
      ...quiet,
      lossy: true,
    });
    assert.deepEqual(datapointsOf(`${dir}/b`), [{ n: 5 }, { n: 6 }]);
  });
});

Deno.test("a damaged value ends the conversion, and the error names the value", async () => {
  await withTempDir(async (dir) => {
    const values = [{ n: bytes(1, 2, 3) }]; // its type has 2 bytes
    writeDataset(`${dir}/a`, { n: "int(2)" }, values, 1);
    const words = /datapoint 0 of .*: its 'n' cannot be converted: .*3 bytes/;
    await assertLoses(`${dir}/a`, `${dir}/b`, { to: "bags" }, words);
  });
});

Deno.test("names and types that plain samples lack are a loss", async () => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/a`, { x: "jpg" }, [{ x: bytes(1) }], 3);
    const options = { to: "ffrecord-samples" } as const;
    await assertLoses(`${dir}/a`, `${dir}/b.ffr`, options, /key 'x'.*jpg/);
    let plan: ConvertReport["plan"] | undefined;
    const onPlan = (made: ConvertReport["plan"]) => plan = made;
    await convert(`${dir}/a`, `${dir}/b.ffr`, {
      ...options,
      onPlan,
      lossy: true,
    });
    assert.equal(plan?.lost.length, 2);
  });
});

/** Impossible conversions, and options that contradict the source. */
const IMPOSSIBLE: [name: string, options: ConvertOptions, words: RegExp][] = [
  ["two keys to samples", {
    to: "ffrecord-samples",
    parts: 2,
  }, /one key .*'a' \(utf8\)/],
  ["texts to videos", { to: "gulp" }, /one key of type jpg\[\]/],
  [
    "an unknown target",
    { to: "rar" as never },
    /to 'rar': there is no such target/,
  ],
  ["no target", {}, /does not give the target format/],
  [
    "parts of a dataset",
    { to: "bags", parts: 2 },
    /target bags does not support the option `parts`/,
  ],
  [
    "shards of none",
    { to: "bags", shardLength: 0 },
    /`shardLength` must be a whole number from 1, not 0/,
  ],
  [
    "a fourth generation",
    { to: "bags", generation: 4 as never },
    /`generation` must be 1, 2 or 3, not 4/,
  ],
  ["types for a dataset", { to: "bags", spec: { a: "utf8" } }, /of its own/],
];

Deno.test("impossible conversions are rejected before anything is written", async (t) => {
  await withTempDir(async (dir) => {
    const datapoint = { a: bytes(0x61), b: bytes(0x62) };
    writeDataset(`${dir}/a`, { a: "utf8", b: "utf8" }, [datapoint], 3);
    for (const [name, options, words] of IMPOSSIBLE) {
      await t.step(name, async () => {
        await assert.rejects(
          convert(`${dir}/a`, `${dir}/b`, options),
          (error) => {
            assert.ok(error instanceof ConversionError);
            assert.notEqual(error.code, "would-lose");
            assert.match(error.message, words);
            return true;
          },
        );
        assert.deepEqual(namesIn(dir), ["a"]);
      });
    }
  });
});

Deno.test("keys that granular's writers refuse are rejected before anything is written", async () => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/a`, { Upper: "bytes" }, [{ Upper: bytes(1) }], 1);
    await assert.rejects(
      convert(`${dir}/a`, `${dir}/b`, { to: "bags" }),
      (error) => error instanceof WriteError && /"Upper"/.test(error.message),
    );
    assert.deepEqual(namesIn(dir), ["a"]);
  });
});

Deno.test("no existing file or directory is replaced", async (t) => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/a`, { x: "bytes" }, [{ x: bytes(1) }], 3);
    await Deno.mkdir(`${dir}/full/sub`, { recursive: true });
    await Deno.mkdir(`${dir}/empty`);
    await Deno.writeTextFile(`${dir}/file.ffr`, "kept");
    await Deno.writeTextFile(`${dir}/b.idx`, "kept");
    const before = namesIn(dir);
    const cases: [string, ConvertOptions][] = [
      [`${dir}/full`, { to: "bags" }],
      [`${dir}/full/`, {}],
      [`${dir}/file.ffr`, {}],
      [`${dir}/file.ffr`, { to: "bags" }],
      [`${dir}/empty`, { to: "bag", lossy: true }],
      [`${dir}/b.bag`, { lossy: true }],
      [`${dir}/a/inside`, { to: "bags" }],
      [`${dir}/nowhere/b`, { to: "bags" }],
    ];
    for (const [target, options] of cases) {
      await t.step(target.slice(dir.length), async () => {
        await assert.rejects(convert(`${dir}/a`, target, options), WriteError);
        assert.deepEqual(namesIn(dir), before);
        assert.deepEqual(namesIn(`${dir}/a`), ["spec.json", "x.bag", "x.idx"]);
        assert.equal(await Deno.readTextFile(`${dir}/file.ffr`), "kept");
      });
    }
    await convert(`${dir}/a`, `${dir}/empty`, { to: "bags" });
    assert.deepEqual(datapointsOf(`${dir}/empty`), [{ x: bytes(1) }]);
  });
});

/** Invalid target paths, and the error messages. */
const NO_PLACE: [target: string, options: ConvertOptions, words: RegExp][] = [
  ["out/", { to: "bag" }, /out\/: the name of a bag must end in \.bag/],
  ["out", { to: "bag" }, /the name of a bag must end in \.bag/],
  ["out.bag/", { to: "bag" }, /the name of a bag must end in \.bag/],
  [".bag", {}, /the name of a bag must end in \.bag/],
  ["out.idx", { to: "bag" }, /the name of a bag must end in \.bag/],
  ["out/", { to: "ffrecord" }, /must end in \.ffr/],
  ["out.ffr/", { to: "ffrecord-samples" }, /must end in \.ffr/],
  ["out", { to: "ffrecord-samples" }, /must end in \.ffr/],
  ["file/", {}, /it exists and is not a directory/],
  ["file", { to: "bags" }, /it exists and is not a directory/],
  ["file/x.bag", {}, /part of the path is not a directory/],
  ["file/x/", {}, /part of the path is not a directory/],
  ["none/x.bag", {}, /the directory .*none does not exist/],
  ["none/x.ffr", {}, /the directory .*none does not exist/],
  ["none/x/", {}, /the directory .*none does not exist/],
  ["full/", {}, /it exists and is not empty/],
  ["link.bag", {}, /it exists/],
  [`${"n".repeat(256)}.bag`, {}, /Cannot write/],
  [
    "out",
    { to: "ffrecord", parts: 1 },
    /only folders on disk and samples can be\. Remove the option `parts`$/,
  ],
];

Deno.test("a path that the target cannot have is rejected before anything is planned", async (t) => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/a`, { x: "bytes" }, [{ x: bytes(1) }], 3);
    await Deno.mkdir(`${dir}/full/sub`, { recursive: true });
    await Deno.writeTextFile(`${dir}/file`, "kept");
    await Deno.symlink("file", `${dir}/link.bag`);
    const before = namesIn(dir);
    for (const [target, options, words] of NO_PLACE) {
      await t.step(`${target.slice(0, 20)} ${options.to}`, async () => {
        let plans = 0;
        await assert.rejects(
          convert(`${dir}/a`, `${dir}/${target}`, {
            ...options,
            onPlan: () => void plans++,
            lossy: true,
          }),
          (error) => {
            assert.ok(error instanceof RecordfsError, `${error}`);
            assert.match(error.message, words);
            return true;
          },
        );
        assert.equal(plans, 0);
        assert.deepEqual(namesIn(dir), before);
        assert.equal(await Deno.readTextFile(`${dir}/file`), "kept");
      });
    }
  });
});

Deno.test("a single part becomes a file or a directory, depending on its name", async (t) => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/folder`);
    await Deno.writeTextFile(`${dir}/folder/a`, "a");
    await dump([bytes(1), bytes(2)], `${dir}/samples.ffr`, 1);
    for (
      const [source, to] of [
        ["folder", "ffrecord"],
        ["samples.ffr", "ffrecord-samples"],
      ] as const
    ) {
      await t.step(to, async () => {
        const [file, parts] = [`${dir}/${to}.ffr`, `${dir}/${to}`];
        const options = { to, parts: 1 };
        await convert(`${dir}/${source}`, file, options);
        await convert(`${dir}/${source}`, parts, options);
        assert.deepEqual(namesIn(parts), ["PART_00000.ffr"]);
        assert.deepEqual(
          await Deno.readFile(`${parts}/PART_00000.ffr`),
          await Deno.readFile(file),
        );
      });
    }
  });
});

Deno.test("an abort leaves nothing behind", async (t) => {
  await withTempDir(async (dir) => {
    const datapoints = Array.from({ length: 600 }, (_, i) => ({
      x: bytes(i, i >> 8),
    }));
    writeDataset(`${dir}/a`, { x: "bytes" }, datapoints, 2);
    const targets: [string, ConvertOptions][] = [
      ["one", { to: "bags" }],
      ["old", { to: "bags", generation: 1 }],
      ["shards", { to: "bags", shardLength: 50 }],
      ["a.bag", { lossy: true }],
      ["a.ffr", {}],
      ["samples.ffr", { to: "ffrecord-samples", lossy: true }],
      ["folder/", {}],
    ];
    for (const [target, options] of targets) {
      await t.step(target, async () => {
        const aborter = new AbortController();
        const reason = new Error("enough");
        await assert.rejects(
          convert(`${dir}/a`, `${dir}/${target}`, {
            ...options,
            signal: aborter.signal,
            onProgress({ done }) {
              if (done >= 300) aborter.abort(reason);
            },
          }),
          (error) => error === reason,
        );
        assert.deepEqual(namesIn(dir), ["a"]);
      });
    }
  });
});
