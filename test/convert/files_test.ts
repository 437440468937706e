/** Conversions between packed folders, plain folders, samples, datasets and files. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import {
  BagReader,
  DatasetReader,
  ShardedDatasetReader,
} from "../../src/formats/bags/mod.ts";
import {
  FFRecordReader,
  FFRecordWriter,
} from "../../src/formats/ffrecord/mod.ts";
import { pythonCases } from "../support/bags/bags_written_by_python.ts";
import { datapointsOf, filesOf } from "../support/converted.ts";
import { check, open } from "../../src/open/open.ts";
import { sha256 } from "../support/golden.ts";
import { filesBelow } from "../support/bags/naive_bags.ts";
import { LONG } from "../support/long.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";

const PACKED = `${REPOSITORY}test/golden/ffrecord/packed_tree/sample_10.ffr`;

/** Returns a dataset as bytes. */
function rawOf(path: string): unknown {
  using reader = ShardedDatasetReader.openSync(path, { decoders: null });
  const { spec, length, shards } = reader;
  return { spec, shards, values: reader.rangeSync(0, length) };
}

Deno.test("a packed folder becomes a folder, and again a packed folder", async () => {
  await withTempDir(async (dir) => {
    await convert(PACKED, `${dir}/folder/`);
    fs.mkdirSync(`${dir}/folder/.data.recordfs-1-1.part`); // left by a killed writer
    fs.writeFileSync(`${dir}/folder/.data.recordfs-1-1.part/a`, "half");
    const { count } = await convert(`${dir}/folder`, `${dir}/again.ffr`);
    assert.equal(count, 44);
    assert.deepEqual(await filesOf(`${dir}/again.ffr`), await filesOf(PACKED));
    // Packing a container gives the same as packing its files.
    await convert(PACKED, `${dir}/direct.ffr`, { to: "ffrecord" });
    assert.equal(
      sha256(fs.readFileSync(`${dir}/direct.ffr`)),
      sha256(fs.readFileSync(`${dir}/again.ffr`)),
    );
  });
});

Deno.test("a folder is packed in parts", async () => {
  await withTempDir(async (dir) => {
    await convert(PACKED, `${dir}/folder/`);
    const options = { to: "ffrecord", parts: 3 } as const;
    await convert(`${dir}/folder`, `${dir}/parts`, options);
    assert.equal(fs.readdirSync(`${dir}/parts`).length, 3);
    assert.deepEqual(await filesOf(`${dir}/parts`), await filesOf(PACKED));
  });
});

for (const kind of ["dataset", "shards"] as const) {
  for (const { name, path, generation } of pythonCases(kind)) {
    // The same datapoints as bags/many_datapoints in another generation.
    if (!LONG && name === "granular/many_datapoints") continue;
    Deno.test(`${name} becomes files and packed files, and again a dataset`, async () => {
      await withTempDir(async (dir) => {
        const back = { to: "bags", generation } as const;
        for (const there of ["files/", "files.ffr"]) {
          const { plan } = await convert(path, `${dir}/${there}`);
          assert.deepEqual(plan.lost, []);
          const again = `${dir}/from-${there.replace("/", "")}`;
          await convert(`${dir}/${there}`, again, back);
          assert.deepEqual(rawOf(again), rawOf(path));
        }
        assert.deepEqual(
          filesBelow(`${dir}/files`),
          new Map(
            [...await filesOf(path)].filter(([, content]) => content).sort(),
          ),
        );
      });
    });
  }
}

const SAMPLES = [[1, 2, 3], [4], [5, 6]].map((bytes) => Uint8Array.from(bytes));

async function writeSamples(path: string, samples = SAMPLES): Promise<void> {
  await using writer = await FFRecordWriter.open(path);
  for (const sample of samples) await writer.write(sample);
  await writer.close();
}

Deno.test("samples become bags, datasets and files, and again samples", async (t) => {
  const ways: [string, ConvertOptions][] = [
    ["there.bag", {}],
    ["there.bag", { generation: 1 }],
    ["there.bag", { generation: 2 }],
    ["there", { to: "bags" }],
    ["there", { to: "bags", generation: 2, shardLength: 2 }],
    ["there", { to: "bags", spec: { image: "jpg" } }],
    ["there/", {}],
  ];
  for (const [name, options] of ways) {
    await t.step(`${name} ${JSON.stringify(options)}`, async () => {
      await withTempDir(async (dir) => {
        await writeSamples(`${dir}/in.ffr`);
        const there = `${dir}/${name}`;
        const { plan } = await convert(`${dir}/in.ffr`, there, options);
        assert.deepEqual(plan.lost, []);
        const back = { to: "ffrecord-samples", lossy: true } as const;
        await convert(there, `${dir}/out.ffr`, back);
        assert.deepEqual(
          fs.readFileSync(`${dir}/out.ffr`),
          fs.readFileSync(`${dir}/in.ffr`),
        );
      });
    });
  }
});

