import assert from "node:assert/strict";
import { GulpVideoDataset } from "../../../src/formats/gulp/data/gulp_video_dataset.ts";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import { open } from "../../../src/open/mod.ts";
import { openToServe } from "../../../src/open/open_to_serve.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";

const quiet = { onWarning() {} };

/** Two chunks of three videos each, the second of which is damaged in the first chunk. */
function writeDamaged(dir: string): void {
  for (const chunk of [0, 1]) {
    const videos = [0, 1, 2].map((i) => ({
      id: `${chunk}${i}`,
      frames: [fakeJpeg(8), fakeJpeg(8)],
    }));
    const meta = writeChunk(dir, chunk, videos);
    if (chunk > 0) continue;
    meta["01"]!.frame_info[1] = [1000, 0, 8];
    Deno.writeTextFileSync(`${dir}/meta_0.gmeta`, JSON.stringify(meta));
  }
}

Deno.test("videos that are left out have their numbers for split, mounts and datasets alike", async () => {
  await withTempDir(async (dir) => {
    writeDamaged(dir);
    using dataset = await GulpVideoDataset.open(dir, { label: null });
    using container = await open(dir, quiet);
    const { tree } = await openToServe(dir, quiet);
    const samples = await samplesOf(tree);
    const counted = countSamples(container.info);
    assert.deepEqual(counted, { unit: "videos", length: 6 });
    assert.equal(dataset.length, 6);
    assert.equal(samples.length, 6);
    assert.equal(container.info.facts?.["videos"], 5);
    assert.equal(container.info.facts?.["badVideos"], 1);
    const name = new Uint8Array(16);
    for (let index = 0; index < 6; index++) {
      const id = `${index < 3 ? 0 : 1}${index % 3}`;
      assert.equal(dataset.fileOf(index), `${dir}/data_${id[0]}.gulp`);
      const node = samples.node(index);
      const end = node === 0 ? 0 : tree.nameOf!(node, name);
      const shown = new TextDecoder().decode(name.subarray(0, end));
      assert.equal(shown, id === "01" ? "" : id);
    }
    tree.close();
  });
});

Deno.test("videos of a tree have no numbers where a chunk is left out; a dataset says that they have moved", async () => {
  await withTempDir(async (dir) => {
    writeDamaged(dir);
    await Deno.remove(`${dir}/meta_0.gmeta`);
    const isRefused = (error: unknown) => {
      assert.ok(error instanceof FormatError);
      assert.equal(error.path, dir);
      assert.ok(error.message.includes("`check()`"));
      return true;
    };
    const warnings: string[] = [];
    using dataset = await GulpVideoDataset.open(dir, {
      label: null,
      onWarning: (message) => warnings.push(message),
    });
    assert.equal(
      dataset.shardLengths.filter((length) => length === 0).length,
      1,
    );
    assert.match(warnings.join(), /have other numbers/);
    using container = await open(dir, quiet);
    assert.equal(container.info.facts?.["badChunks"], 1);
    assert.throws(() => countSamples(container.info), isRefused);
    const { tree } = await openToServe(dir, quiet);
    await assert.rejects(samplesOf(tree), isRefused);
    tree.close();
  });
});
