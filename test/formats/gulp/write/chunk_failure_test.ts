/** State of a chunk when it cannot be written, or its writer is killed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { chunkIn, contentOf } from "../../../support/gulp/gulp_chunks.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";

const OLD = [{ id: "old", frames: [fakeJpeg(7), fakeJpeg(8)] }];
const FILES = ["data_0.gulp", "meta_0.gmeta"];

function bytesOf(dir: string): Buffer[] {
  return FILES.map((name) => fs.readFileSync(`${dir}/${name}`));
}

Deno.test("bytes after the last frame, left by a killed process, are truncated by the next", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, OLD);
    fs.appendFileSync(`${dir}/data_0.gulp`, new Uint8Array(5_000).fill(1));
    {
      using before = await chunkIn(dir); // an open reader is not affected
      assert.deepEqual((await before.readRaw("old")).frames, OLD[0]!.frames);
    }
    using chunk = await chunkIn(dir);
    await using _ = await chunk.open("ab");
    await chunk.append("new", {}, [fakeJpeg(4)]);
    await chunk.flush();
    assert.deepEqual(
      [...chunk.metaDict.get("new")!.frameInfo],
      [[16, 0, 4]],
    );
    assert.equal(fs.statSync(chunk.dataPath).size, 20);
  });
});

Deno.test("a damaged chunk is not appended to, and not changed", async () => {
  const damages: [code: string, damage: (dir: string) => void][] = [
    ["truncated-data", (dir) => fs.truncateSync(`${dir}/data_0.gulp`, 15)],
    ["missing-data", (dir) => fs.rmSync(`${dir}/data_0.gulp`)],
    ["missing-meta", (dir) => fs.rmSync(`${dir}/meta_0.gmeta`)],
    ["bad-meta", (dir) => fs.truncateSync(`${dir}/meta_0.gmeta`, 20)],
    ["bad-frame-info", (dir) =>
      fs.writeFileSync(
        `${dir}/meta_0.gmeta`,
        '{"old": {"frame_info": [[0, 1, 8], [-8, 0, 8]], "meta_data": [{}]}}',
      )],
    ["bad-meta", (dir) =>
      fs.writeFileSync(
        `${dir}/meta_0.gmeta`,
        '{"old": {"frame_info": [[0, 1, 8]], "meta_data": []}}',
      )],
  ];
  for (const [code, damage] of damages) {
    await withTempDir(async (dir) => {
      writeChunk(dir, 0, OLD);
      damage(dir);
      const names = fs.readdirSync(dir).sort();
      const before = names.map((name) => fs.readFileSync(`${dir}/${name}`));
      await assert.rejects(async () => {
        using chunk = await chunkIn(dir);
        await using _ = await chunk.open("ab");
      }, { name: "FormatError", code });
      assert.deepEqual(fs.readdirSync(dir).sort(), names);
      for (const [i, name] of names.entries()) {
        const after = fs.readFileSync(`${dir}/${name}`);
        assert.equal(Buffer.compare(after, before[i]!), 0);
      }
    });
  }
});

Deno.test({
  name:
    "a full disk keeps the existing chunk, and what fits can still be flushed",
  ...needs("root"),
  fn: () =>
    withTmpfs("2m", async (dir) => {
      writeChunk(dir, 0, OLD);
      const before = bytesOf(dir);
      const full = {
        name: "WriteError",
        code: "ENOSPC",
        message: /disk is full/,
      };
      for (const mode of ["wb", "ab"] as const) {
        using chunk = await chunkIn(dir);
        await using _ = await chunk.open(mode);
        await assert.rejects(
          chunk.append("big", {}, [fakeJpeg(2_500_000)]),
          full,
        );
      }
      assert.deepEqual(fs.readdirSync(dir).sort(), FILES);
      assert.deepEqual(bytesOf(dir), before);
      using chunk = await chunkIn(dir);
      {
        await using _ = await chunk.open("ab");
        await chunk.append("fits", {}, [fakeJpeg(1_200_000)]);
        await assert.rejects(
          chunk.append("big", {}, [fakeJpeg(100_000), fakeJpeg(1_500_000)]),
          full,
        );
        await chunk.flush();
      }
      assert.deepEqual([...chunk.metaDict.keys()], ["old", "fits"]);
      assert.equal(fs.statSync(chunk.dataPath).size, 1_200_016);
      // The data fits, but the meta file does not: the old one remains.
      {
        await using _ = await chunk.open("ab");
        const text = "x".repeat(1_000_000);
        await chunk.append("words", { text }, [fakeJpeg(4)]);
        await assert.rejects(chunk.flush(), full);
      }
      using again = await chunkIn(dir);
      assert.deepEqual([...again.metaDict.keys()], ["old", "fits"]);
      assert.equal(fs.statSync(chunk.dataPath).size, 1_200_016);
      assert.deepEqual(fs.readdirSync(dir).sort(), FILES);
    }),
});

/** Appends videos to a chunk and flushes it repeatedly until it is killed; prints a line when it starts. */
const APPENDING = `
import { GulpChunk } from "${REPOSITORY}src/formats/gulp/mod.ts";
import { fakeJpeg } from "${REPOSITORY}test/support/gulp/make_gulp.ts";
const [data, meta, mode] = Deno.args;
using chunk = await GulpChunk.load(data, meta, { decode: false });
const frames = Array.from({ length: 20 }, (_, i) => fakeJpeg(5_000 + i, i));
console.log("ready");
for (let i = 0;; i++) {
  await using _ = await chunk.open(mode);
  for (let k = 0; k < 5; k++) await chunk.append(\`\${i}.\${k}\`, { i, k }, frames);
  await chunk.flush();
}`;

