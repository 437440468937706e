/** Conversions of directories of chunks written by GulpIO to every format that stores videos, and back. */
import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import { GulpDirectory } from "../../src/formats/gulp/mod.ts";
import { DatasetReader } from "../../src/formats/bags/mod.ts";
import { filesOf, videosOf } from "../support/converted.ts";
import { gulpCases } from "../support/gulp/gulp_golden.ts";
import { sha256 } from "../support/golden.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { fakeJpeg, writeChunk } from "../support/gulp/make_gulp.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { LONG } from "../support/long.ts";
import { withTempDir } from "../support/paths.ts";

/** Valid cases with videos. */
const CASES = gulpCases().filter(({ valid, content }) =>
  valid && content.num_chunks > 0
);

/** Case with ids that are empty, not text, or represented only in part by a name in a tree. */
const ODD_IDS = /odd_ids/;
/** Case with videos that have several metadata; readers and datasets return the first. */
const SEVERAL = /appended/;
/** Case with metadata that contains a lone surrogate, which msgpack cannot represent. */
const NO_TEXT = /nested_meta/;

/** Case with a video of 10,001 frames, which is slow; `names_test.ts` converts it to a folder and back. */
const MANY = /many_frames/;

/** Intermediate targets, with the options of each conversion. */
const WAYS: [name: string, options: ConvertOptions][] = [
  ["there/", {}],
  ["there.ffr", {}],
  ["there", { to: "bags", generation: 1 }],
  ["there", { to: "bags", generation: 2 }],
];

const text = new TextEncoder();

for (const [name, options] of WAYS) {
  const { generation } = options;
  const way = generation === undefined
    ? name
    : `bags of generation ${generation}`;
  Deno.test(`videos become ${way}, and videos again`, async (t) => {
    for (const golden of CASES) {
      if (ODD_IDS.test(golden.name)) continue;
      if (MANY.test(golden.name) && name !== "there.ffr" && !LONG) continue;
      if (NO_TEXT.test(golden.name) && options.to === "bags") continue;
      await t.step(golden.name, async () => {
        await withTempDir(async (dir) => {
          const lossy = SEVERAL.test(golden.name);
          const quiet = { lossy, onWarning: () => {} };
          const there = `${dir}/${name}`;
          const { plan, leftOut } = await convert(golden.path, there, {
            ...options,
            ...quiet,
          });
          const { label2idx } = golden.content;
          assert.deepEqual([plan.lost.length, leftOut], [lossy ? 1 : 0, 0]);
          await convert(there, `${dir}/back`, {
            to: "gulp",
            videosPerChunk: 3,
            onWarning: () => {},
          });
          const before = videosOf(golden.path);
          const sorted = (of: typeof before) =>
            name.endsWith("/") ? of.toSorted(([a], [b]) => a < b ? -1 : 1) : of;
          assert.deepEqual(sorted(videosOf(`${dir}/back`)), sorted(before));
          using back = GulpDirectory.openSync(`${dir}/back`);
          assert.equal(
            back.numChunks,
            Math.max(1, Math.ceil(before.length / 3)),
          );
          const labels = back.labelsSync();
          const expected = label2idx && new Map(Object.entries(label2idx));
          assert.deepEqual(labels ?? null, expected);
        });
      });
    }
  });
}

Deno.test("a folder of videos has the same files as a mount", async () => {
  await withTempDir(async (dir) => {
    const golden = CASES.find(({ name }) => name === "v2_chunks")!;
    await convert(golden.path, `${dir}/folder/`);
    for (const [path, content] of await filesOf(golden.path)) {
      const file = `${dir}/folder/${path}`;
      if (content === null) assert.ok((await Deno.stat(file)).isDirectory);
      else assert.deepEqual(new Uint8Array(readFileSync(file)), content);
    }
  });
});