Deno.test("samples become values of the key in a spec", async () => {
  await withTempDir(async (dir) => {
    await writeSamples(`${dir}/in.ffr`);
    await convert(`${dir}/in.ffr`, `${dir}/a`, { to: "bags" });
    await convert(`${dir}/in.ffr`, `${dir}/b`, {
      to: "bags",
      spec: { image: "jpg" },
    });
    assert.deepEqual(
      datapointsOf(`${dir}/a`),
      SAMPLES.map((sample) => ({ sample })),
    );
    assert.deepEqual(
      datapointsOf(`${dir}/b`),
      SAMPLES.map((image) => ({ image })),
    );
    await assert.rejects(
      convert(`${dir}/in.ffr`, `${dir}/c`, {
        to: "bags",
        spec: { a: "bytes", b: "bytes" },
      }),
      /`spec` must have one key for samples/,
    );
  });
});

Deno.test("bags are converted through the generations, and to parts of samples", async () => {
  await withTempDir(async (dir) => {
    await writeSamples(`${dir}/in.ffr`);
    await convert(`${dir}/in.ffr`, `${dir}/0.bag`, { generation: 1 });
    for (const [i, generation] of ([3, 2, 1] as const).entries()) {
      await convert(`${dir}/${i}.bag`, `${dir}/${i + 1}.bag`, { generation });
      using bag = BagReader.openSync(`${dir}/${i + 1}.bag`);
      assert.equal(bag.generation, generation);
      assert.deepEqual(bag.rangeSync(0, 9), SAMPLES);
    }
    const parts = { to: "ffrecord-samples", parts: 2 } as const;
    await convert(`${dir}/3.bag`, `${dir}/parts`, parts);
    using reader = FFRecordReader.openSync(`${dir}/parts`);
    assert.equal(reader.paths.length, 2);
    assert.deepEqual(reader.readSync([0, 1, 2]), SAMPLES);
  });
});

Deno.test("a bag that begins with a file of samples is a bag", async () => {
  await withTempDir(async (dir) => {
    await writeSamples(`${dir}/in.ffr`, SAMPLES);
    const file = await Deno.readFile(`${dir}/in.ffr`);
    await writeSamples(`${dir}/both.ffr`, [file, file]);
    await convert(`${dir}/both.ffr`, `${dir}/out.bag`);
    using bag = await open(`${dir}/out.bag`);
    assert.equal(bag.info.format, "bags");
    const onDamage = (damage: Error) => assert.fail(damage);
    const { damaged } = await check(`${dir}/out.bag`, { onDamage });
    assert.equal(damaged, 0);
  });
});

Deno.test("an empty sample cannot be stored in a bag of generation 2", async () => {
  await withTempDir(async (dir) => {
    await writeSamples(`${dir}/in.ffr`, [...SAMPLES, new Uint8Array(0)]);
    for (const to of ["bag", "bags"] as const) {
      const target = `${dir}/${to === "bags" ? "out" : "out.bag"}`;
      const options = { to, generation: 2 } as const;
      await assert.rejects(
        convert(`${dir}/in.ffr`, target, options),
        /sample 3 of .*is empty/,
      );
      const { count, leftOut } = await convert(`${dir}/in.ffr`, target, {
        ...options,
        lossy: true,
        onWarning: () => {},
      });
      assert.deepEqual([count, leftOut], [3, 1]);
      const third = `${dir}/third${to === "bags" ? "" : ".bag"}`;
      const whole = await convert(`${dir}/in.ffr`, third, { to });
      assert.deepEqual([whole.count, whole.leftOut], [4, 0]);
      using made = await open(third);
      const last = to === "bag" ? made.listSync("")[3]! : "000003/sample";
      assert.deepEqual(await made.read([last]), [new Uint8Array(0)]);
    }
  });
});

