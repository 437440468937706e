/** Repair of damaged directories: what is saved and what is not, without touching anything else. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { GulpDirectory, repairGulp } from "../../../../src/formats/gulp/mod.ts";
import { check } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  type GulpCase,
  gulpCase,
  gulpCases,
  joined,
} from "../../../support/gulp/gulp_golden.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";

type RepairOptions = NonNullable<Parameters<typeof repairGulp>[2]>;
type LeftOut = Parameters<NonNullable<RepairOptions["onLeftOut"]>>[0];

async function repair(
  from: string,
  out: string,
  options: RepairOptions = {},
) {
  const leftOut: LeftOut[] = [];
  const report = await repairGulp(from, out, {
    ...options,
    onLeftOut: (item) => leftOut.push(item),
  });
  assert.equal(report.leftOut, leftOut.length);
  const { damaged } = await check(out, {
    onDamage: ({ message }) => assert.fail(message),
  });
  assert.equal(damaged, 0);
  return { report, leftOut };
}

/** Returns names, bytes and times of a directory's files. */
function stateOf(dir: string): unknown {
  return [...Deno.readDirSync(dir)].map(({ name }) => {
    const { mtimeMs, size } = fs.statSync(`${dir}/${name}`);
    return {
      name,
      mtimeMs,
      size,
      sum: sha256(Deno.readFileSync(`${dir}/${name}`)),
    };
  });
}

/** Expected content of a saved video: its joined frames, and its metadata. */
interface SoundVideo {
  readonly frames: string;
  readonly meta: unknown;
}

/** Returns the undamaged videos of a case, by id. */
function soundVideos({ path, content }: GulpCase): Map<string, SoundVideo> {
  if (content === undefined) return videosOfPairs(path);
  return new Map(
    content.videos.filter(({ error }) => error === undefined)
      .map(({ id, frames_sha256, meta }) => [
        id,
        { frames: frames_sha256, meta },
      ]),
  );
}

/** Returns the videos of complete pairs of data and meta files, sliced from the data. */
function videosOfPairs(path: string): Map<string, SoundVideo> {
  const videos = new Map<string, SoundVideo>();
  for (const name of fs.readdirSync(path).sort()) {
    const number = /^data_(\d+)\.gulp$/.exec(name)?.[1];
    const metaPath = `${path}/meta_${number}.gmeta`;
    if (number === undefined || !fs.existsSync(metaPath)) continue;
    let meta: Record<string, { frame_info: number[][]; meta_data: unknown[] }>;
    try {
      meta = JSON.parse(fs.readFileSync(metaPath, "utf8"));
    } catch {
      continue; // empty, or truncated
    }
    const data = new Uint8Array(fs.readFileSync(`${path}/${name}`));
    for (const [id, { frame_info, meta_data }] of Object.entries(meta)) {
      const frames = frame_info.map(([loc, pad, length]) =>
        data.slice(loc!, loc! + length! - pad!)
      );
      if (videos.has(id)) continue;
      videos.set(id, { frames: sha256(joined(frames)), meta: meta_data[0] });
    }
  }
  return videos;
}

const EMPTY_DATA = /_bad_empty_data$/;
const UNSAVEABLE = /_hostile_pickled_meta$|_no_chunks$|_bad_empty_data$/;

for (const golden of gulpCases()) {
  if (UNSAVEABLE.test(golden.name)) continue;
  Deno.test(`repairing ${golden.name} saves every undamaged video`, async () => {
    await withTempDir(async (dir) => {
      const before = stateOf(golden.path);
      const { report, leftOut } = await repair(golden.path, `${dir}/out`);
      assert.deepEqual(stateOf(golden.path), before);
      const sound = soundVideos(golden);
      using repaired = await GulpDirectory.open(`${dir}/out`, {
        decode: false,
      });
      assert.equal(repaired.length, report.videos);
      for (const [id, expected] of sound) {
        const { frames, meta } = await repaired.getRaw(id);
        assert.deepEqual(
          { frames: sha256(joined(frames)), meta },
          expected,
        );
      }
      const saved = [...repaired.mergedMetaDict.keys()];
      if (golden.name.endsWith("_bad_cut_meta")) {
        assert.equal(saved.length, sound.size + 2); // those before the truncation
      } else assert.deepEqual(new Set(saved), new Set(sound.keys()));
      if (!golden.valid) return;
      assert.deepEqual(leftOut, []);
      assert.deepEqual(saved, golden.content.videos.map(({ id }) => id));
      for (const { id, meta_count } of golden.content.videos) {
        const { metaData } = repaired.mergedMetaDict.get(id)!;
        assert.equal(metaData.length, meta_count);
      }
    });
  });
}

