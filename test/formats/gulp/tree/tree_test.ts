import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError } from "../../../../src/base/errors.ts";
import { encodeName } from "../../../../src/base/names.ts";
import { encodeId } from "../../../../src/formats/gulp/ids/id_text.ts";
import { nameOfId } from "../../../../src/formats/gulp/ids/id_names.ts";
import { ROOT, type Tree } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  gulpCase,
  gulpCases,
  joined,
} from "../../../support/gulp/gulp_golden.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

const latin = (bytes: Uint8Array) => String.fromCharCode(...bytes);

/** Returns every node of a tree by the bytes of its path, in walk order. */
function nodes(tree: Tree, dir = ROOT, prefix = ""): [string, number][] {
  const found: [string, number][] = [];
  tree.list(dir, 0, (name, start, end, node) => {
    const path = prefix + latin(name.slice(start, end));
    found.push([path, node]);
    if (tree.isDirectory(node)) found.push(...nodes(tree, node, `${path}/`));
    return true;
  });
  return found;
}

/** Returns the name of frame `i`, from 0, of a video with `count` frames. */
function frameName(i: number, count: number): string {
  const width = Math.max(4, String(count).length);
  return `frame_${String(i + 1).padStart(width, "0")}.jpg`;
}

for (const golden of gulpCases()) {
  const { valid, content, name } = golden;
  if (!valid) continue;
  Deno.test(`gulp/${name} as a tree`, async () => {
    using vfs = await open(golden.path, { format: "gulp" });
    const paths = content.videos.flatMap(({ id, num_frames: count }) => {
      const directory = latin(nameOfId(encodeId(id)));
      return [
        directory,
        ...Array.from(
          { length: count },
          (_, i) => `${directory}/${frameName(i, count)}`,
        ),
        `${directory}/meta.json`,
      ];
    });
    if (content.label2idx !== null) paths.unshift("label2idx.json");
    const found = nodes(vfs.tree);
    assert.deepEqual(found.map(([path]) => path), paths);
    assert.equal(vfs.tree.nodeCount, paths.length + 1);
    assert.equal(vfs.info.facts?.videos, content.videos.length);
    assert.equal(vfs.info.directories, content.videos.length);
    assert.equal(vfs.info.files, paths.length - content.videos.length);

    const names = (await vfs.list()).filter((name) =>
      name !== "label2idx.json"
    );
    for (const [i, video] of content.videos.entries()) {
      const directory = names[i]!;
      const files = await vfs.list(directory);
      assert.equal(files.length, video.num_frames + 1);
      const frames = await vfs.read(
        files.slice(0, -1).map((file) => `${directory}/${file}`),
      );
      assert.equal(sha256(joined(frames)), video.frames_sha256);
      const size = (await vfs.stat(`${directory}/meta.json`)).size;
      const text = await vfs.read(`${directory}/meta.json`);
      assert.equal(text.length, size);
      if (!/nan|nested|integer/.test(name)) { // JSON.parse reads the others unchanged
        assert.deepEqual(
          JSON.parse(new TextDecoder().decode(text)),
          video.meta,
        );
      }
    }
    if (content.label2idx !== null) {
      const labels = await vfs.read("label2idx.json");
      assert.deepEqual(
        JSON.parse(new TextDecoder().decode(labels)),
        content.label2idx,
      );
    }
  });
}

Deno.test("only listed names are found", async () => {
  using vfs = await open(gulpCase("v2_many_frames").path);
  assert.equal(await vfs.isFile("long/frame_00001.jpg"), true);
  assert.equal(await vfs.isFile("long/frame_10001.jpg"), true);
  for (
    const path of [
      "long/frame_00000.jpg",
      "long/frame_10002.jpg",
      "long/frame_0001.jpg",
      "long/frame_9999.jpg",
      "long/frame_000001.jpg",
      "long/frame_010001.jpg",
      "long/frame_1.jpg",
      "long/frame_.jpg",
      "long/frame_00001.jpeg",
      "long/rame_00001.jpg",
      "long/00001.jpg",
      "long/meta.jso",
      "meta.json",
      "label2idx.json",
      "lon",
    ]
  ) assert.equal(await vfs.exists(path), false, path);
});

Deno.test("names of frames have as many digits as the last, at least four", async () => {
  const counts = [0, 1, 9_999, 10_000, 99_999, 100_000];
  await withTempDir(async (dir) => {
    const frame = [0, 0, 4];
    fs.writeFileSync(`${dir}/data_0.gulp`, fakeJpeg(4));
    const meta = counts.map((count) => [`v${count}`, {
      meta_data: [{}],
      frame_info: Array(count).fill(frame),
    }]);
    const text = JSON.stringify(Object.fromEntries(meta));
    fs.writeFileSync(`${dir}/meta_0.gmeta`, text);
    using vfs = await open(dir);
    for (const count of counts) {
      const names = await vfs.list(`v${count}`);
      assert.deepEqual(names, [
        ...Array.from({ length: count }, (_, i) => frameName(i, count)),
        "meta.json",
      ]);
      assert.deepEqual(names.toSorted(), names);
      for (const i of [0, 999, 9_998, 9_999, 99_998, 99_999]) {
        for (const width of [3, 4, 5, 6, 7]) {
          const digits = String(i + 1).padStart(width, "0");
          const name = `frame_${digits}.jpg`;
          const isThere = i < count && name === frameName(i, count);
          assert.equal(await vfs.exists(`v${count}/${name}`), isThere, name);
        }
      }
    }
  });
});

