/** `recordfs gulp`: a command for each adapter, from input files to chunks. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { GulpDirectory } from "../../../../src/formats/gulp/mod.ts";
import { ADAPTERS } from "../../../../src/formats/gulp/adapters/adapters.ts";
import { burstCount, makeClip } from "../../../support/gulp/clips.ts";
import {
  contentOf,
  JPEGS,
  writeImages,
} from "../../../support/gulp/gulp_content.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { until } from "../../mount/mount_place.ts";
import { assertFailed, CLI, recordfs, run, succeed } from "../../run_cli.ts";

Deno.test("there is a command for each adapter, with the flags it declares", async () => {
  const { stdout } = await succeed(["gulp", "--help"]);
  for (const [name, [{ options = [] }]] of ADAPTERS) {
    assert.match(stdout, new RegExp(`^ {2}${name} .*TARGET`, "m"));
    const help = (await succeed(["gulp", name, "--help"])).stdout;
    const flags = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) =>
      flag
    );
    for (
      const flag of ["videos-per-chunk", "workers", "extend", "resume"]
    ) assert.ok(flags.includes(`--${flag}`), `${name} --${flag}`);
    const others = options.filter(({ positional }) => positional !== true);
    assert.equal(flags.length, others.length + 6, `${name}: ${flags}`);
  }
});

Deno.test("image-folder: unchanged or resized; several workers; numbered labels", async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/images`, ["cat", "dog"], 5);
    const out = `${dir}/out`;
    const { stdout } = await succeed([
      ...["gulp", "image-folder", `${dir}/images`, out],
      ...["--videos-per-chunk", "4", "--num-workers", "2"],
    ]);
    assert.match(stdout, /: 10 videos, 10 frames, \d+ bytes, 3 chunks[,\n]/);
    using directory = GulpDirectory.openSync(out, { decode: false });
    assert.deepEqual(
      directory.getRawSync("dog-3.jpg"),
      {
        frames: [JPEGS[3]],
        meta: {
          id: "dog-3.jpg",
          label: "dog",
          path: `${dir}/images/dog`,
          idx: 1,
        },
      },
    );
    assert.deepEqual(
      JSON.parse(fs.readFileSync(`${out}/label2idx.json`, "utf8")),
      { cat: 0, dog: 1 },
    );

    const small = await succeed([
      ...["gulp", "image-folder", "--json", "--frame-size=16"],
      ...["--codec", "imagescript", "--shuffle", "--seed", "7"],
      ...[`${dir}/images`, `${dir}/small`],
    ]);
    const report = JSON.parse(small.stdout);
    assert.deepEqual(
      [report.paths, report.videos, report.frames, report.failed],
      [[`${dir}/small/data_0.gulp`], 10, 10, []],
    );
    using resized = await GulpDirectory.open(`${dir}/small`);
    const { frames: [frame] } = await resized.get("cat-0.jpg");
    assert.equal(Math.min(frame!.height, frame!.width), 16);
    const [before, after] = [`${dir}/out`, `${dir}/small`].map((path) =>
      contentOf(path).map(([id]) => id)
    );
    assert.notDeepEqual(after, before);
    assert.deepEqual(after!.toSorted(), before!.toSorted());
  });
});

Deno.test("a directory with chunks is extended, resumed, or not changed", async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/a`, ["cat"], 2);
    writeImages(`${dir}/b`, ["cat", "dog"], 3);
    const gulp = (from: string, ...flags: string[]) =>
      recordfs([
        "gulp",
        "image-folder",
        `${dir}/${from}`,
        `${dir}/out`,
        ...flags,
      ]);
    assert.equal((await gulp("a")).code, 0);
    const before = contentOf(`${dir}/out`);
    assertFailed(await gulp("b"), 1, /has chunks already \(1\).*--extend/);
    assertFailed(
      await gulp("b", "--extend"),
      1,
      /"cat-0\.jpg" .* twice.*--remove-duplicates/,
    );
    assertFailed(await gulp("b", "--resume"), 1, /Cannot resume in /);
    const finished = await gulp("a", "--resume");
    assert.equal(finished.code, 0);
    assert.match(finished.stdout, /: 2 videos, 2 frames, /);
    assert.deepEqual(contentOf(`${dir}/out`), before);
    assert.equal((await gulp("b", "--extend", "--remove-duplicates")).code, 0);
    assert.deepEqual(
      contentOf(`${dir}/out`).map(([id]) => id),
      [
        "cat-0.jpg",
        "cat-1.jpg",
        "cat-2.jpg",
        "dog-0.jpg",
        "dog-1.jpg",
        "dog-2.jpg",
      ],
    );
    assert.deepEqual(
      JSON.parse(fs.readFileSync(`${dir}/out/label2idx.json`, "utf8")),
      { cat: 0, dog: 1 },
    );
  });
});

Deno.test("image-list and csv-jpeg read lists", async () => {
  await withTempDir(async (dir) => {
    writeImages(dir, ["one", "two"], 2);
    fs.writeFileSync(`${dir}/list.txt`, "one/1.jpg,x\ntwo/0.jpg,y\n");
    fs.writeFileSync(`${dir}/list.csv`, "one;x\ntwo;y\n");
    await succeed(
      [
        "gulp",
        "image-list",
        "--root-folder",
        dir,
        `${dir}/list.txt`,
        `${dir}/a`,
      ],
    );
    assert.deepEqual(contentOf(`${dir}/a`), [
      ["1.jpg", { id: "1.jpg", label: "x", idx: 0 }, 1],
      ["0.jpg", { id: "0.jpg", label: "y", idx: 1 }, 1],
    ]);
    await succeed(["gulp", "csv-jpeg", `${dir}/list.csv`, dir, `${dir}/b`]);
    assert.deepEqual(contentOf(`${dir}/b`), [
      ["one", { id: "one", label: "x", idx: 0 }, 2],
      ["two", { id: "two", label: "y", idx: 1 }, 2],
    ]);
  });
});

Deno.test({
  name:
    "videos: frame size and rate, label name, phase; failed ones are named (needs ffmpeg)",
  ...needs("ffmpeg"),
  async fn() {
    await withTempDir(async (dir) => {
      for (const id of ["1", "2", "broken"]) {
        fs.mkdirSync(`${dir}/videos/${id}`, { recursive: true });
      }
      const clip = await makeClip(`${dir}/videos/1/clip.mp4`, {
        size: "64x48",
        rate: 24,
        frames: 24,
      });
      const count = await burstCount(clip, dir, 6); // GulpIO2 calls ffmpeg like this
      fs.copyFileSync(clip, `${dir}/videos/2/clip.mp4`);
      fs.writeFileSync(`${dir}/videos/broken/clip.mp4`, "no video");
      const list = ["1", "broken", 2].map((id) => ({ id, what: `is ${id}` }));
      fs.writeFileSync(
        `${dir}/list.json.gz`,
        gzipSync(JSON.stringify(list)),
      );
      const ran = await recordfs([
        ...["gulp", "json-videos", "--frame-size", "24", "--frame-rate", "6"],
        ...["--label-name", "what", `${dir}/list.json.gz`],
        ...[`${dir}/videos`, `${dir}/out`],
      ]);
      assert.equal(ran.code, 1);
      assert.match(ran.stdout, new RegExp(`: 2 videos, ${2 * count} frames, `));
      assert.match(
        ran.stderr,
        /video "broken": .*(Invalid data|moov atom).*\n.*1 video not gulped; try again with --resume:\n.* broken\n$/s,
      );
      assert.doesNotMatch(ran.stderr, /\bat .*:\d+:\d+/);
      assert.deepEqual(contentOf(`${dir}/out`), [
        ["1", { id: "1", label: "is 1", idx: 0 }, count],
        ["2", { id: 2, label: "is 2", idx: 1 }, count],
      ]);
      using directory = await GulpDirectory.open(`${dir}/out`);
      const { frames: [frame] } = await directory.get(1);
      assert.deepEqual([frame!.height, frame!.width], [24, 32]);

      const database = {
        "1": { subset: "validation" },
        "2": { subset: "testing" },
      };
      fs.writeFileSync(`${dir}/activity.json`, JSON.stringify({ database }));
      fs.mkdirSync(`${dir}/flat`);
      for (const id of [1, 2]) fs.copyFileSync(clip, `${dir}/flat/${id}.mp4`);
      await succeed([
        ...["gulp", "activitynet", "--phase", "testing"],
        ...[`${dir}/activity.json`, `${dir}/flat`, `${dir}/activity`],
      ]);
      assert.deepEqual(
        contentOf(`${dir}/activity`),
        [["2", { subset: "testing" }, 24]],
      );
    });
  },
});

const stopped = "Ctrl-C leaves complete chunks, and --resume the rest";
Deno.test(stopped, { ignore: !FULL }, async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/images`, ["cat"], 100);
    const line = [
      ...["gulp", "image-folder", `${dir}/images`, `${dir}/out`],
      // Many chunks, since each thread has two in progress when it is stopped.
      ...["--frame-size", "500", "--videos-per-chunk", "2"],
      // The slowest codec takes seconds, so that even a busy machine sees the first chunk long before the last.
      ...["--codec", "imagescript"],
    ];
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", CLI, ...line],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    await until(() => fs.existsSync(`${dir}/out/meta_1.gmeta`));
    child.kill("SIGINT");
    const { code, stderr } = await child.output();
    assert.equal(code, 130);
    assert.match(new TextDecoder().decode(stderr), /stopped: .*--resume/);
    const chunks = contentOf(`${dir}/out`).length;
    assert.ok(chunks % 2 === 0 && chunks > 0 && chunks < 100, `${chunks}`);
    const parts = () =>
      fs.readdirSync(`${dir}/out`).filter((name) => name.endsWith(".part"));
    assert.deepEqual(parts(), []);
    assertFailed(await recordfs(line), 1, /not finished.*--resume/);
    // Left by kill -9, or by a thread that did not end in time.
    fs.writeFileSync(`${dir}/out/.data_99.gulp.recordfs-1-1.part`, "half");
    const { stdout } = await succeed([...line, "--resume"]);
    assert.deepEqual(parts(), []);
    assert.match(stdout, /: 100 videos, /);
    assert.equal(contentOf(`${dir}/out`).length, 100);
    await succeed(["check", `${dir}/out`]);
  });
});

Deno.test({
  name:
    "progress shows videos, frames, MB/s and the remaining time (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      writeImages(`${dir}/images`, ["cat"], 30);
      const command =
        `'${Deno.execPath()}' run -A '${CLI}' gulp image-folder ` +
        `'${dir}/images' '${dir}/out'`;
      const ran = await run(["script", "-qec", command, "/dev/null"]);
      assert.equal(ran.code, 0);
      assert.match(
        ran.stdout,
        /gulping .*100% {2}30 of 30 videos, 30 frames, [\d.]+ [kM]?B\/s {2}0s left/,
      );
    });
  },
});
