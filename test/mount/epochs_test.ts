/** The links of a mount have the order in which a loader reads, for every format. */
import assert from "node:assert/strict";
import { BagDataset } from "../../src/formats/bags/data/bag_dataset.ts";
import { FFRecordDataset } from "../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { GulpVideoDataset } from "../../src/formats/gulp/data/gulp_video_dataset.ts";
import { PackedFolderDataset } from "../../src/formats/ffrecord/data/packed_folder_dataset.ts";
import { Subset } from "../../src/data/datasets/subset.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { DataLoader } from "../../src/data/loader/data_loader.ts";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { goldenCase, sha256 } from "../support/golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import type { MountPlace } from "../cli/mount/mount_place.ts";
import { mounted, test } from "./shown.ts";

const SEED = 1234;
const EPOCHS = [0, 1, 2];

/** Returns the samples that a loader reads, by epoch. */
async function loaded<T>(dataset: Dataset<T>): Promise<T[][]> {
  await using loader = new DataLoader<T, T[]>(dataset, {
    shuffle: true,
    seed: SEED,
    batchSize: 4,
    collate: (samples) => [...samples],
  });
  const epochs: T[][] = [];
  for (const _ of EPOCHS) {
    const samples: T[] = [];
    for await (const batch of loader) samples.push(...batch);
    epochs.push(samples);
  }
  return epochs;
}

/** Reads the targets of each epoch's links, in the order of the links' names. */
async function linked<T>(
  { mountpoint }: MountPlace,
  read: (path: string) => Promise<T>,
): Promise<T[][]> {
  return await Promise.all(EPOCHS.map(async (epoch) => {
    const directory = `${mountpoint}/epoch-000${epoch}`;
    const names = (await Array.fromAsync(Deno.readDir(directory)))
      .map(({ name }) => name).sort();
    return await Promise.all(names.map((name) => read(`${directory}/${name}`)));
  }));
}

const hash = async (path: string) => sha256(await Deno.readFile(path));

async function assertSame<S, T>(
  place: MountPlace,
  args: readonly string[],
  dataset: Dataset<S>,
  seen: (sample: S) => T,
  read: (path: string) => Promise<T>,
): Promise<void> {
  const expected = (await loaded(dataset)).map((epoch) => epoch.map(seen));
  assert.notDeepEqual(expected[0], expected[1]);
  const flags = [`--shuffle=${SEED}`, "--epoch=0-2", ...args];
  await mounted(place, flags, async () => {
    assert.deepEqual(await linked(place, read), expected);
  });
}

test("a loader of FFRecord samples reads from a mount", async (place) => {
  const { path } = goldenCase("ffrecord/plain_sizes");
  using dataset = await FFRecordDataset.open(path);
  await assertSame(place, [path], dataset, sha256, hash);
});

test("a loader of a packed folder, and of a subset of it, reads from a mount", async (place) => {
  const { path } = goldenCase("ffrecord/packed_tree");
  const { recordfs, dir, mountpoint } = place;
  const seen = ({ path, content }: { path: string; content: Uint8Array }) =>
    `${path} ${sha256(content)}`;
  const read = async (link: string) => {
    const target = await Deno.realPath(link);
    return `${target.slice(mountpoint.length + 1)} ${await hash(link)}`;
  };
  using whole = await PackedFolderDataset.open(path);
  await assertSame(place, [path], whole, seen, read);
  const split = await recordfs(
    ...["split", path, "--ratios=0.5,0.5", "--seed=3", "--out", dir],
  );
  assert.deepEqual([split.stderr, split.code], ["", 0]);
  const part = await Subset.fromFile(whole, `${dir}/val.txt`);
  assert.ok(part.length > 20 && part.length < whole.length);
  const flags = ["--subset", `${dir}/val.txt`, path];
  await assertSame(place, flags, part, seen, read);
});

test("a loader of videos reads from a mount", async (place) => {
  const { path } = gulpCase("v2_chunks");
  using dataset = await GulpVideoDataset.open(path, {
    numFrames: 1,
    label: null,
  });
  await assertSame(
    place,
    [path],
    dataset,
    ({ id }) => id,
    async (link) => (await Deno.readLink(link)).slice("../".length),
  );
});

test("a loader of the datapoints of all shards reads from a mount", async (place) => {
  const { path } = datasetCase("bags/sharded");
  using dataset = await BagDataset.open(path, { decoders: null });
  await assertSame(
    place,
    [path],
    dataset,
    ({ blob }) => sha256(blob as Uint8Array),
    (link) => hash(`${link}/blob`),
  );
});
