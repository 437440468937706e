/** A directory with a damaged chunk: the others are read, and a new chunk does not reuse an existing number. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader, GulpVideoDataset } from "../../../../src/open/data/mod.ts";
import { GulpDirectory } from "../../../../src/formats/gulp/mod.ts";
import { convert } from "../../../../src/open/convert/convert.ts";
import { writeChunk } from "../../../support/gulp/make_gulp.ts";
import { goldenCase } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";

const { path: GOLDEN } = goldenCase("gulp/v2_chunks");

/** Ways to damage a chunk. */
const DAMAGES: Readonly<
  Record<string, (dir: string, chunk: string) => string>
> = {
  "its meta file is truncated": (dir, chunk) => {
    const path = `${dir}/meta_${chunk}.gmeta`;
    fs.truncateSync(path, 10);
    return path;
  },
  "its meta file is missing": (dir, chunk) => {
    fs.rmSync(`${dir}/meta_${chunk}.gmeta`);
    return `${dir}/data_${chunk}.gulp`;
  },
  "its data file is missing": (dir, chunk) => {
    fs.rmSync(`${dir}/data_${chunk}.gulp`);
    return `${dir}/meta_${chunk}.gmeta`;
  },
};

const chunks = fs.readdirSync(GOLDEN).flatMap((name) =>
  /^data_(\d+)\.gulp$/.exec(name)?.[1] ?? []
).sort();

for (const [name, damage] of Object.entries(DAMAGES)) {
  Deno.test(`a chunk is skipped, with a warning: ${name}`, async () => {
    using whole = await GulpDirectory.open(GOLDEN, { decode: false });
    assert.ok(chunks.length > 1);
    const lengths = whole.shardLengths;
    for (const [at, chunk] of chunks.entries()) {
      await withTempDir(async (dir) => {
        fs.cpSync(GOLDEN, dir, { recursive: true });
        const path = damage(dir, chunk);
        const warnings: string[] = [];
        const onWarning = (message: string) => void warnings.push(message);
        using directory = await GulpDirectory.open(dir, {
          decode: false,
          onWarning,
        });
        assert.equal(warnings.length, 1);
        assert.ok(warnings[0]!.includes(path), warnings[0]);
        assert.match(warnings[0]!, /is skipped/);
        assert.equal(directory.length, whole.length - lengths[at]!);
        for (const id of directory.mergedMetaDict.keys()) {
          const [{ frames }, before] = [
            await directory.getRaw(id),
            await whole.getRaw(id),
          ];
          assert.deepEqual(frames, before.frames);
        }
        const sorted = (all: readonly number[]) => all.filter(Boolean).sort();
        const left = lengths.filter((_, i) => i !== at);
        assert.deepEqual(sorted(directory.shardLengths), sorted(left));
        assert.equal(directory.shardLengths.length, lengths.length);
        // The damaged chunk is not overwritten.
        const [next] = directory.newChunks(1);
        assert.ok(
          !fs.existsSync(next!.dataPath) && !fs.existsSync(next!.metaPath),
        );

        warnings.length = 0;
        const options = { label: null, onWarning };
        using dataset = await GulpVideoDataset.open(dir, options);
        assert.equal(warnings.length, 1);
        assert.equal(dataset.length, directory.length);
        using all = await GulpVideoDataset.open(GOLDEN, options);
        const saved = new DataLoader(all).save();
        assert.throws(() => new DataLoader(dataset).load(saved), {
          code: "bad-state",
        });
      });
    }
  });
}

Deno.test("if the only chunk is damaged, or all are, that is an error", async () => {
  await withTempDir(async (dir) => {
    fs.cpSync(GOLDEN, dir, { recursive: true });
    for (const chunk of chunks) {
      fs.truncateSync(`${dir}/meta_${chunk}.gmeta`, 10);
    }
    await assert.rejects(GulpDirectory.open(dir), { name: "FormatError" });
    for (const chunk of chunks.slice(1)) {
      fs.rmSync(`${dir}/meta_${chunk}.gmeta`);
      fs.rmSync(`${dir}/data_${chunk}.gulp`);
    }
    await assert.rejects(GulpDirectory.open(dir), { name: "FormatError" });
  });
});

Deno.test("a conversion loses a skipped chunk, and the plan reports it", async () => {
  await withTempDir(async (dir) => {
    for (const chunk of [0, 1]) {
      writeChunk(`${dir}/in`, chunk, [{ id: `${chunk}`, frames: [] }]);
    }
    fs.truncateSync(`${dir}/in/meta_0.gmeta`, 3);
    const options = { onWarning() {} };
    for (const target of ["files/", "packed.ffr"]) {
      await assert.rejects(convert(`${dir}/in`, `${dir}/${target}`, options), {
        code: "would-lose",
        message: /meta_0\.gmeta: it is not JSON.* is skipped/,
      });
    }
    assert.deepEqual(fs.readdirSync(dir), ["in"]);
    await convert(`${dir}/in`, `${dir}/out/`, { ...options, lossy: true });
    assert.deepEqual(fs.readdirSync(`${dir}/out`), ["1"]);
  });
});