Deno.test("one chunk opens by either of its files", async () => {
  const { path, content } = gulpCase("v1_chunks");
  const [, { id, data, meta, ids }] = content.chunks as
    & typeof content.chunks
    & [
      unknown,
      typeof content.chunks[0],
    ];
  for (const file of [data, meta]) {
    using vfs = await open(`${path}/${file}`);
    assert.equal(vfs.info.kind, "chunk");
    assert.equal(vfs.info.parts.length, 1);
    assert.deepEqual(await vfs.list(), ids, `${id}`);
  }
  await withTempDir(async (dir) => {
    writeChunk(dir, 3, [{ id: "v", frames: [fakeJpeg(9)] }]);
    fs.renameSync(`${dir}/data_3.gulp`, `${dir}/data_03.gulp`);
    using vfs = await open(`${dir}/meta_3.gmeta`);
    assert.deepEqual(await vfs.list("v"), ["frame_0001.jpg", "meta.json"]);
    fs.rmSync(`${dir}/data_03.gulp`);
    await assert.rejects(open(`${dir}/meta_3.gmeta`), /has no data file/);
    fs.writeFileSync(`${dir}/other_3.gulp`, "");
    await assert.rejects(open(`${dir}/other_3.gulp`), /not named like/);
  });
});

Deno.test("the undamaged videos of a damaged directory are shown, and a warning names each other one", async () => {
  for (const golden of gulpCases().filter(({ valid }) => !valid)) {
    const { path, expected, content, name } = golden;
    const warnings: string[] = [];
    const options = { onWarning: (line: string) => void warnings.push(line) };
    if (
      /hostile|empty_meta|cut_meta/.test(name) &&
      fs.readdirSync(path).length === 2
    ) {
      await assert.rejects(open(path, options), FormatError);
      continue;
    }
    using vfs = await open(path, options);
    if (expected.outcome === "error-or-ok") {
      assert.deepEqual(warnings, []);
      continue;
    }
    assert.ok(
      warnings.some((line) => line.includes(expected.words)),
      `${name}: ${warnings}`,
    );
    if (content === undefined) continue;
    const sound = content.videos.filter(({ error }) => error === undefined);
    assert.deepEqual(await vfs.list(), sound.map(({ id }) => id), name);
    for (const { id, frames_sha256: hash } of sound) {
      const files = (await vfs.list(id)).slice(0, -1);
      const frames = await vfs.read(files.map((file) => `${id}/${file}`));
      assert.equal(sha256(joined(frames)), hash);
    }
    for (const { id } of content.videos) {
      if (sound.some((video) => video.id === id)) continue;
      assert.ok(warnings.some((line) => line.includes(id)), `${name}: ${id}`);
    }
  }
});

Deno.test("of two videos with one id the first is shown", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{ id: "same", frames: [fakeJpeg(9)] }]);
    writeChunk(dir, 1, [
      { id: "other", frames: [] },
      { id: "same", frames: [fakeJpeg(20), fakeJpeg(30)] },
    ]);
    const warnings: string[] = [];
    const onWarning = (line: string) => void warnings.push(line);
    using vfs = await open(dir, { onWarning });
    assert.deepEqual(await vfs.list(), ["same", "other"]);
    assert.deepEqual(await vfs.read("same/frame_0001.jpg"), fakeJpeg(9));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /duplicate id same/);
  });
});

Deno.test("all problems are reported, and the console output ends with their number", async () => {
  await withTempDir(async (dir) => {
    const meta = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`v${i}`, null]),
    );
    writeChunk(dir, 0, []);
    fs.writeFileSync(`${dir}/meta_0.gmeta`, JSON.stringify(meta));
    const warnings: string[] = [];
    const onWarning = (line: string) => void warnings.push(line);
    using vfs = await open(dir, { onWarning });
    assert.deepEqual(await vfs.list(), []);
    assert.equal(warnings.length, 1000);
    // In another process, to capture its console.
    const script = `import { open } from "${REPOSITORY}mod.ts";` +
      `(await open(Deno.args[0])).close();`;
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--ext=ts", script, dir],
      env: { DENO_LOG: "warn" },
    }).output();
    assert.ok(success);
    const lines = new TextDecoder().decode(stderr).trimEnd().split("\n");
    assert.equal(lines.length, 11);
    assert.match(lines.at(-1)!, /990 more/);
  });
});

Deno.test("ids that are not valid names are found by the names they are shown as", async () => {
  await withTempDir(async (dir) => {
    const ids = ["..", "", "\ud800", "label2idx.json", "é".repeat(200), "a/b"];
    writeChunk(
      dir,
      0,
      ids.map((id, i) => ({ id, frames: [fakeJpeg(10 + i)] })),
    );
    fs.writeFileSync(`${dir}/label2idx.json`, "{}");
    using vfs = await open(dir);
    const [labels, ...names] = await vfs.list();
    assert.equal(labels, "label2idx.json");
    assert.equal(names.length, ids.length);
    for (const [i, name] of names.entries()) {
      assert.deepEqual(encodeName(name), nameOfId(encodeId(ids[i]!)));
      const { size } = await vfs.stat(`${name}/frame_0001.jpg`);
      assert.equal(size, 10 + i);
    }
  });
});
