/**
 * A damaged shard of several, in every format whose samples lie in several: what is sound is opened, what is not is
 * said, and nothing has a number that a loader's saved state means something else by.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../../src/data/loader/mod.ts";
import { Dataset } from "../../../src/data/dataset.ts";
import { imageCodec } from "../../../src/codecs/image/mod.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { BagDataset } from "../../../src/formats/bags/data/bag_dataset.ts";
import { FFRecordDataset } from "../../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { GulpImageDataset } from "../../../src/formats/gulp/data/gulp_image_dataset.ts";
import { MDSDataset } from "../../../src/formats/mds/data/mds_dataset.ts";
import { ParquetDataset } from "../../../src/formats/parquet/data/parquet_dataset.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { WebDataset } from "../../../src/formats/tar/data/web_dataset.ts";
import { TFRecordWriter } from "../../../src/formats/tfrecord/mod.ts";
import { check, open } from "../../../src/open/open.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { testImage } from "../../support/images.ts";
import { writeChunk } from "../../support/gulp/make_gulp.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import {
  entryOf,
  type MadeColumn,
  shardOf,
} from "../../support/mds/make_mds.ts";
import {
  dataPage,
  writeBytesFile,
} from "../../support/parquet/make_parquet.ts";
import { processContents } from "../../support/contents.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { withTempDir } from "../../support/paths.ts";

/** A format, and how its shards are written and read. */
interface ShardedFormat {
  /** Name of a shard. */
  name(shard: number): string;
  /** The file in a shard that says what is in it, where shards are directories. */
  readonly file?: string;
  /** Bytes from its start that are damaged so that no sample of a file is found: they say how much there is, or where. */
  readonly head: number;
  /** Whether only a directory of shards is opened as a dataset. */
  readonly isDirectory?: boolean;
  /** Whether another file says how many samples each has: then no sample gets another number. */
  readonly keepsNumbers?: boolean;
  /** Writes a shard of samples of one byte. */
  write(path: string, samples: readonly number[]): Promise<void>;
  /** Opens a directory of shards, or one; samples are bytes. */
  open(
    path: string,
    onWarning: (message: string) => void,
  ): Promise<Dataset<Uint8Array>>;
}

/** A file of Parquet with one column of bytes. */
function parquetBytes(samples: readonly number[]): Uint8Array {
  const body = Uint8Array.from(samples.flatMap((n) => [1, 0, 0, 0, n]));
  const rows = samples.length;
  const size = { i32: body.length };
  const header = dataPage([], rows, { page: { 2: size, 3: size } });
  return writeBytesFile([[{ header, body, rows }]], { isIndexed: false });
}

/** Videos by their ids, which are numbers. */
class VideoNumbers extends Dataset<Uint8Array> {
  readonly #videos: GulpImageDataset<unknown, unknown>;

  constructor(videos: GulpImageDataset<unknown, unknown>) {
    super();
    this.#videos = videos;
  }

  override get length(): number {
    return this.#videos.length;
  }

  override get shardLengths(): readonly number[] {
    return this.#videos.shardLengths;
  }

  override async get(indices: readonly number[]): Promise<Uint8Array[]> {
    const samples = await this.#videos.get(indices);
    return samples.map(({ id }) => Uint8Array.of(Number(id)));
  }

  override close(): void {
    this.#videos.close();
  }
}

/** The column of shards of MDS. */
const COLUMNS: readonly MadeColumn[] = [["data", "bytes", null]];

