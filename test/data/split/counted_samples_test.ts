import assert from "node:assert/strict";
import { GulpVideoDataset } from "../../../src/formats/gulp/data/gulp_video_dataset.ts";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import { open } from "../../../src/open/open.ts";
import { openDeferred } from "../../../src/open/open_deferred.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";

const quiet = { onWarning() {} };

/** Writes two chunks of three videos each; the second video of the first chunk is damaged. */
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

Deno.test("skipped videos keep their indices in splits, mounts and datasets", async () => {
  await withTempDir(async (dir) => {
    writeDamaged(dir);
    using dataset = await GulpVideoDataset.open(dir, { label: null });
    using container = await open(dir, quiet);
    const { tree } = await openDeferred(dir, quiet);
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

Deno.test("if a chunk is skipped, trees and datasets number the other videos alike, and report the shift", async () => {
  await withTempDir(async (dir) => {
    writeDamaged(dir);
    await Deno.remove(`${dir}/meta_0.gmeta`);
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    using dataset = await GulpVideoDataset.open(dir, {
      label: null,
      onWarning,
    });
    assert.deepEqual(dataset.shardLengths, [3, 0]);
    using container = await open(dir, { onWarning });
    const { tree } = await openDeferred(dir, { onWarning });
    assert.equal(warnings.length, 3);
    for (const warning of warnings) {
      assert.ok(warning.includes(`${dir}/data_0.gulp`), warning);
      assert.match(warning, /have other numbers/);
    }
    assert.equal(container.info.facts?.["unreadable"], 1);
    const counted = countSamples(container.info);
    assert.deepEqual(counted, { unit: "videos", length: 3 });
    const samples = await samplesOf(tree);
    assert.equal(samples.length, 3);
    const name = new Uint8Array(16);
    for (let index = 0; index < 3; index++) {
      assert.equal(dataset.fileOf(index), `${dir}/data_1.gulp`);
      const end = tree.nameOf!(samples.node(index), name);
      assert.equal(
        new TextDecoder().decode(name.subarray(0, end)),
        `1${index}`,
      );
    }
    tree.close();
  });
});
