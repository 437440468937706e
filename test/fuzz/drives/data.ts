/** Datasets and the loader, with decoding. */
import {
  BagDataset,
  Compose,
  DataLoader,
  type Dataset,
  FFRecordDataset,
  GulpImageDataset,
  GulpVideoDataset,
  PackedFolderDataset,
  Scale,
} from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST_BATCHES = 8;

/** Opens a container as a dataset of a class. */
type Open = (path: string) => Promise<Dataset<unknown>>;

const labels = ["label", { text: "label" }, { text: "class" }] as const;

const OPENERS: Record<string, (scene: Scene) => Open> = {
  FFRecordDataset: () => (path) => FFRecordDataset.open(path, QUIET),
  PackedFolderDataset: () => (path) => PackedFolderDataset.open(path, QUIET),
  files: ({ dice }) => {
    const options = { ...QUIET, files: "**", decoded: dice.once(2) };
    const decode = dice.once(4);
    return (path) => openDataset(path, { ...options, decode });
  },
  BagDataset: ({ dice }) => {
    const options = { ...QUIET, ...(dice.once(2) ? { decoders: null } : {}) };
    return (path) => BagDataset.open(path, options);
  },
  openDataset: ({ dice }) => {
    const options = { ...QUIET, decode: dice.once(2) };
    return (path) => openDataset(path, options);
  },
  webdataset: ({ dice }) => {
    const options = { ...QUIET, format: "webdataset" };
    const how = dice.pick([
      {},
      { decode: false },
      { decoders: { cls: null, txt: ({ length }: Uint8Array) => length } },
    ]);
    return (path) => openDataset(path, { ...options, ...how });
  },
  GulpImageDataset: ({ dice }) => {
    const label = dice.pick(labels);
    const transform = new Compose([new Scale(16)]);
    return (path) => GulpImageDataset.open(path, { label, transform });
  },
  GulpVideoDataset: ({ dice }) => {
    const label = dice.pick(labels);
    const clip = dice.pick([{}, { numFrames: 2, stepSize: 1 }]);
    return (path) => GulpVideoDataset.open(path, { label, ...clip });
  },
};

const OF_FORMAT: Record<string, readonly string[]> = {
  ffrecord: ["FFRecordDataset", "PackedFolderDataset", "files"],
  gulp: ["GulpImageDataset", "GulpVideoDataset", "files"],
  bag: ["files"],
  tar: ["webdataset", "files"],
  mds: ["openDataset", "files"],
  litdata: ["openDataset", "files"],
  safetensors: ["openDataset", "files"],
  tfrecord: ["openDataset", "files"],
  parquet: ["openDataset", "files"],
  lmdb: ["openDataset", "files"],
  jsonl: ["openDataset", "files"],
  csv: ["openDataset", "files"],
  tsv: ["openDataset", "files"],
  arrow: ["openDataset", "files"],
  hdf5: ["openDataset", "files"],
};

export const dataDrive: Drive = {
  name: "data",
  every: 4,
  memory: 1200,
  async run(scene) {
    await load(scene, 0);
  },
};

export const threadsDrive: Drive = {
  name: "data in threads",
  every: 500,
  memory: 1500,
  async run(scene) {
    await load(scene, 1 + scene.dice.int(2));
  },
};

async function load(scene: Scene, numWorkers: number): Promise<void> {
  const { dice, original } = scene;
  const names = dice.once(10)
    ? Object.keys(OPENERS)
    : OF_FORMAT[original.format] ?? ["BagDataset", "files"];
  const name = dice.pick(names);
  const open = OPENERS[name]!(scene);
  const opened = await scene.attempt(`${name}.open`, () => open(scene.path));
  if (!opened.ok) return;
  const dataset = opened.value;
  const options = {
    batchSize: dice.size(1, 8),
    shuffle: dice.once(2),
    seed: 1,
    numWorkers,
    ...(dice.once(2) ? { collate: false as const } : {}),
  };
  const loader = new DataLoader(dataset, options);
  await scene.attempt(`${name} in batches`, async () => {
    let left = MOST_BATCHES;
    for await (const _batch of loader) if (--left === 0) break;
  });
  await scene.attempt("close", () => loader.close());
  dataset.close();
}