Deno.test("in generation 3 each frame becomes a datapoint, and datapoints become videos again", async (t) => {
  for (const golden of CASES) {
    // Cases with data that is lost, such as videos without a datapoint.
    if (/odd_ids|appended|no_frames|nested_meta/.test(golden.name)) continue;
    await t.step(golden.name, async () => {
      await withTempDir(async (dir) => {
        const options = { to: "bags" } as const;
        const { count } = await convert(golden.path, `${dir}/there`, options);
        const before = videosOf(golden.path);
        const frames = before.flatMap(([, , frames]) => frames);
        assert.equal(count, frames.length);
        using reader = DatasetReader.openSync(`${dir}/there`, {
          decoders: null,
        });
        const { image } = reader.rangeSync(0, count, ["image"]);
        assert.deepEqual((image as Uint8Array[]).map(sha256), frames);
        if (before.length === 0) return;
        await convert(`${dir}/there`, `${dir}/back`, { to: "gulp" });
        assert.deepEqual(videosOf(`${dir}/back`), before);
      });
    });
  }
});

/** Steps from GulpIO through Bags and files, each with the location of the labels. */
type Step = [to: string, options: ConvertOptions, place?: string];
const LABELS = "label2idx.json";
const IN_SHARD = `000000/${LABELS}`;
const two = { to: "bags", generation: 2 } as const;
const CHAINS: Step[][] = [
  [["one", { to: "bags", generation: 1 }, LABELS]],
  [["two", two, LABELS]],
  [["three", { to: "bags" }, LABELS]],
  [["shards", { ...two, shardLength: 2 }, IN_SHARD]],
  [["shards", { to: "bags", shardSize: 1000 }, IN_SHARD]],
  [["two", two, LABELS], ["files/", {}, LABELS], ["again", two, LABELS]],
  [["two", two, LABELS], ["packed.ffr", {}], ["again", two, LABELS]],
  [
    ["shards", { ...two, shardLength: 1 }, IN_SHARD],
    ["same", two, IN_SHARD],
    ["others", { ...two, shardLength: 2 }, IN_SHARD],
    ["files/", {}, LABELS],
    ["again", two, IN_SHARD],
  ],
];

Deno.test("class indices of labels are preserved through Bags, files and shards", async (t) => {
  const labels = text.encode('{"10": 0, "2": 1, "é": 2}\n');
  for (const chain of CHAINS) {
    await t.step(chain.map(([to]) => to).join(", "), async () => {
      await withTempDir(async (dir) => {
        let at = `${dir}/gulp`;
        writeChunk(
          at,
          0,
          ["a", "b", "c"].map((id) => ({ id, frames: [JPEGS[0]!] })),
        );
        await Deno.writeFile(`${at}/${LABELS}`, labels);
        for (
          const [to, options, place] of [...chain, ["back", {
            to: "gulp",
          }, LABELS]] as Step[]
        ) {
          const { plan } = await convert(at, `${dir}/${to}`, options);
          assert.deepEqual(plan.lost, []);
          at = `${dir}/${to}`;
          if (place === undefined) continue;
          assert.deepEqual(await Deno.readFile(`${at}/${place}`), labels);
        }
        assert.deepEqual(videosOf(at), videosOf(`${dir}/gulp`));
      });
    });
  }
});