for (const mode of ["ab", "wb"] as const) {
  Deno.test(`a writer killed at any moment leaves a complete chunk (${mode})`, async () => {
    await withTempDir(async (dir) => {
      const script = `${dir}/appending.ts`;
      fs.writeFileSync(script, APPENDING);
      const frames = Array.from(
        { length: 20 },
        (_, i) => fakeJpeg(5_000 + i, i),
      );
      if (mode === "ab") writeChunk(dir, 0, OLD);
      for (let round = 0; round < 5; round++) {
        const config = `${REPOSITORY}deno.json`;
        const data = `${dir}/data_0.gulp`;
        const writer = new Deno.Command(Deno.execPath(), {
          args: [
            ...["run", "-A", "--no-check", "--config", config, script],
            ...[data, `${dir}/meta_0.gmeta`, mode],
          ],
          stdout: "piped",
          stderr: "null",
        }).spawn();
        const reader = writer.stdout.getReader();
        await reader.read();
        await new Promise((resolve) =>
          setTimeout(resolve, 20 + Math.random() * 150)
        );
        writer.kill("SIGKILL");
        await writer.status;
        await reader.cancel();
        const there = FILES.filter((name) => fs.existsSync(`${dir}/${name}`));
        // Between the two renames of a new chunk, only the data file exists.
        if (mode === "wb" && !there.includes("meta_0.gmeta")) continue;
        using chunk = await chunkIn(dir);
        for (const [id, { metaData }] of chunk.metaDict) {
          const video = await chunk.readRaw(id);
          if (id === "old") {
            assert.deepEqual(video.frames, OLD[0]!.frames);
            continue;
          }
          const rounds = video.frames.length / frames.length;
          assert.equal(rounds, metaData.length);
          for (const [i, frame] of video.frames.entries()) {
            assert.equal(Buffer.compare(frame, frames[i % 20]!), 0);
          }
        }
        assert.equal(chunk.length % 5, mode === "ab" ? 1 : 0);
      }
    });
  });
}

Deno.test("errors of a chunk are rejections, whether awaited immediately or not", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, OLD);
    using chunk = await chunkIn(dir);
    const refused = [
      chunk.readRaw("new"),
      chunk.readFrames("new"),
      chunk.append("new", {}, []),
      chunk.flush(),
    ];
    const ended = await Promise.allSettled(refused);
    assert.deepEqual(
      ended.map((end) => end.status === "rejected" && end.reason.code),
      ["unknown-id", "unknown-id", "closed", "closed"],
    );
  });
});

for (const mode of ["ab", "wb"] as const) {
  Deno.test(`a chunk that is closed while it is flushed remains complete (${mode})`, async () => {
    const added = [{ id: "new", frames: [fakeJpeg(600), fakeJpeg(9)] }];
    const whole = [
      OLD,
      mode === "ab" ? [...OLD, ...added] : added,
    ].map((videos) => videos.map(({ id, frames }) => ({ id, frames })));
    for (let turns = 0; turns < 40; turns++) {
      await withTempDir(async (dir) => {
        writeChunk(dir, 0, OLD);
        const chunk = await chunkIn(dir);
        await chunk.open(mode);
        await chunk.append("new", {}, added[0]!.frames);
        const flushed = chunk.flush().then(() => true, () => false);
        for (let i = 0; i < turns; i++) await setImmediate();
        chunk.close();
        const isNew = await flushed;
        using after = await chunkIn(dir);
        const found = (await contentOf(after))
          .map(({ id, frames }) => ({ id, frames }));
        if (isNew) assert.deepEqual(found, whole[1]);
        else {assert.ok(whole.some((videos) =>
            isDeepStrictEqual(found, videos)
          ));}
        after.close();
        assert.deepEqual(fs.readdirSync(dir).sort(), FILES);
      });
    }
  });
}
