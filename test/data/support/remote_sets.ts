/** Remote datasets of every format, with samples large enough for requests of their own. */
import * as fs from "node:fs";
import type { RemoteOptions } from "../../../src/io/remote/remote_options.ts";
import {
  BagDataset,
  type Dataset,
  FFRecordDataset,
  GulpImageDataset,
  GulpVideoDataset,
  PackedFolderDataset,
} from "../../../src/open/data/mod.ts";
import { DatasetWriter } from "../../../src/formats/bags/mod.ts";
import { packFolder } from "../../../src/formats/ffrecord/mod.ts";
import { GulpChunk } from "../../../src/formats/gulp/mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";

/** Dataset in a directory. */
export interface RemoteSet {
  /** Approximate bytes of a stored sample. */
  readonly bytes: number;
  open(url: string, remote: RemoteOptions): Promise<Dataset<unknown>>;
}

/** Number of samples of each set. */
export const COUNT = 40;
/**
 * Some samples in random order, no two of them neighbours: reading neighbours in sequence would count as a sequential
 * read.
 */
export const ORDER: readonly number[] = [
  22,
  38,
  4,
  12,
  30,
  0,
  16,
  8,
  26,
  34,
  2,
  20,
  36,
  10,
  28,
  6,
  14,
  32,
  18,
  24,
];
/** Bytes of a sample: more than the largest gap between two ranges that are merged into one request. */
const BYTES = 150_000;

const noise = (length: number, seed: number): Uint8Array<ArrayBuffer> => {
  let state = seed + 1;
  return new Uint8Array(length).map(() =>
    (state = Math.imul(state, 1664525) + 1013904223) >>> 24
  );
};

export const samples: readonly Uint8Array[] = Array.from(
  { length: COUNT },
  (_, i) => noise(BYTES, i),
);

/** Functions that write a set's files into an existing directory, by name. */
export const SETS: Readonly<
  Record<string, (www: string) => Promise<RemoteSet>>
> = {
  "samples of FFRecord files": (www) => {
    fs.writeFileSync(`${www}/0.ffr`, ffrBytes(samples.slice(0, 15)));
    fs.writeFileSync(`${www}/1.ffr`, ffrBytes(samples.slice(15)));
    return Promise.resolve({
      bytes: BYTES,
      open: (url, remote) => FFRecordDataset.open(url, { remote }),
    });
  },
  "files of a packed folder": async (www) => {
    const folder = `${www}-folder`;
    fs.mkdirSync(folder);
    for (const [i, bytes] of samples.entries()) {
      fs.writeFileSync(`${folder}/${String(i).padStart(3, "0")}`, bytes);
    }
    await packFolder(folder, `${www}/packed.ffr`);
    return {
      bytes: BYTES,
      open: (url, remote) =>
        PackedFolderDataset.open(`${url}/packed.ffr`, { remote }),
    };
  },
  "images of a gulp directory": async (www) => {
    return {
      bytes: await writeGulp(www, 1),
      open: (url, remote) =>
        GulpImageDataset.open(url, { remote, label: null }),
    };
  },
  "clips of a gulp directory": async (www) => {
    return {
      bytes: await writeGulp(www, 2),
      open: (url, remote) =>
        GulpVideoDataset.open(url, { remote, label: null, numFrames: 1 }),
    };
  },
  "datapoints of a dataset of Bags": async (www) => {
    const spec = { image: "bytes", name: "utf8" };
    await using writer = await DatasetWriter.open(`${www}/data`, spec, {
      generation: 2, // in this generation, references must be fetched first
    });
    for (const [i, image] of samples.entries()) {
      await writer.write({ image, name: `sample ${i}` });
    }
    await writer.close();
    return {
      bytes: BYTES,
      open: (url, remote) => BagDataset.open(`${url}/data`, { remote }),
    };
  },
};

/** @returns Size of a frame in bytes. */
async function writeGulp(www: string, frames: number): Promise<number> {
  const [height, width, channels] = [256, 256, 3] as const;
  using chunk = await GulpChunk.load(
    `${www}/data_0.gulp`,
    `${www}/meta_0.gmeta`,
  );
  await using _ = await chunk.open("wb");
  for (let i = 0; i < COUNT; i++) {
    const pictures = Array.from({ length: frames }, (_, frame) => ({
      data: noise(height * width * channels, i * frames + frame),
      height,
      width,
      channels,
    }));
    await chunk.append(`video ${i}`, {}, pictures);
  }
  await chunk.flush();
  return fs.statSync(`${www}/data_0.gulp`).size / COUNT / frames;
}