Deno.test("nothing is written if nothing can be saved", async () => {
  for (const { name, path } of gulpCases()) {
    if (!UNSAVEABLE.test(name)) continue;
    await withTempDir(async (dir) => {
      await assert.rejects(
        repairGulp(path, `${dir}/out`),
        EMPTY_DATA.test(name)
          ? /no video that can be saved/
          : /no video|no chunks/,
      );
      assert.deepEqual(fs.readdirSync(dir), []);
    });
  }
});

Deno.test("the videos before the truncation of a meta file are saved, wherever it is truncated", async () => {
  await withTempDir(async (dir) => {
    const videos = ["a", "ü\ud800", "c", "4"].map((id, i) => ({
      id,
      frames: [fakeJpeg(10 + i), fakeJpeg(20 + i)],
      meta: { label: `${i}`, nested: { quote: '}, "x": {' } },
    }));
    writeChunk(`${dir}/whole`, 0, videos);
    const text = fs.readFileSync(`${dir}/whole/meta_0.gmeta`);
    const entries = Object.entries(JSON.parse(text.toString()));
    // End of each video: the text of all videos up to it, without the closing bracket.
    const ends = entries.map((_, i) =>
      Buffer.byteLength(
        JSON.stringify(Object.fromEntries(entries.slice(0, i + 1))),
      ) - 1
    );
    for (let cut = 1; cut < text.length; cut += LONG ? 7 : 19) {
      const from = `${dir}/cut_${cut}`;
      fs.cpSync(`${dir}/whole`, from, { recursive: true });
      fs.writeFileSync(`${from}/meta_0.gmeta`, text.subarray(0, cut));
      const whole = ends.filter((end) => end <= cut).length;
      if (whole === 0) {
        await assert.rejects(
          repairGulp(from, `${from}_out`),
          /no video that can be saved/,
        );
        continue;
      }
      const { report, leftOut } = await repair(from, `${from}_out`);
      assert.equal(report.videos, whole);
      assert.match(leftOut[0]!.error.message, /not JSON.*videos before that/);
      using repaired = GulpDirectory.openSync(`${from}_out`, {
        decode: false,
      });
      assert.deepEqual(
        [...repaired.mergedMetaDict.keys()],
        entries.slice(0, whole).map(([id]) => id),
      );
    }
    assert.ok(ends.at(-1)! < text.length);
  });
});

/** Makes a chunk whose second video has a frame that is not a JPEG, and one out of range. */
function makeDamaged(dir: string): void {
  const meta = writeChunk(dir, 0, [
    { id: "sound", frames: [fakeJpeg(100), fakeJpeg(101)] },
    {
      id: "damaged",
      frames: [1, 2, 3, 4].map((i) => fakeJpeg(200 + i, i)),
      meta: { x: 1 },
    },
    { id: "last", frames: [fakeJpeg(50)] },
  ]);
  meta.damaged!.frame_info[1]![0] = 10_000;
  const data = fs.readFileSync(`${dir}/data_0.gulp`);
  data[meta.damaged!.frame_info[2]![0]!] = 0;
  fs.writeFileSync(`${dir}/data_0.gulp`, data);
  fs.writeFileSync(`${dir}/meta_0.gmeta`, JSON.stringify(meta));
}

Deno.test("a video with a damaged frame is skipped, or keeps its undamaged frames", async () => {
  await withTempDir(async (dir) => {
    makeDamaged(`${dir}/in`);
    const whole = await repair(`${dir}/in`, `${dir}/whole`);
    assert.deepEqual(
      whole.leftOut.map(({ id, frames }) => [id, frames]),
      [["damaged", 4]],
    );
    assert.match(whole.leftOut[0]!.error.message, /frame 1 .*out of range/);
    assert.deepEqual(
      [whole.report.videos, whole.report.frames, whole.report.bytes],
      [2, 3, 100 + 104 + 52],
    );

    const partial = await repair(`${dir}/in`, `${dir}/partial`, {
      partial: true,
    });
    assert.deepEqual(
      partial.leftOut.map(({ id, frames }) => [id, frames]),
      [["damaged", 2]],
    );
    using repaired = GulpDirectory.openSync(`${dir}/partial`, {
      decode: false,
    });
    assert.deepEqual(
      repaired.getRawSync("damaged"),
      { frames: [fakeJpeg(201, 1), fakeJpeg(204, 4)], meta: { x: 1 } },
    );
    assert.deepEqual([...repaired.mergedMetaDict.keys()], [
      "sound",
      "damaged",
      "last",
    ]);
  });
});

