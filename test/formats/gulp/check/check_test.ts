import assert from "node:assert/strict";
import * as fs from "node:fs";
import type { FormatError } from "../../../../src/base/errors.ts";
import { check } from "../../../../src/open/open.ts";
import { gulpCases } from "../../../support/gulp/gulp_golden.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

async function run(path: string) {
  const damages: FormatError[] = [];
  const warnings: string[] = [];
  const progress: [number, number][] = [];
  const report = await check(path, {
    format: "gulp",
    onDamage: (damage) => damages.push(damage),
    onWarning: (line) => warnings.push(line),
    onProgress: (...at) => progress.push(at),
  });
  assert.equal(report.damaged, damages.length);
  return { report, damages, warnings, progress };
}

for (const { name, title, path, valid, expected, content } of gulpCases()) {
  Deno.test(`gulp/${name}, checked: ${title}`, async () => {
    const { report, damages, warnings, progress } = await run(path);
    progress.reduce((before, [done, total]) => {
      assert.ok(done >= before && done <= total);
      return done;
    }, 0);
    if (!valid) {
      const named = damages.find(({ code, message }) =>
        code === expected.class && message.includes(expected.words)
      );
      assert.ok(named, damages.map(({ message }) => message).join("\n"));
      assert.ok(named.path?.startsWith(path));
      return;
    }
    assert.deepEqual(damages, []);
    assert.equal(warnings.length, name.endsWith("empty_chunk") ? 1 : 0);
    const frames = content.videos.map((video) => video.num_frames);
    assert.equal(report.samples, frames.reduce((sum, n) => sum + n, 0));
  });
}

type Meta = ReturnType<typeof writeChunk>;

/** Returns the damage of a chunk of two videos after its files have been changed. */
async function afterChange(
  change: (data: Uint8Array, meta: Meta) => [Uint8Array, Meta] | void,
): Promise<string[]> {
  const messages: string[] = [];
  await withTempDir(async (dir) => {
    const meta = writeChunk(dir, 0, [
      { id: "a", frames: [fakeJpeg(9), fakeJpeg(12)] }, // records of 12 and 12 bytes
      { id: "b", frames: [fakeJpeg(30)] }, // a record of 32 bytes at offset 24
    ]);
    const data = new Uint8Array(fs.readFileSync(`${dir}/data_0.gulp`));
    const [newData, newMeta] = change(data, meta) ?? [data, meta];
    fs.writeFileSync(`${dir}/data_0.gulp`, newData);
    fs.writeFileSync(`${dir}/meta_0.gmeta`, JSON.stringify(newMeta));
    const { damages } = await run(dir);
    messages.push(...damages.map(({ message }) => message));
  });
  return messages;
}

Deno.test("each kind of damage is reported, with its frame", async () => {
  const changes: [string, RegExp, Parameters<typeof afterChange>[0]][] = [
    ["start", /frame 0 of video "b" of .* at byte 24: .*not start/, (data) => {
      data[25] = 0;
    }],
    ["end", /frame 1 of video "a" of .* at byte 12: .*not end/, (data) => {
      data[23] = 0;
    }],
    ["padding", /frame 0 of video "a".*padding is not zero/, (data) => {
      data[11] = 1;
    }],
    [
      "overlap",
      /frame 1 of video "a" of .* at byte 8: it overlaps frame 0 of video "a", which ends at byte 12/,
      (_, meta) => {
        meta.a!.frame_info[1] = [8, 0, 12];
      },
    ],
    ["trailing", /57 bytes, but all frames .* end at byte 56/, (data, meta) => [
      Uint8Array.from([...data, 0]),
      meta,
    ]],
    ["short", /too short for a JPEG/, (_, meta) => {
      meta.a!.frame_info[0] = [0, 9, 12];
    }],
    ["much padding", /8 bytes of padding/, (data, meta) => {
      data.set([0xff, 0xd9], 24 + 22);
      data.fill(0, 24 + 24, 24 + 32);
      meta.b!.frame_info[0] = [24, 8, 32];
    }],
    ["no meta", /video "b".*no list meta_data/, (_, meta) => {
      meta.b!.meta_data = [];
    }],
  ];
  for (const [name, words, change] of changes) {
    const messages = await afterChange(change);
    assert.ok(
      messages.some((message) => words.test(message)),
      `${name}: ${messages.join("\n")}`,
    );
    if (!["overlap", "short"].includes(name)) assert.equal(messages.length, 1);
  }
});

Deno.test("frames in any order are checked in file order", async () => {
  const messages = await afterChange((data, meta) => {
    meta.a!.frame_info.reverse();
    return [data, { b: meta.b!, a: meta.a! }];
  });
  assert.deepEqual(messages, []);
});

Deno.test("frames larger than a read are checked at both ends", async () => {
  await withTempDir(async (dir) => {
    const size = 9_000_001;
    writeChunk(dir, 0, [{ id: "v", frames: [fakeJpeg(size), fakeJpeg(size)] }]);
    assert.deepEqual((await run(dir)).damages, []);
    const fd = fs.openSync(`${dir}/data_0.gulp`, "r+");
    fs.writeSync(fd, new Uint8Array(1), 0, 1, size - 1);
    fs.closeSync(fd);
    const { damages } = await run(dir);
    assert.deepEqual(damages.map(({ sample }) => sample), [0]);
  });
});

Deno.test("overlapping frames do not multiply the reads of the file", async () => {
  await withTempDir(async (dir) => {
    const size = 8 << 20;
    const infos = Array.from({ length: 20_000 }, (_, i) => [i, 0, size - i]);
    fs.writeFileSync(`${dir}/data_0.gulp`, fakeJpeg(size));
    fs.writeFileSync(
      `${dir}/meta_0.gmeta`,
      JSON.stringify({ v: { frame_info: infos, meta_data: [{}] } }),
    );
    const { damages } = await run(dir);
    assert.equal(damages.length, 19_999);
    assert.ok(damages.every(({ message }) => message.includes("overlaps")));
  });
});