/** Files that are not a dataset, and the error messages. */
const NO_DATASET: [files: Record<string, string>, words: RegExp][] = [
  [{ "a.txt": "" }, /it has no spec.json/],
  [{ "spec.json/x": "", "000000/x": "1" }, /it has no spec.json/],
  [{ "spec.json": "{", "000000/x": "1" }, /spec.json is not JSON/],
  [{ "spec.json": '{"../x": "utf8"}', "000000/x": "1" }, /unsafe key/],
  [{ "spec.json": '{"x": "utf8[]"}', "000000/x/0": "1" }, /'x' is a list/],
  [{ "spec.json": '{"x": "utf8"}', "000000/y": "1" }, /the spec has no 'y'/],
  [{ "spec.json": '{"x": "utf8"}', "000000/x/0": "" }, /'x' is a directory/],
  [
    { "spec.json": '{"x": "utf8", "y": "utf8"}', "000000/y": "1" },
    /000000: it has no 'x'/,
  ],
  [
    { "spec.json": '{"x": "utf8"}', "000000/x": "1", "notes": "" },
    /losing files that are not datapoints: notes/,
  ],
  [
    {
      "000000/spec.json": '{"x": "utf8"}',
      "000000/000000/x": "1",
      "000000/notes": "",
    },
    /losing files that are not datapoints: 000000\/notes/,
  ],
];

Deno.test("files that are not a dataset are rejected", async (t) => {
  for (const [files, words] of NO_DATASET) {
    await t.step(JSON.stringify(files), async () => {
      await withTempDir(async (dir) => {
        for (const [path, content] of Object.entries(files)) {
          const file = `${dir}/in/${path}`;
          fs.mkdirSync(file.slice(0, file.lastIndexOf("/")), {
            recursive: true,
          });
          fs.writeFileSync(file, content);
        }
        await assert.rejects(
          convert(`${dir}/in`, `${dir}/out`, { to: "bags" }),
          words,
        );
        assert.deepEqual(fs.readdirSync(dir), ["in"]);
      });
    });
  }
});

Deno.test("files become a dataset with the types of a spec, optionally in shards", async () => {
  await withTempDir(async (dir) => {
    for (let i = 0; i < 5; i++) {
      fs.mkdirSync(`${dir}/in/00000${i}/list`, { recursive: true });
      fs.writeFileSync(`${dir}/in/00000${i}/x`, `${i}`);
      fs.writeFileSync(`${dir}/in/00000${i}/.of_the_desktop`, "");
      for (let k = 0; k < i; k++) {
        fs.writeFileSync(`${dir}/in/00000${i}/list/00000${k}`, `${k}`);
      }
    }
    const options = {
      to: "bags",
      generation: 2,
      spec: { list: "utf8[]", x: "utf8" },
      shardLength: 2,
    } as const;
    fs.writeFileSync(`${dir}/in/000004/list/.of_the_desktop`, "");
    await convert(`${dir}/in`, `${dir}/out`, options);
    assert.deepEqual(fs.readdirSync(`${dir}/out`).sort(), [
      "000000",
      "000001",
      "000002",
    ]);
    using last = DatasetReader.openSync(`${dir}/out/000002`);
    const list = ["0", "1", "2", "3"];
    assert.deepEqual(last.getSync(0), { list, x: "4" });
    fs.writeFileSync(`${dir}/in/000004/list/notes.txt`, "");
    await assert.rejects(
      convert(`${dir}/in`, `${dir}/other`, options),
      /000004: its 'list' has 'notes\.txt'/,
    );
  });
});

Deno.test("the option from forces the format of the source", async () => {
  await withTempDir(async (dir) => {
    const gulp = `${REPOSITORY}test/golden/gulp/v2_one_frame/gulp`;
    await convert(gulp, `${dir}/raw.ffr`, { from: "folder" });
    assert.deepEqual(
      (await filesOf(`${dir}/raw.ffr`)).get("data_0.gulp"),
      new Uint8Array(fs.readFileSync(`${gulp}/data_0.gulp`)),
    );
    // The names of a packed folder are its last sample.
    const { plan, count } = await convert(PACKED, `${dir}/all.bag`, {
      from: "ffrecord-samples",
      generation: 1, // since some files are empty
    });
    assert.deepEqual([plan.lost, count], [[], 45]);
  });
});

Deno.test("a link in a folder that is broken or circular is reported as such", () =>
  withTempDir(async (dir) => {
    const links = { nowhere: "not/there", self: "self", above: ".." };
    for (const [name, target] of Object.entries(links)) {
      const folder = `${dir}/${name}`;
      await Deno.mkdir(`${folder}/d`, { recursive: true });
      await Deno.symlink(target, `${folder}/d/${name}`);
      const says = name === "nowhere"
        ? "is a symbolic link to nowhere"
        : "is a symbolic link that leads in a circle";
      await assert.rejects(convert(folder, `${dir}/${name}.tar`), {
        code: "not-a-file",
        message:
          `Cannot convert ${folder}/d/${name}: it ${says}. Take it out of the folder`,
      });
    }
  }));
