/** The readers of each format, like those in Python. Single reads, batches, views and decoded values must agree. */
import * as fs from "node:fs";
import {
  BagReader,
  DatasetReader,
  ShardedDatasetReader,
} from "../../../src/formats/bags/mod.ts";
import {
  FFRecordReader,
  PackedFolder,
} from "../../../src/formats/ffrecord/mod.ts";
import { GulpChunk, GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { digestOf } from "../digest.ts";
import type { Outcome, Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST = 24;

/** Images of up to 2^27 pixels may be decoded: they take 512 MiB with a codec's own copy. */
export const readersDrive: Drive = {
  name: "readers",
  every: 1,
  memory: 1200,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const isDirectory = isDirectoryAt(path);
  const names = isDirectory ? fs.readdirSync(path) : [path];
  const has = (ending: string) => names.some((name) => name.endsWith(ending));
  // Readers of the format that the names suggest, and sometimes of another one.
  if (has(".ffr") || dice.once(30)) await readRecords(scene);
  if (has(".gulp") || has(".gmeta") || dice.once(30)) await readVideos(scene);
  if (
    isDirectory && (has(".bag") || has("spec.json") || has("000000")) ||
    dice.once(30)
  ) {
    await readDatapoints(scene);
  }
  const bags = names.filter((name) => name.endsWith(".bag"))
    .map((name) => isDirectory ? `${path}/${name}` : name);
  for (const bag of dice.some(bags, 2)) await readBag(scene, bag);
}

function isDirectoryAt(path: string): boolean {
  try {
    return fs.statSync(path).isDirectory();
  } catch {
    return false; // missing, or a circular link
  }
}

async function readRecords(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const options = { ...QUIET, checkData: !dice.once(4) };
  const [opened, now] = await scene.both(
    "FFRecordReader.open",
    () => FFRecordReader.open(path, options),
    () => FFRecordReader.openSync(path, options),
    ({ length, offsets, checksums }) => [length, offsets, checksums],
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    const indices = someIndices(scene, reader.length);
    const read = await readEach(
      scene,
      indices,
      (i) => reader.readOne(i),
      (i) => now.value.readOneSync(i),
      (i) => reader.unsafeView(i),
    );
    await compareBatch(scene, read, () => reader.read(indices));
    await scene.both(
      "validate",
      () => reader.validate(),
      () => reader.validateSync(),
    );
  }
  closeAll(opened, now);
  const [folder, folderNow] = await scene.both(
    "PackedFolder.open",
    () => PackedFolder.open(path, options),
    () => PackedFolder.openSync(path, options),
    (folder) => folder.numFiles,
  );
  if (folder.ok) {
    const all = scene.attemptSync(
      "list",
      () => folder.value.list("", { recursive: true, dirs: false }),
    );
    const some = dice.some(all.ok ? all.value : [], MOST);
    const read = await readEach(
      scene,
      some,
      (path) => folder.value.read(path),
      (path) => folder.value.readSync(path),
      (path) => folder.value.unsafeView(path),
    );
    await compareBatch(scene, read, () => folder.value.read(some));
  }
  closeAll(folder, folderNow);
}

async function readVideos(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const raw = { decode: false } as const;
  const [opened, now] = await scene.both(
    "GulpDirectory.open",
    () => GulpDirectory.open(path, raw),
    () => GulpDirectory.openSync(path, raw),
    (directory) => [...directory.mergedMetaDict.keys()],
  );
  if (opened.ok && now.ok) {
    const directory = opened.value;
    await scene.both(
      "labels",
      () => directory.labels(),
      () => now.value.labelsSync(),
    );
    const ids = dice.some([...directory.mergedMetaDict.keys()], MOST);
    for (const id of ids.slice(0, 4)) {
      scene.attemptSync("meta", () => {
        const { frameInfo, metaData } = directory.mergedMetaDict.get(id)!;
        return digestOf([...frameInfo, metaData.length]);
      });
    }
    const slice = dice.pick([undefined, { step: 2 }, { start: -1 }, {
      stop: 3,
    }]);
    await readEach(
      scene,
      ids,
      (id) => directory.getRaw(id, slice),
      (id) => now.value.getRawSync(id, slice),
      (id) => directory.unsafeView(id, slice),
    );
    for (const chunk of dice.some([...directory], 2)) {
      const load = await scene.attempt(
        "GulpChunk.load",
        () => GulpChunk.load(chunk.dataPath, chunk.metaPath, raw),
      );
      if (!load.ok) continue;
      await scene.attempt(
        "iterAll",
        () => Array.fromAsync(load.value.iterAll()),
      );
      load.value.close();
    }
    if (dice.once(2)) await decodeVideos(scene, ids.slice(0, 3));
  }
  closeAll(opened, now);
}

async function decodeVideos(
  scene: Scene,
  ids: readonly string[],
): Promise<void> {
  const colorspace = scene.dice.pick(["RGB", "GRAY", "ANY"] as const);
  const opened = await scene.attempt(
    "GulpDirectory.open",
    () => GulpDirectory.open(scene.path, { colorspace }),
  );
  if (!opened.ok) return;
  for (const id of ids) {
    await scene.attempt(
      "decoded video",
      () => opened.value.get(id, { stop: 2 }),
    );
  }
  opened.value.close();
}

async function readDatapoints(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const isSharded = fs.existsSync(`${path}/000000`) || dice.once(10);
  const Reader = isSharded ? ShardedDatasetReader : DatasetReader;
  const options = {
    ...QUIET,
    decoders: null,
    cacheIndex: !dice.once(3),
    parallel: dice.once(2),
  };
  const [opened, now] = await scene.both(
    "DatasetReader.open",
    (): Promise<DatasetReader> => Reader.open(path, options),
    (): DatasetReader => Reader.openSync(path, options),
    (
      { length, keys, spec, generation, size },
    ) => [length, keys, spec, generation, size],
    !isSharded, // shards are opened concurrently, so any of their errors may come first
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    const indices = someIndices(scene, reader.length);
    const read = await readEach(
      scene,
      indices,
      (i) => reader.get(i),
      (i) => now.value.getSync(i),
      (i) => reader.unsafeView(i),
    );
    await compareBatch(scene, read, () => reader.read(indices));
    for (const i of indices.slice(0, 3)) {
      await scene.both(
        "available",
        () => reader.available(i),
        () => now.value.availableSync(i),
      );
      const [range] = await scene.both(
        "range",
        () => reader.range(i, i + 1),
        () => now.value.rangeSync(i, i + 1),
      );
      const one = read.get(i)!;
      const listed: Outcome<unknown> = one.ok
        ? { ok: true, value: listsOf(one.value) }
        : one;
      scene.compare(listed, range, "get", "range");
    }
    await decodeDatapoints(scene, Reader, indices.slice(0, 4));
  }
  closeAll(opened, now);
}

function listsOf(datapoint: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(datapoint).map(([key, value]) => [key, [value]]),
  );
}

async function decodeDatapoints(
  scene: Scene,
  Reader: typeof DatasetReader | typeof ShardedDatasetReader,
  indices: readonly number[],
): Promise<void> {
  const opened = await scene.attempt(
    "DatasetReader.open",
    (): Promise<DatasetReader> => Reader.open(scene.path, QUIET),
  );
  if (!opened.ok) return;
  for (const i of indices) {
    await scene.attempt("decoded datapoint", () => opened.value.get(i));
  }
  await scene.attempt("decoded batch", () => opened.value.read(indices));
  opened.value.close();
}

async function readBag(scene: Scene, path: string): Promise<void> {
  const { dice } = scene;
  const options = {
    ...QUIET,
    cacheIndex: !dice.once(3),
    generation: dice.once(6) ? dice.pick([1, 2, 3] as const) : undefined,
  };
  const [opened, now] = await scene.both(
    "BagReader.open",
    () => BagReader.open(path, options),
    () => BagReader.openSync(path, options),
    ({ length, generation, size }) => [length, generation, size],
  );
  if (opened.ok && now.ok) {
    const bag = opened.value;
    const indices = someIndices(scene, bag.length);
    const read = await readEach(
      scene,
      indices,
      (i) => bag.get(i),
      (i) => now.value.getSync(i),
      (i) => bag.unsafeView(i),
    );
    await compareBatch(scene, read, () => bag.read(indices));
    const [from, to] = [dice.int(bag.length), dice.int(20)];
    await scene.both(
      "range",
      () => bag.range(from, from + to),
      () => now.value.rangeSync(from, from + to),
    );
  }
  closeAll(opened, now);
}

function someIndices({ dice }: Scene, length: number): number[] {
  if (length <= MOST) return [...Array(length).keys()];
  const some = Array.from({ length: MOST - 2 }, () => dice.int(length));
  return [...new Set([0, ...some, length - 1])];
}

/** Reads each key asynchronously, synchronously, and as a view. */
async function readEach<K, V>(
  scene: Scene,
  keys: readonly K[],
  wait: (key: K) => Promise<V>,
  now: (key: K) => V,
  view: (key: K) => V,
): Promise<Map<K, Outcome<V>>> {
  const read = new Map<K, Outcome<V>>();
  for (const key of keys) {
    const [waited] = await scene.both(
      "read one",
      () => wait(key),
      () => now(key),
    );
    const viewed = scene.attemptSync("unsafeView", () => view(key));
    scene.compare(waited, viewed, "read", "unsafeView");
    read.set(key, waited);
  }
  return read;
}

/** A batch must equal its single reads, and fail if one of them fails. */
async function compareBatch<K, V>(
  scene: Scene,
  read: ReadonlyMap<K, Outcome<V>>,
  batch: () => Promise<V[]>,
): Promise<void> {
  const together = await scene.attempt("read of a batch", batch);
  const alone = [...read.values()];
  const failed = alone.filter(({ ok }) => !ok);
  if (together.ok !== (failed.length === 0)) {
    scene.report(
      "disagreement",
      `the batch ${
        together.ok ? "is read" : "fails"
      }, ${failed.length} of ${alone.length} fail alone`,
    );
  } else if (together.ok) {
    const values = alone.map((one) => one.ok ? one.value : undefined);
    scene.expect(digestOf(values), together.value, "a batch");
  }
}

function closeAll(...outcomes: readonly Outcome<{ close(): void }>[]): void {
  for (const outcome of outcomes) if (outcome.ok) outcome.value.close();
}