Deno.test("plain samples have no class indices of labels, which is a loss", async () => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/a`, { x: "bytes" }, [{ x: Uint8Array.of(1) }], 3);
    await Deno.writeTextFile(`${dir}/a/label2idx.json`, '{"a": 0}');
    for (const target of ["out.bag", "out.ffr"]) {
      const options = { to: "ffrecord-samples" } as const;
      await assert.rejects(
        convert(
          `${dir}/a`,
          `${dir}/${target}`,
          target === "out.bag" ? {} : options,
        ),
        /losing the name .*; label2idx\.json;/,
      );
    }
  });
});

Deno.test("invalid class indices of labels are rejected where they matter", async () => {
  await withTempDir(async (dir) => {
    const spec = { frames: "jpg[]", id: "utf8" };
    const frames = [JPEGS[0]!];
    for (const at of ["one", "shards/000000"]) {
      writeDataset(`${dir}/${at}`, spec, [{ frames, id: text.encode("v") }], 2);
      await Deno.writeTextFile(`${dir}/${at}/label2idx.json`, '{"a": "b"}');
      await assert.rejects(
        convert(`${dir}/${at.slice(0, 6)}`, `${dir}/out`, { to: "gulp" }),
        new RegExp(`${at}/label2idx\\.json`),
      );
    }
  });
});

Deno.test("ids and metadata that a dataset cannot store are rejected by name", async () => {
  await withTempDir(async (dir) => {
    const frames = [JPEGS[0]!];
    const cases: [id: string, meta: unknown, words: RegExp][] = [
      ["", {}, /video "" of .*: its 'id' is empty/],
      ["\ud800", {}, /: its 'id' cannot be converted: .* lone surrogate/],
      ["a", { n: 1 }, /losing all but the first metadata of "a"/],
    ];
    for (const [i, [id, meta, words]] of cases.entries()) {
      const written = writeChunk(`${dir}/${i}`, 0, [{ id, frames, meta }]);
      if ("n" in (meta as object)) written[id]!.meta_data.push({ n: 2 });
      const text = JSON.stringify(written);
      await Deno.writeTextFile(`${dir}/${i}/meta_0.gmeta`, text);
      const options = { to: "bags", generation: 2 } as const;
      await assert.rejects(
        convert(`${dir}/${i}`, `${dir}/out`, options),
        words,
      );
    }
    const odd = gulpCases().find(({ name }) => NO_TEXT.test(name))!;
    await assert.rejects(
      convert(odd.path, `${dir}/out`, { to: "bags" }),
      /its 'meta' cannot be converted: .*lone surrogate/,
    );
  });
});

Deno.test("videos without frames are lost in generation 3", async () => {
  await withTempDir(async (dir) => {
    writeChunk(`${dir}/a`, 0, [{ id: "none", frames: [] }, {
      id: "one",
      frames: [fakeJpeg(40)],
    }]);
    await assert.rejects(
      convert(`${dir}/a`, `${dir}/b`, { to: "bags" }),
      /without losing videos without frames \(1\)/,
    );
  });
});

Deno.test("values next to the frames become metadata", async () => {
  await withTempDir(async (dir) => {
    const spec = {
      blob: "bytes",
      frames: "jpg[]",
      id: "int",
      label: "int",
      meta: "msgpack",
      title: "utf8",
    };
    const datapoint = {
      blob: Uint8Array.of(1),
      frames: [JPEGS[0]!, JPEGS[1]!],
      id: Uint8Array.of(7),
      label: Uint8Array.of(3),
      meta: Uint8Array.of(0x81, 0xa1, 0x61, 0x01), // {"a": 1}
      title: text.encode("x"),
    };
    writeDataset(`${dir}/a`, spec, [datapoint], 2);
    await assert.rejects(
      convert(`${dir}/a`, `${dir}/b`, { to: "gulp" }),
      /without losing 'blob', of type bytes/,
    );
    await convert(`${dir}/a`, `${dir}/b`, { to: "gulp", lossy: true });
    assert.deepEqual(videosOf(`${dir}/b`), [
      ["7", { a: 1, label: 3, title: "x" }, [
        sha256(JPEGS[0]!),
        sha256(JPEGS[1]!),
      ]],
    ]);
  });
});

/** Content that cannot be a video, and the reason. */
const UNFIT: [name: string, frame: Uint8Array, meta: string, words: RegExp][] =
  [
    [
      "no JPEG",
      text.encode("text"),
      "{}",
      /frame 1 cannot be stored as a JPEG: .*it is not a JPEG, PNG, WebP/,
    ],
    ["a cut JPEG", JPEGS[0]!.subarray(0, -2), "{}", /does not end with FF D9/],
    ["no JSON", JPEGS[0]!, "{", /meta.json is not JSON/],
    ["no object", JPEGS[0]!, "[]", /meta.json is not an object/],
  ];

Deno.test("content that is not a video is rejected, or skipped", async (t) => {
  for (const [name, frame, meta, words] of UNFIT) {
    await t.step(name, async () => {
      await withTempDir(async (dir) => {
        for (const id of ["a", "b", "c"]) {
          await Deno.mkdir(`${dir}/in/${id}`, { recursive: true });
          await Deno.writeFile(`${dir}/in/${id}/1.jpg`, JPEGS[0]!);
        }
        await Deno.writeFile(`${dir}/in/b/2.jpeg`, frame);
        await Deno.writeTextFile(`${dir}/in/b/meta.json`, meta);
        const options = { to: "gulp", onWarning: () => {} } as const;
        await assert.rejects(
          convert(`${dir}/in`, `${dir}/out`, options),
          words,
        );
        const { leftOut } = await convert(`${dir}/in`, `${dir}/out`, {
          ...options,
          lossy: true,
        });
        assert.equal(leftOut, 1);
        assert.deepEqual(videosOf(`${dir}/out`), [
          ["a", {}, [sha256(JPEGS[0]!)]],
          ["c", {}, [sha256(JPEGS[0]!)]],
        ]);
      });
    });
  }
});

Deno.test("a video of datapoints with a frame that is not a JPEG is skipped whole", async () => {
  await withTempDir(async (dir) => {
    const spec = { id: "utf8", image: "jpg" };
    const of = (id: string, image: Uint8Array) => ({
      id: text.encode(id),
      image,
    });
    const [good] = JPEGS as [Uint8Array];
    const bad = text.encode("text");
    const all = [["a", good], ["b", good], ["b", bad], ["b", good], [
      "c",
      good,
    ]];
    writeDataset(
      `${dir}/a`,
      spec,
      all.map(([id, image]) => of(id as string, image as Uint8Array)),
      3,
    );
    const warnings: string[] = [];
    await convert(`${dir}/a`, `${dir}/b`, {
      to: "gulp",
      lossy: true,
      onWarning: (message) => warnings.push(message),
    });
    assert.deepEqual(videosOf(`${dir}/b`).map(([id]) => id), ["a", "c"]);
    assert.match(
      warnings.join(),
      /datapoint 1 of .*: its frame 1 cannot be stored as a JPEG/,
    );
  });
});

Deno.test("files of a folder that are not frames are a loss that the plan reports", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/in/a/deep`, { recursive: true });
    await Deno.writeFile(`${dir}/in/a/1.jpg`, JPEGS[0]!);
    await Deno.writeTextFile(`${dir}/in/a/notes.txt`, "");
    await Deno.writeTextFile(`${dir}/in/top`, "");
    await assert.rejects(
      convert(`${dir}/in`, `${dir}/out`, { to: "gulp" }),
      /files that are not frames: a\/deep, a\/notes.txt, top; nothing/,
    );
  });
});

Deno.test("a skipped chunk is reported once, only to the caller", async () => {
  await withTempDir(async (dir) => {
    const from = `${dir}/gulp`;
    const { path } = CASES.find(({ name }) => name === "v2_chunks")!;
    cpSync(path, from, { recursive: true });
    rmSync(`${from}/meta_1.gmeta`);
    const printed: unknown[] = [];
    const { warn } = globalThis.console;
    const print = (...message: unknown[]) => printed.push(message);
    Object.assign(globalThis.console, { warn: print });
    const warnings: string[] = [];
    try {
      await convert(from, `${dir}/frames/`, {
        lossy: true,
        onWarning: (message) => warnings.push(message),
      });
    } finally {
      Object.assign(globalThis.console, { warn });
    }
    assert.deepEqual(printed, []);
    const told = warnings.filter((line) => line.includes("meta_1.gmeta"));
    assert.equal(told.length, 1, warnings.join("\n"));
  });
});