const FORMATS: Readonly<Record<string, ShardedFormat>> = {
  FFRecord: {
    name: (shard) => `${shard}.ffr`,
    head: 12,
    async write(path, samples) {
      await Deno.writeFile(
        path,
        ffrBytes(samples.map((n) => Uint8Array.of(n))),
      );
    },
    open: (path, onWarning) => FFRecordDataset.open(path, { onWarning }),
  },
  GulpIO: {
    name: (shard) => `meta_${shard}.gmeta`,
    head: 12,
    isDirectory: true,
    async write(path, samples) {
      const [, dir, chunk] = /^(.*)\/meta_(\d)/.exec(path)!;
      const jpeg = await (await imageCodec()).encode(testImage(8, 8, 1));
      const videos = samples.map((n) => ({ id: `${n}`, frames: [jpeg] }));
      writeChunk(dir!, Number(chunk), videos);
    },
    open: async (path, onWarning) =>
      new VideoNumbers(
        await GulpImageDataset.open(path, { label: null, onWarning }),
      ),
  },
  MDS: {
    name: (shard) => `${shard}.mds`,
    head: 12,
    keepsNumbers: true,
    async write(path, samples) {
      const made = samples.map((n) => Uint8Array.of(1, 0, 0, 0, n));
      const shard = shardOf(made, COLUMNS);
      await Deno.writeFile(path, shard);
      const [, dir, name] = /^(.*)\/(.*)$/.exec(path)!;
      const index = `${dir}/index.json`;
      const { shards } = fs.existsSync(index)
        ? JSON.parse(fs.readFileSync(index, "utf8"))
        : { shards: [] };
      shards.push(entryOf(name!, shard.length, samples.length, COLUMNS));
      fs.writeFileSync(index, JSON.stringify({ shards, version: 2 }));
    },
    open: (path, onWarning) =>
      MDSDataset.open(path, {
        onWarning,
        process: (samples) => samples.map(({ data }) => data as Uint8Array),
      }),
  },
  Parquet: {
    name: (shard) => `${shard}.parquet`,
    head: Infinity, // its end says how much there is
    write: (path, samples) => Deno.writeFile(path, parquetBytes(samples)),
    open: (path, onWarning) =>
      ParquetDataset.open(path, {
        onWarning,
        process: (rows) => rows.map(({ data }) => data as Uint8Array),
      }),
  },
  TFRecord: {
    name: (shard) => `${shard}.tfrecord`,
    head: 12,
    async write(path, samples) {
      await using writer = await TFRecordWriter.open(path);
      for (const sample of samples) await writer.write(Uint8Array.of(sample));
      await writer.close();
    },
    open: (path, onWarning) =>
      openDataset(path, { onWarning, process: processContents }),
  },
  // Behind one header that is damaged, the next is found.
  tar: {
    name: (shard) => `${shard}.tar`,
    head: Infinity,
    async write(path, samples) {
      const members = samples.map((n) => ({
        name: `${n}.bin`,
        data: Uint8Array.of(n),
      }));
      await Deno.writeFile(path, tarBytes(members));
    },
    open: (path, onWarning) =>
      WebDataset.open(path, {
        onWarning,
        process: (samples) => samples.map(({ bin }) => bin as Uint8Array),
      }),
  },
  ...Object.fromEntries(([1, 2, 3] as const).map((generation) => [
    `Bags, generation ${generation}`,
    {
      name: (shard: number) => `00000${shard}`,
      file: "/spec.json",
      head: 12,
      write(path: string, samples: readonly number[]) {
        const datapoints = samples.map((n) => ({ n: Uint8Array.of(n) }));
        writeDataset(path, { n: "bytes" }, datapoints, generation);
        return Promise.resolve();
      },
      open: (path: string, onWarning: (message: string) => void) =>
        BagDataset.open<Uint8Array>(path, {
          onWarning,
          process: (datapoints) => datapoints.map(({ n }) => n as Uint8Array),
        }),
    },
  ])),
};

/** Three shards of three samples each: 0 to 8. */
const SHARDS = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];

/** Writes the shards, and damages one at its start. */
async function writeShards(
  dir: string,
  format: ShardedFormat,
  damaged?: number,
): Promise<void> {
  for (const [i, samples] of SHARDS.entries()) {
    const path = `${dir}/${format.name(i)}`;
    await format.write(path, samples);
    if (i === damaged) damage(path, format);
  }
}

function damage(shard: string, { file = "", head }: ShardedFormat): void {
  const path = shard + file;
  const bytes = fs.readFileSync(path);
  bytes.fill(0xfe, 0, Math.min(head, bytes.length));
  fs.writeFileSync(path, bytes);
}

