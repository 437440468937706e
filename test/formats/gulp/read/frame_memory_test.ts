/** Frames read into reused memory, and as views. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError, IndexError } from "../../../../src/base/errors.ts";
import {
  FrameMemory,
  GulpDirectory,
  UnknownIdError,
} from "../../../../src/formats/gulp/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  gulpCase,
  gulpCases,
  joined,
} from "../../../support/gulp/gulp_golden.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

const raw = { decode: false } as const;

Deno.test("reused memory, and views, contain the frames of all golden files", async () => {
  for (const golden of gulpCases()) {
    if (!golden.valid) continue;
    using directory = await GulpDirectory.open(golden.path, raw);
    const memory = new FrameMemory();
    for (const { id, frames_sha256, meta } of golden.content.videos) {
      for (
        const video of [
          () => directory.getRawSync(id, undefined, { memory }),
          () => directory.getRaw(id, undefined, { memory }),
          () => directory.unsafeView(id),
        ]
      ) {
        const { frames, meta: found } = await video();
        assert.equal(sha256(joined(frames)), frames_sha256);
        assert.deepEqual(found, meta);
      }
    }
  }
});

Deno.test("memory grows, retains its size, and is reused", async () => {
  await withTempDir((dir) => {
    const sizes = [100, 10_000, 50];
    writeChunk(
      dir,
      0,
      sizes.map((size, i) => ({
        id: `${i}`,
        frames: [fakeJpeg(size, i), fakeJpeg(size, i + 10)],
      })),
    );
    using directory = GulpDirectory.openSync(dir, raw);
    const memory = new FrameMemory();
    const read = (id: string, frames?: number[]) =>
      directory.getRawSync(id, frames, { memory }).frames;
    assert.equal(read("0")[1]!.length, 100);
    const large = read("1");
    assert.deepEqual(large, [fakeJpeg(10_000, 1), fakeJpeg(10_000, 11)]);
    const { size } = memory;
    assert.ok(size >= 20_000);
    const small = read("2", [1, 0]);
    assert.deepEqual(small, [fakeJpeg(50, 12), fakeJpeg(50, 2)]);
    assert.equal(memory.size, size);
    assert.equal(small[0]!.buffer, large[0]!.buffer);
    // A buffer that was transferred to another thread is not reused.
    structuredClone(large[0]!.buffer, { transfer: [large[0]!.buffer] });
    assert.deepEqual(read("0", [0]), [fakeJpeg(100, 0)]);
  });
});

Deno.test("distant frames share the memory", async () => {
  await withTempDir((dir) => {
    const frames = Array.from({ length: 30 }, (_, i) => fakeJpeg(20_000, i));
    writeChunk(dir, 0, [{ id: "a", frames }]);
    using directory = GulpDirectory.openSync(dir, raw);
    const memory = new FrameMemory();
    const chosen = [20, 3, 3, 29, 10];
    assert.deepEqual(
      directory.getRawSync("a", chosen, { memory }).frames,
      chosen.map((i) => frames[i]!),
    );
  });
});

Deno.test("views are rejected like reads", async () => {
  using directory = await GulpDirectory.open(
    gulpCase("v2_bad_truncated_data").path,
    raw,
  );
  const { content } = gulpCase("v2_bad_truncated_data");
  const { id, frames_still_good } = content.videos.find(({ error }) =>
    error !== undefined
  )!;
  assert.throws(() => directory.unsafeView(id), FormatError);
  assert.equal(
    directory.unsafeView(id, frames_still_good).frames.length,
    frames_still_good!.length,
  );
  assert.throws(() => directory.unsafeView("nobody"), UnknownIdError);
  assert.throws(
    () => directory.unsafeView(content.videos[0]!.id, [10_000]),
    IndexError,
  );
});

Deno.test("views outlive the directory, and reject a truncated file", async () => {
  await withTempDir((dir) => {
    const frame = fakeJpeg(5000, 7);
    writeChunk(dir, 0, [{ id: "a", frames: [frame, frame] }]);
    using directory = GulpDirectory.openSync(dir, raw);
    const { frames } = directory.unsafeView("a", [-1]);
    fs.truncateSync(`${dir}/data_0.gulp`, 9_999);
    assert.throws(() => directory.unsafeView("a"), /was truncated|changed/);
    fs.truncateSync(`${dir}/data_0.gulp`, 10_000);
    directory.close();
    assert.deepEqual(frames[0]!.subarray(0, 4998), frame.subarray(0, 4998));
  });
});

Deno.test("a write to a view does not reach the file", async () => {
  await withTempDir((dir) => {
    writeChunk(dir, 0, [{ id: "a", frames: [fakeJpeg(64)] }]);
    const before = fs.readFileSync(`${dir}/data_0.gulp`);
    using directory = GulpDirectory.openSync(dir, raw);
    directory.unsafeView("a").frames[0]!.fill(1);
    assert.deepEqual(fs.readFileSync(`${dir}/data_0.gulp`), before);
    assert.deepEqual(directory.getRawSync("a").frames[0], fakeJpeg(64));
  });
});
