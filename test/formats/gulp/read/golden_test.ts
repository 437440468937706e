import assert from "node:assert/strict";
import { FormatError } from "../../../../src/base/errors.ts";
import { GulpDirectory } from "../../../../src/formats/gulp/mod.ts";
import { check } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  type GulpCase,
  gulpCases,
  joined,
} from "../../../support/gulp/gulp_golden.ts";

for (const golden of gulpCases()) {
  const run = golden.valid
    ? readAll
    : golden.expected.outcome === "error"
    ? refuse
    : golden.expected.outcome === "partial"
    ? readWhatIsLeft
    : readWhole;
  Deno.test(`gulp/${golden.name}: ${golden.title}`, () => run(golden));
}

const raw = { decode: false } as const;

/** Whether an error is the one required by `expect.json`. */
function isExpected({ expected }: GulpCase): (error: unknown) => boolean {
  return (error) =>
    error instanceof FormatError && error.code === expected.class &&
    error.message.includes(expected.words);
}

async function readAll({ path, content, queries }: GulpCase): Promise<void> {
  using directory = await GulpDirectory.open(path, raw);
  assert.equal(directory.numChunks, content.num_chunks);
  assert.equal(directory.length, content.videos.length);
  for (const [i, chunk] of [...directory].entries()) {
    const { data, meta, ids } = content.chunks[i]!;
    assert.deepEqual([...chunk.metaDict.keys()], ids);
    assert.deepEqual(
      [chunk.dataPath, chunk.metaPath],
      [`${path}/${data}`, `${path}/${meta}`],
    );
  }
  assert.deepEqual(
    [...directory.chunkObjsLookup.keys()],
    content.chunks.map(({ id }) => id),
  );
  assert.deepEqual(
    [...directory.mergedMetaDict.keys()],
    content.videos.map(({ id }) => id),
  );
  for (const expected of content.videos) {
    const { id } = expected;
    const { frames, meta } = await directory.get(id);
    assert.deepEqual(meta, expected.meta);
    assert.equal(frames.length, expected.num_frames);
    assert.equal(sha256(joined(frames)), expected.frames_sha256);
    for (const { index, size, sha256: hash } of expected.frames) {
      assert.deepEqual([frames[index]!.length, sha256(frames[index]!)], [
        size,
        hash,
      ]);
    }
    assert.equal(directory.chunkLookup.get(id), expected.chunk);
    const stored = directory.mergedMetaDict.get(id)!;
    const lines = Array.from(stored.frameInfo, (info) => `${info.join()}\n`);
    const text = new TextEncoder().encode(lines.join(""));
    assert.equal(sha256(text), expected.frame_info_sha256);
    assert.equal(stored.metaData.length, expected.meta_count);
    assert.deepEqual(stored.metaData[0], expected.meta);
  }
  for (const { id, slice, indices, frames, sha256: hash } of queries ?? []) {
    const [start, stop, step] = slice ?? [];
    const selection = indices ?? { start, stop, step };
    const all = (await directory.get(id)).frames;
    const some = (await directory.get(id, selection)).frames;
    assert.deepEqual(some.map(sha256), frames.map((i) => sha256(all[i]!)));
    assert.equal(sha256(joined(some)), hash);
    assert.deepEqual(directory.getSync(id, selection).frames, some);
  }
  assert.deepEqual(
    Object.fromEntries(await directory.labels() ?? []),
    content.label2idx ?? {},
  );
}

/** Cases with damage of one chunk among several: the originals reject the whole directory. */
const IS_OF_ONE_CHUNK =
  /_bad_(cut_meta|empty_meta|missing_data|missing_meta|unpaired)$/;

async function refuse(golden: GulpCase): Promise<void> {
  assert.equal(golden.expected.stage, "open");
  if (IS_OF_ONE_CHUNK.test(golden.name)) return await leaveOut(golden);
  await assert.rejects(GulpDirectory.open(golden.path), isExpected(golden));
  assert.throws(() => GulpDirectory.openSync(golden.path), isExpected(golden));
}

/** Asserts that the other chunks are read completely, with a warning that equals the originals' error. */
async function leaveOut(golden: GulpCase): Promise<void> {
  const { path, expected } = golden;
  for (const isSync of [false, true]) {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const options = { ...raw, onWarning };
    using directory = isSync
      ? GulpDirectory.openSync(path, options)
      : await GulpDirectory.open(path, options);
    assert.ok(warnings.some((line) => line.includes(expected.words)));
    assert.ok(directory.length > 0);
    for (const id of directory.mergedMetaDict.keys()) {
      assert.ok((await directory.get(id)).frames.length >= 0);
    }
  }
  const codes: string[] = [];
  await check(path, { onDamage: ({ code }) => codes.push(code) });
  assert.ok(codes.includes(expected.class), codes.join());
}

async function readWhatIsLeft(golden: GulpCase): Promise<void> {
  using directory = await GulpDirectory.open(golden.path, raw);
  for (const expected of golden.content.videos) {
    const { id, num_frames: count } = expected;
    if (expected.error === undefined) {
      const { frames, meta } = await directory.get(id);
      assert.deepEqual(meta, expected.meta);
      assert.equal(sha256(joined(frames)), expected.frames_sha256);
      continue;
    }
    await assert.rejects(directory.get(id), isExpected(golden));
    assert.throws(() => directory.getSync(id), isExpected(golden));
    const good = expected.frames_still_good!;
    assert.ok(good.length < count);
    for (let frame = 0; frame < count; frame++) {
      const read = directory.get(id, [frame]);
      if (!good.includes(frame)) await assert.rejects(read, FormatError);
      else assert.equal((await read).frames[0]![0], 0xff);
    }
  }
}

/** Only padding is missing: every frame must be complete. */
async function readWhole({ path }: GulpCase): Promise<void> {
  using directory = await GulpDirectory.open(path, raw);
  assert.ok(directory.length > 0);
  for (const id of directory.mergedMetaDict.keys()) {
    for (const frame of (await directory.get(id)).frames) {
      assert.deepEqual([...frame.slice(0, 2)], [0xff, 0xd8]);
      assert.deepEqual([...frame.slice(-2)], [0xff, 0xd9]);
    }
  }
}
