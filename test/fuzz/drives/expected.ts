/**
 * The `expect.json` of valid containers, by the original Python libraries. Unmutated containers must yield that
 * content.
 */
import { openRows } from "../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import {
  BagReader,
  DatasetReader,
  ShardedDatasetReader,
} from "../../../src/formats/bags/mod.ts";
import {
  FFRecordReader,
  PackedFolder,
} from "../../../src/formats/ffrecord/mod.ts";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import {
  assertBytes,
  type DatasetContent,
  type ExpectedRecord,
} from "../../support/bags/bag_golden.ts";
import { assertExpected } from "../../support/expected_value.ts";
import { type GoldenCase, sha256 } from "../../support/golden.ts";
import { type GulpCase, joined } from "../../support/gulp/gulp_golden.ts";
import { openMds } from "../../support/mds/open_mds.ts";
import {
  assertSamples,
  type SamplesCase,
} from "../../support/samples_golden.ts";
import { openSamples } from "../../../mod.ts";
import { contentsOf } from "../../support/contents.ts";
import {
  type ParquetCase,
  rowsOf,
} from "../../support/parquet/parquet_golden.ts";
import type { LmdbCase } from "../../support/lmdb/lmdb_golden.ts";
import type { LinesCase } from "../../support/lines/lines_golden.ts";
import type { TFRecordCase } from "../../support/tfrecord/tfrecord_golden.ts";
import type { MdsCase } from "../../support/mds/mds_golden.ts";
import type { TarCase } from "../../support/tar/tar_golden.ts";
import type { ZipCase } from "../../support/zip/zip_golden.ts";
import { open } from "../../../src/open/open.ts";
import { expectationOf } from "../originals.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

export const expectedDrive: Drive = {
  name: "expected content",
  every: 1,
  fits: (_original, { log }) => log.length === 0,
  memory: 512,
  async run(scene) {
    const expectation = expectationOf(scene.original) as
      | {
        readonly kind: string;
        readonly valid: boolean;
        readonly content: unknown;
      }
      | undefined;
    if (!expectation?.valid) return;
    const { kind, content } = expectation;
    const read = await scene.attempt("read all", async () => {
      try {
        await compare(scene, kind, content);
      } catch (error) {
        if (!(error instanceof assert.AssertionError)) throw error;
        scene.report(
          "wrong-bytes",
          `not what expect.json says: ${error.message}`,
        );
      }
    });
    if (!read.ok) {
      scene.report("wrong-bytes", `a valid container fails: ${read.error}`);
    }
  },
};

async function compare(
  { path }: Scene,
  kind: string,
  content: unknown,
): Promise<void> {
  switch (kind) {
    case "ffr":
      return await compareSamples(path, content as GoldenCase["content"]);
    case "packed":
      return comparePacked(path, content as GoldenCase["content"]);
    case "gulp":
      return await compareVideos(path, content as GulpCase["content"]);
    case "tar":
      return await compareTar(path, content as TarCase["content"]);
    case "zip":
      return await compareZip(path, content as ZipCase["content"]);
    case "tfrecord":
      return await compareRecords(path, content as TFRecordCase["content"]);
    case "recordio":
    case "bagz":
    case "bagz-interleaved":
      return await assertSamples(path, content as SamplesCase["content"], kind);
    case "mds":
      return await compareColumns(path, content as MdsCase["content"]);
    case "lmdb":
      return await compareZip(path, content as LmdbCase["content"]);
    case "samples":
      return await compareFields(path, content as LitDataContent);
    case "tensors":
      return await compareTensors(path, content as TensorContent);
    case "arrow":
    case "parquet":
      return await compareRows(path, content as ParquetCase["content"]);
    case "lines":
      return await compareLines(path, content as LinesCase["content"]);
    case "bag":
      return await compareBag(path, (content as BagContent).records);
    default:
      return await compareDataset(path, content as DatasetContent);
  }
}

interface BagContent {
  readonly records: readonly ExpectedRecord[];
}

async function compareSamples(
  path: string,
  { samples }: GoldenCase["content"],
): Promise<void> {
  using reader = await FFRecordReader.open(path, QUIET);
  assert.equal(reader.length, samples.length);
  const read = await reader.read(samples.keys());
  assert.deepEqual(read.map(sha256), samples.map(({ sha256 }) => sha256));
}

function comparePacked(path: string, { entries }: GoldenCase["content"]): void {
  using folder = PackedFolder.openSync(path, QUIET);
  assert.deepEqual(
    folder.list("", { recursive: true }),
    entries.map(({ path }) => path),
  );
  for (const { path, type, sha256: sum } of entries) {
    if (type === "file") assert.equal(sha256(folder.readSync(path)), sum);
  }
}

