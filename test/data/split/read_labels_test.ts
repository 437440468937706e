/** Labels are read from containers in the order of their datasets' indices. */
import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { BagDataset } from "../../../src/formats/bags/data/bag_dataset.ts";
import { openSamples } from "../../../mod.ts";
import { GulpVideoDataset } from "../../../src/formats/gulp/data/gulp_video_dataset.ts";
import { PackedFolderDataset } from "../../../src/formats/ffrecord/data/packed_folder_dataset.ts";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { readLabels } from "../../../src/open/data/read_labels.ts";
import { open } from "../../../src/open/open.ts";
import { goldenCase } from "../../support/golden.ts";
import { imageCodec } from "../../../src/codecs/image/mod.ts";
import { testImage } from "../../support/images.ts";
import { range } from "../../support/list_dataset.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";

/** Returns the label of each sample of a container, by index. */
async function labelsOf(path: string, label: string): Promise<string[]> {
  using container = await open(path);
  const { length } = countSamples(container.info);
  let told = 0;
  const column = await readLabels(container, label, {
    onProgress: (done) => assert.equal(done, ++told),
  });
  assert.deepEqual([column.length, told], [length, length]);
  const labels = range(0, length).map((i) => column.names[column.at(i)]!);
  for (const [number, name] of column.names.entries()) {
    const count = labels.filter((one) => one === name).length;
    assert.equal(column.counts[number], count);
  }
  return labels;
}

Deno.test("labels of files are in the order of the datasets of files", async () => {
  for (const name of ["packed_tree", "packed_sort_order", "packed_flat2000"]) {
    const { path } = goldenCase(`ffrecord/${name}`);
    using packed = await PackedFolderDataset.open(path);
    using files = await openSamples(path, { files: "*" });
    assert.deepEqual(
      packed.paths,
      range(0, files.length).map((i) => files.keyOf(i)),
    );
    const above = packed.paths.map((path) => dirname(`/${path}`).slice(1));
    assert.deepEqual(await labelsOf(path, "parent"), above);
    assert.deepEqual(
      await labelsOf(path, "dir"),
      above.map((path) => path.split("/")[0]),
    );
  }
});

Deno.test("labels of videos are in the order of their dataset", async () => {
  const codec = await imageCodec();
  const jpeg = await codec.encode(testImage(8, 8));
  await withTempDir(async (dir) => {
    for (const chunk of range(0, 12)) { // data_10 comes before data_2
      const videos = range(0, 3).map((i) => ({
        id: `${i}/${chunk}`,
        frames: [jpeg],
        meta: { label: `${chunk % 5}`, id: 3 * chunk + i, is: i === 0 },
      }));
      writeChunk(dir, chunk, videos);
    }
    await Deno.writeTextFile(
      `${dir}/label2idx.json`,
      JSON.stringify(Object.fromEntries(range(0, 5).map((i) => [i, i]))),
    );
    using dataset = await GulpVideoDataset.open(dir);
    const samples = await dataset.get(range(0, 36));
    assert.deepEqual(
      await labelsOf(dir, "label"),
      samples.map(({ label }) => `${label}`),
    );
    assert.deepEqual(
      await labelsOf(dir, "id"),
      samples.map(({ id }) => {
        const [i, chunk] = id.split("/").map(Number);
        return `${3 * chunk! + i!}`;
      }),
    );
    assert.deepEqual(
      await labelsOf(dir, "is"),
      samples.map(({ id }) => `${id.startsWith("0/")}`),
    );
  });
});

Deno.test("labels of datapoints are in the order of their dataset, over many shards", async () => {
  await withTempDir(async (dir) => {
    const encode = (text: string) => new TextEncoder().encode(text);
    for (const shard of range(0, 3)) {
      const points = range(0, 1700).map((i) => ({
        kind: encode(`${i % 7}`),
        raw: encode("x"),
      }));
      const place = `${dir}/00000${shard}`;
      writeDataset(place, { kind: "utf8", raw: "bytes" }, points, 3);
    }
    using dataset = await BagDataset.open(dir, { mask: ["kind"] });
    const samples = await dataset.get(range(0, 5100));
    assert.deepEqual(
      await labelsOf(dir, "kind"),
      samples.map(({ kind }) => kind),
    );
    await assert.rejects(labelsOf(dir, "raw"), {
      code: "no-label",
      sample: 0,
      message:
        /read label 'raw' of sample 0 of .*: it has none that is a text or a number/,
    });
    await assert.rejects(labelsOf(dir, "none"), {
      code: "no-label",
      message:
        /Cannot stratify by 'none': Cannot read 'none' of .*: there is no such key, only 'kind', 'raw'/,
    });
  });
});

Deno.test("a list in a datapoint is not a label", async () => {
  const { path } = goldenCase("granular2/lists");
  await assert.rejects(labelsOf(path, "bar"), {
    code: "no-label",
    sample: 0,
    message: /Cannot stratify .*: its datapoint 0 has no single value of 'bar'/,
  });
});

Deno.test("reading labels can be aborted", async () => {
  const { path } = goldenCase("ffrecord/packed_tree");
  using container = await open(path);
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(
    readLabels(container, "dir", { signal }),
    { message: "enough" },
  );
});