Deno.test("of two videos with the same id the first undamaged one is saved", async () => {
  await withTempDir(async (dir) => {
    makeDamaged(`${dir}/in`);
    writeChunk(`${dir}/in`, 1, [
      { id: "damaged", frames: [fakeJpeg(9)] },
      { id: "last", frames: [fakeJpeg(8)] },
    ]);
    const { leftOut } = await repair(`${dir}/in`, `${dir}/out`);
    assert.deepEqual(leftOut.map(({ id }) => id), ["damaged", "last"]);
    assert.match(leftOut[1]!.error.message, /duplicate id last/);
    using repaired = GulpDirectory.openSync(`${dir}/out`, { decode: false });
    assert.equal(repaired.getRawSync("damaged").frames[0]!.length, 9);
    assert.equal(repaired.getRawSync("last").frames[0]!.length, 50);
  });
});

Deno.test("overlapping frames do not make a large directory from a small one", async () => {
  await withTempDir(async (dir) => {
    const frame = fakeJpeg(1000);
    const meta = writeChunk(`${dir}/in`, 0, [{ id: "a", frames: [frame] }]);
    const [info] = meta.a!.frame_info;
    for (let i = 0; i < 1000; i++) {
      meta[`b${i}`] = {
        frame_info: Array(1000).fill(info),
        meta_data: [{}],
      };
    }
    fs.writeFileSync(`${dir}/in/meta_0.gmeta`, JSON.stringify(meta));
    const { report, leftOut } = await repair(`${dir}/in`, `${dir}/out`);
    assert.equal(leftOut.length, 1000);
    assert.match(leftOut[0]!.error.message, /so they overlap/);
    assert.equal(report.videos, 1);
  });
});

Deno.test("labels are copied unchanged, or named if they are damaged", async () => {
  await withTempDir(async (dir) => {
    writeChunk(`${dir}/in`, 3, [{ id: "a", frames: [fakeJpeg(10)] }]);
    const labels = `${dir}/in/label2idx.json`;
    fs.writeFileSync(labels, '{"b": 1,\n "a": 0}');
    await repair(`${dir}/in`, `${dir}/out`);
    assert.equal(
      fs.readFileSync(`${dir}/out/label2idx.json`, "utf8"),
      '{"b": 1,\n "a": 0}',
    );
    assert.deepEqual(fs.readdirSync(`${dir}/out`).sort(), [
      "data_3.gulp",
      "label2idx.json",
      "meta_3.gmeta",
    ]);
    fs.writeFileSync(labels, '{"b": 1,');
    const { leftOut } = await repair(`${dir}/in`, `${dir}/without`);
    assert.match(leftOut[0]!.error.message, /label2idx\.json/);
    assert.deepEqual(
      fs.readdirSync(`${dir}/without`).sort(),
      ["data_3.gulp", "meta_3.gmeta"],
    );
  });
});

Deno.test("a target that exists, or is inside the input, is rejected", async () => {
  await withTempDir(async (dir) => {
    writeChunk(`${dir}/in`, 0, [{ id: "a", frames: [fakeJpeg(10)] }]);
    fs.mkdirSync(`${dir}/in/sub`);
    fs.symlinkSync(`${dir}/in/sub`, `${dir}/link`);
    fs.mkdirSync(`${dir}/full`);
    fs.writeFileSync(`${dir}/full/x`, "");
    const before = fs.readdirSync(`${dir}/in`);
    for (
      const [out, words] of [
        ["in", /it lies in/],
        ["in/new", /it lies in/],
        ["in/sub", /it lies in/],
        ["link/new", /it lies in/],
        ["full", /not empty/],
        ["full/x", /not-a|exists and is not a directory/],
      ] as const
    ) {
      await assert.rejects(repairGulp(`${dir}/in`, `${dir}/${out}`), words);
    }
    assert.deepEqual(fs.readdirSync(`${dir}/in`), before);
    fs.mkdirSync(`${dir}/empty`);
    await repair(`${dir}/in`, `${dir}/empty`);
  });
});

Deno.test("a broken link is a missing file", async () => {
  await withTempDir(async (dir) => {
    writeChunk(`${dir}/in`, 0, [{ id: "a", frames: [fakeJpeg(10)] }]);
    fs.symlinkSync("nowhere", `${dir}/in/data_1.gulp`);
    fs.writeFileSync(`${dir}/in/meta_1.gmeta`, "{}");
    const { report, leftOut } = await repair(`${dir}/in`, `${dir}/out`);
    assert.deepEqual([report.chunks, leftOut.length], [1, 1]);
    assert.match(leftOut[0]!.error.message, /data_1\.gulp: there is no such/);
  });
});

Deno.test("an aborted repair leaves nothing behind", async () => {
  await withTempDir(async (dir) => {
    const { path } = gulpCase("v2_chunks");
    const controller = new AbortController();
    await assert.rejects(
      repairGulp(path, `${dir}/out`, {
        signal: controller.signal,
        onProgress: (done, total) => {
          assert.ok(done <= total);
          if (done > total / 2) controller.abort(new Error("enough"));
        },
      }),
      /enough/,
    );
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});