async function compareVideos(
  path: string,
  { videos }: GulpCase["content"],
): Promise<void> {
  using directory = await GulpDirectory.open(path, { decode: false });
  assert.deepEqual(
    [...directory.mergedMetaDict.keys()],
    videos.map(({ id }) => id),
  );
  for (const { id, frames_sha256: sum } of videos) {
    const { frames } = await directory.getRaw(id);
    assert.equal(sha256(joined(frames)), sum);
  }
}

async function compareZip(
  path: string,
  { entries }: ZipCase["content"] | LmdbCase["content"],
): Promise<void> {
  using fs = await open(path, QUIET);
  const contents = await fs.read(entries.map(({ path }) => path));
  assert.deepEqual(
    contents.map(sha256),
    entries.map(({ sha256 }) => sha256),
  );
}

async function compareRows(
  path: string,
  content: ParquetCase["content"],
): Promise<void> {
  using reader = await openRows(path);
  const rows = await reader.read(Array(content.rows).keys());
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    rowsOf({ content }),
  );
}

async function compareLines(
  path: string,
  { rows }: LinesCase["content"],
): Promise<void> {
  using samples = await openSamples(path, QUIET);
  assert.equal(samples.length, rows.length);
  for (const [i, row] of rows.entries()) {
    // The tests of the formats compare exact values.
    const keys = Object.keys(await samples.get(i)).sort();
    assert.deepEqual(keys, Object.keys(row!).sort());
  }
}

async function compareRecords(
  path: string,
  { records }: TFRecordCase["content"],
): Promise<void> {
  using samples = await openSamples(path, QUIET);
  const contents = await contentsOf(samples, records.keys());
  for (const [i, { sha256: sum }] of records.entries()) {
    assert.equal(sha256(contents[i]!), sum);
  }
}

async function compareColumns(
  path: string,
  { samples }: MdsCase["content"],
): Promise<void> {
  using reader = await openMds(path);
  for (const [i, sample] of samples.entries()) {
    const read = await reader.read(i);
    for (const [column, { sha256: sum }] of Object.entries(sample)) {
      assert.equal(sha256(read[column]!), sum);
    }
  }
}

interface LitDataContent {
  readonly samples: readonly Readonly<Record<string, { sha256?: string }>>[];
}

async function compareFields(
  path: string,
  { samples }: LitDataContent,
): Promise<void> {
  using reader = await openSamples(path, QUIET);
  assert.equal(reader.length, samples.length);
  for (const [i, sample] of samples.entries()) {
    const read = await reader.read(i);
    for (const [field, { sha256: sum }] of Object.entries(sample)) {
      const bytes = read[field] as Uint8Array;
      if (sum !== undefined) assert.equal(sha256(bytes), sum);
    }
  }
}

interface TensorContent {
  readonly files: Readonly<
    Record<string, { readonly tensors: readonly { readonly sha256: string }[] }>
  >;
}

async function compareTensors(
  path: string,
  { files }: TensorContent,
): Promise<void> {
  using reader = await openSamples(path, QUIET);
  const sums = Object.keys(files).sort()
    .flatMap((name) => files[name]!.tensors.map(({ sha256 }) => sha256));
  const all = await reader.read(sums.keys());
  assert.deepEqual(
    all.map(({ value }) => sha256(value as Uint8Array)),
    sums,
  );
}

async function compareTar(
  path: string,
  { entries }: TarCase["content"],
): Promise<void> {
  using fs = await open(path, QUIET);
  for (const { path, sha256: sum } of entries) {
    if (sum !== undefined) assert.equal(sha256(await fs.read(path)), sum);
  }
}

async function compareBag(
  path: string,
  records: readonly ExpectedRecord[],
): Promise<void> {
  using bag = await BagReader.open(path, QUIET);
  const read = await bag.read(records.keys());
  assert.ok(bag.length >= records.length); // a killed writer may have left one more record
  records.forEach((record, i) => assertBytes(read[i], record));
}

async function compareDataset(
  path: string,
  content: DatasetContent,
): Promise<void> {
  const { sharded, shards, datapoints, length } = content;
  for (const { name, bags } of shards) {
    for (const [key, { records }] of Object.entries(bags)) {
      const directory = sharded ? `${path}/${name}` : path;
      await compareBag(`${directory}/${key}.bag`, records);
    }
  }
  const Reader = sharded ? ShardedDatasetReader : DatasetReader;
  using reader = await Reader.open(path, QUIET);
  assert.equal(reader.length, length);
  for (const [i, expected] of (datapoints ?? []).entries()) {
    assertExpected(await reader.get(i), expected);
  }
}
