/**
 * Readers of samples of tars, zips, TFRecord, MDS, LitData, SafeTensors, Parquet and lines. Reads one by one, in
 * batches, synchronously, decoded, and in another thread must agree.
 */
import { openRows } from "../../support/parquet/open_rows.ts";
import { LINE_FORMATS } from "../../support/lines/lines_golden.ts";
import { RecordfsError } from "../../../src/base/errors.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";
import { loadCsv } from "../../../src/codecs/rows/csv_cells.ts";
import { loadCrc32c } from "../../../src/io/checksums/crc32c.ts";
import { openSamples } from "../../../mod.ts";
import { open } from "../../../src/open/open.ts";
import { openSamplesSync } from "../../../src/open/mod.ts";
import { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";
import { whenLoaded } from "../../../src/tree/not_loaded.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import {
  newExtent,
  type NodeId,
  reopenHandle,
  type Tree,
} from "../../../src/tree/tree.ts";
import { digestOf } from "../digest.ts";
import type { Outcome, Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

/** Maximum number of samples in a batch. */
const MOST = 24;

/** A reader of samples by key. */
interface BatchReader<K> extends Disposable {
  read(key: K): Promise<unknown>;
  read(keys: readonly K[]): Promise<unknown>;
  readSync(key: K): unknown;
  readSync(keys: readonly K[]): unknown;
  share(): unknown;
  close(): void;
}

/** How to drive the reader of a format. */
interface Readers<R extends BatchReader<K>, K, O extends object> {
  readonly name: string;
  readonly format: string;
  readonly memory: number;
  /** Returns the options for opening it. */
  options(scene: Scene): O;
  /** Loads modules that a synchronous open requires. */
  load?(scene: Scene, options: O): Promise<void>;
  readonly Reader: {
    readonly name: string;
    open(path: string, options: O): Promise<R>;
    openSync(path: string, options: O): R;
    openShared(handle: never): R | Promise<R>;
  };
  /** Returns facts of an open reader, for comparison. */
  facts(reader: R): unknown;
  /** Chooses keys to read. */
  keys(scene: Scene, reader: R): readonly K[];
  /** Reads in another way, to compare with another thread; by default a batch. */
  decode?(scene: Scene, reader: R): (reader: R) => Promise<unknown>;
  /** Compares further facts. */
  compare?(scene: Scene, reader: R): Promise<void>;
  /** Whether values may differ in another thread, because damaged data may be decoded to anything without checksums. */
  isLoose?(options: O): boolean;
}

function driveOf<R extends BatchReader<K>, K, O extends object>(
  readers: Readers<R, K, O>,
): Drive {
  const { name, format, memory } = readers;
  return {
    name,
    every: 1,
    fits: (original) => original.format === format,
    memory,
    run: (scene) => run(scene, readers),
  };
}

async function run<R extends BatchReader<K>, K, O extends object>(
  scene: Scene,
  readers: Readers<R, K, O>,
): Promise<void> {
  const { path } = scene;
  const { Reader, facts } = readers;
  const options = readers.options(scene);
  await readers.load?.(scene, options);
  const [opened, now] = await scene.both(
    `${Reader.name}.open`,
    () => Reader.open(path, options),
    () => Reader.openSync(path, options),
    facts,
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    await readers.compare?.(scene, reader);
    const keys = readers.keys(scene, reader);
    const batch = await readBoth(scene, reader, now.value, keys);
    const decode = readers.decode?.(scene, reader);
    const here = decode === undefined
      ? batch
      : await scene.attempt("decoded batch", () => decode(reader));
    const shared = await scene.attempt("read in another thread", async () => {
      using again = await Reader.openShared(
        structuredClone(reader.share()) as never,
      );
      return await (decode?.(again) ?? again.read(keys));
    });
    if (here.ok && shared.ok && !readers.isLoose?.(options)) {
      scene.expect(digestOf(here.value), shared.value, "shared tables");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}

/**
 * Reads some keys one by one, and all in a batch, asynchronously and synchronously. All results must agree.
 *
 * @param now Reader that was opened synchronously.
 * @returns The batch.
 */
async function readBoth<K>(
  scene: Scene,
  reader: BatchReader<K>,
  now: BatchReader<K>,
  keys: readonly K[],
): Promise<Outcome<unknown>> {
  for (const key of keys.slice(0, 4)) {
    await scene.both(
      "read one",
      () => reader.read(key),
      () => now.readSync(key),
    );
  }
  const batch = await scene.attempt("read", () => reader.read(keys));
  const alone = scene.attemptSync("readSync", () => now.readSync(keys));
  scene.compare(batch, alone, "read", "readSync");
  return batch;
}

/** Returns random indices of samples. */
function someIndices({ dice }: Scene, length: number): number[] {
  const count = length === 0 ? 0 : MOST;
  return Array.from({ length: count }, () => dice.int(length));
}

/** Reader of samples of any format. */
const SAMPLES = {
  name: "openSamples",
  open: openSamples,
  openSync: openSamplesSync,
  openShared: (handle: never) => OpenedSamples.openShared(handle),
};

/** Returns the extents of files, or error codes. */
function placesOf(tree: Tree, nodes: readonly NodeId[]): unknown {
  const extent = newExtent();
  return nodes.map((node) => {
    try {
      runSync(whenLoaded(() => tree.locate(node, extent)));
      return { ...extent };
    } catch (error) {
      if (error instanceof RecordfsError) return error.code;
      throw error;
    }
  });
}

/** Compares extents of files with those of a tree reopened from the shared tables. */
async function comparePlaces(
  scene: Scene,
  { container }: OpenedSamples,
): Promise<void> {
  const { tree } = container!;
  const entries = [...container!.walkSync()].filter(({ isFile }) => isFile);
  const nodes = scene.dice.some(entries, MOST).map(({ ino }) => ino);
  const here = scene.attemptSync("locate", () => placesOf(tree, nodes));
  const there = await scene.attempt("locate in another thread", async () => {
    const again = await reopenHandle(structuredClone(tree.share()));
    try {
      return placesOf(again, nodes);
    } finally {
      again.close();
    }
  });
  scene.compare(here, there, "the tree", "the shared tree");
}

const WEB_DATASET = { ...QUIET, format: "webdataset" } as const;

export const tarsDrive: Drive = driveOf<
  OpenedSamples,
  number,
  typeof WEB_DATASET
>({
  name: "tars",
  format: "tar",
  memory: 512,
  Reader: SAMPLES,
  options: () => WEB_DATASET,
  facts: ({ length, paths }) => [length, paths],
  keys: (scene, { length }) => someIndices(scene, length),
  decode(scene, { length }) {
    const indices = someIndices(scene, length);
    return (reader) => reader.read(indices);
  },
  async compare(scene, samples) {
    const seen = await scene.attempt("samples of the tree", async () => {
      using tree = await open(scene.path, WEB_DATASET);
      return (await samplesOf(tree.tree)).length;
    });
    const counted = { ok: true, value: samples.length } as const;
    scene.compare(counted, seen, "the samples", "the tree");
    await comparePlaces(scene, samples);
  },
});

/** Samples of zips. */
export const zipsDrive: Drive = driveOf<OpenedSamples, number, typeof QUIET>({
  name: "zips",
  format: "zip",
  memory: 512,
  Reader: SAMPLES,
  options: () => QUIET,
  facts: ({ length }) => length,
  keys: (scene, { length }) => someIndices(scene, length),
  compare: comparePlaces,
});

export const tfrecordsDrive: Drive = driveOf<
  OpenedSamples,
  number,
  { checkData: boolean }
>({
  name: "tfrecords",
  format: "tfrecord",
  memory: 512,
  Reader: SAMPLES,
  options: ({ dice }) => ({ checkData: !dice.once(3) }),
  load: () => loadCrc32c(),
  facts: ({ length, paths }) => [length, paths],
  keys: (scene, { length }) => someIndices(scene, length),
  decode(scene, { length }) {
    const indices = someIndices(scene, length);
    return (reader) => reader.get(indices);
  },
});

/** Returns a drive for samples whose fields are bytes. */
function fieldsDrive(name: string): Drive {
  return driveOf<OpenedSamples, number, object>({
    name,
    format: name,
    memory: 768,
    Reader: SAMPLES,
    options: () => ({}),
    facts: ({ length, paths }) => [length, paths],
    keys: (scene, { length }) => someIndices(scene, length),
    decode(scene, { length }) {
      const indices = someIndices(scene, length);
      return (reader) => reader.get(indices);
    },
  });
}

export const mdsDrive: Drive = fieldsDrive("mds");
export const litdataDrive: Drive = fieldsDrive("litdata");
export const safetensorsDrive: Drive = fieldsDrive("safetensors");

/** Values of LMDB databases. */
export const lmdbsDrive: Drive = driveOf<OpenedSamples, number, object>({
  name: "lmdbs",
  format: "lmdb",
  memory: 512,
  Reader: SAMPLES,
  options: () => QUIET,
  facts: ({ length, paths }) => [length, paths],
  keys: (scene, { length }) => someIndices(scene, length),
});

const rowsDrive = (format: string) =>
  driveOf<
    OpenedSamples,
    number,
    { checkData: boolean; pageCacheSize: number | undefined }
  >({
    name: `${format}s`,
    format,
    memory: 1200,
    Reader: SAMPLES,
    options: ({ dice }) => ({
      checkData: !dice.once(3),
      pageCacheSize: dice.pick([undefined, 0, 1000]),
    }),
    // Loads the page decoders.
    load: (scene, options) =>
      scene.attempt("load", async () => {
        (await openRows(scene.path, options)).close();
      }).then(() => {}),
    facts: ({ length, fields, paths }) => [length, fields, paths],
    keys: (scene, { length }) => someIndices(scene, length),
    isLoose: ({ checkData }) => !checkData,
  });

export const parquetsDrive: Drive = rowsDrive("parquet");
export const arrowsDrive: Drive = rowsDrive("arrow");
export const hdf5sDrive: Drive = rowsDrive("hdf5");

/** Rows of JSON lines, CSV and TSV. */
export const linesDrives: readonly Drive[] = LINE_FORMATS.map((format) =>
  driveOf<OpenedSamples, number, typeof QUIET>({
    name: `lines of ${format}`,
    format,
    memory: 512,
    Reader: SAMPLES,
    options: () => QUIET,
    load: () => loadCsv(),
    facts: ({ length, fields, paths }) => [length, fields, paths],
    keys: (scene, { length }) => someIndices(scene, length),
    decode(scene, { length }) {
      const indices = someIndices(scene, length);
      return (reader) => reader.get(indices);
    },
  })
);