async function samplesOf(
  dataset: Dataset<Uint8Array>,
  indices = Array.from({ length: dataset.length }, (_, i) => i),
): Promise<number[]> {
  return (await dataset.get(indices)).map(([byte]) => byte!);
}

/** Fails unless samples have their numbers, but for those of a damaged file, which are errors. */
async function assertNumbered(
  dataset: Dataset<Uint8Array>,
  damaged: number,
  path: string,
): Promise<void> {
  const sound = SHARDS.filter((_, i) => i !== damaged).flat();
  assert.deepEqual(await samplesOf(dataset, sound), sound);
  for (const sample of SHARDS[damaged]!) {
    await assert.rejects(async () => await dataset.get([sample]), (error) => {
      assert.ok(error instanceof FormatError);
      assert.deepEqual([error.path, error.sample], [path, sample]);
      return true;
    });
  }
}

for (const [name, format] of Object.entries(FORMATS)) {
  const { keepsNumbers = false } = format;

  Deno.test(`${name}: of several shards, one that is damaged is left out and said`, async () => {
    for (const damaged of [0, 1, 2]) {
      await withTempDir(async (dir) => {
        await writeShards(dir, format, damaged);
        const bad = `${dir}/${format.name(damaged)}`;
        const warnings: string[] = [];
        const onWarning = (message: string) => void warnings.push(message);
        using dataset = await format.open(dir, onWarning);
        if (keepsNumbers) await assertNumbered(dataset, damaged, bad);
        else {
          const sound = SHARDS.filter((_, i) => i !== damaged).flat();
          assert.deepEqual(await samplesOf(dataset), sound);
        }
        assert.deepEqual(
          dataset.shardLengths,
          [0, 1, 2].map((i) => i === damaged && !keepsNumbers ? 0 : 3),
        );
        assert.equal(warnings.length, 1);
        assert.ok(warnings[0]!.includes(bad), warnings[0]);
        assert.match(
          warnings[0]!,
          keepsNumbers
            ? /samples \d to \d cannot be read, and all others keep their numbers/
            : /left out, and samples of later ones have other numbers/,
        );

        warnings.length = 0;
        using container = await open(dir, { onWarning });
        assert.equal(warnings.length, 1);
        assert.deepEqual(
          container.info.unreadable?.map(({ archive }) => archive),
          [bad],
        );
        assert.equal(container.info.parts.length, keepsNumbers ? 3 : 2);

        const damages: FormatError[] = [];
        const report = await check(dir, {
          onDamage: (error) => damages.push(error),
        });
        assert.equal(report.damaged, 1);
        assert.equal(damages[0]!.path, bad + (format.file ?? ""));
      });
    }
  });

  Deno.test(`${name}: the only shard, or all, being damaged is an error`, async () => {
    await withTempDir(async (dir) => {
      await writeShards(dir, format);
      const paths = [0, 1, 2].map((i) => `${dir}/${format.name(i)}`);
      for (const path of paths) damage(path, format);
      const onWarning = assert.fail;
      for (const path of [dir, paths[1]!]) {
        if (path === dir || !format.isDirectory) {
          await assert.rejects(format.open(path, onWarning), FormatError);
        }
        await assert.rejects(open(path, { onWarning }), FormatError);
      }
    });
  });

  const which = keepsNumbers ? "holds whatever" : "is refused where other";
  Deno.test(`${name}: a loader's state ${which} shards are left out`, async () => {
    const states: string[] = [];
    const options = { batchSize: 2, shuffle: true };
    const each = async (damaged: number | undefined) => {
      await withTempDir(async (dir) => {
        await writeShards(dir, format, damaged);
        using dataset = await format.open(dir, () => {});
        await using loader = new DataLoader(dataset, options);
        loader.setStep(1);
        for (const [i, state] of states.entries()) {
          if (keepsNumbers) loader.load(JSON.parse(state));
          else {assert.throws(() => loader.load(JSON.parse(state)), {
              code: "bad-state",
            }, `${damaged}: ${i}`);}
        }
        const state = JSON.stringify(loader.save());
        loader.load(JSON.parse(state));
        states.push(state);
      });
    };
    for (const damaged of [undefined, 0, 1, 2]) await each(damaged);
  });
}
