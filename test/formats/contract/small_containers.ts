/** Content of the contract suite's small containers, and values that identify their samples. */
import * as fs from "node:fs";
import { imageCodec } from "../../../src/codecs/image/mod.ts";
import type { ShardCase } from "./format_case.ts";
import type { FileSample } from "../../../src/open/data/mod.ts";
import { writeChunk } from "../../support/gulp/make_gulp.ts";
import { testImage } from "../../support/images.ts";
import {
  entryOf,
  type MadeColumn,
  shardOf,
} from "../../support/mds/make_mds.ts";

export const text = (bytes: unknown): string =>
  new TextDecoder().decode(bytes as Uint8Array);
export const utf8 = (text: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(text);

/** Returns a writer of a container that is one file. */
export function oneFile(
  name: string,
  bytes: () => Uint8Array,
): (dir: string) => string {
  return (dir) => {
    fs.writeFileSync(`${dir}/${name}`, bytes());
    return name;
  };
}

export const TEXTS = ["the first", "2nd", "the third of them"];
export const RECORDS = TEXTS.map(utf8);
export const NUMBERED = {
  "000000": TEXTS[0],
  "000001": TEXTS[1],
  "000002": TEXTS[2],
};

/** Files of archives and packed folders, in a directory and in the root, sorted by name. */
export const FILES = {
  "a/b.txt": TEXTS[0]!,
  "a/c": TEXTS[1]!,
  "d.bin": TEXTS[2]!,
};

export const bytesOfFile = (sample: unknown): string =>
  text((sample as FileSample).content);

/** Values of the label of datapoints and samples. */
export const WORDS = ["cat", "dog", "cat"];

export const byWord = { key: "word", values: WORDS };

/** Columns of MDS shards. */
const COLUMNS: readonly MadeColumn[] = [["data", "bytes", null]];

/** Returns a function that returns a sample's field, which is one byte. */
export function byteOf(field: string): (sample: unknown) => number {
  return (sample) => (sample as Record<string, Uint8Array>)[field]![0]!;
}

/** Writes an MDS shard, and adds it to its index. */
export function writeMds(path: string, samples: readonly number[]): void {
  const shard = shardOf(
    samples.map((n) => Uint8Array.of(1, 0, 0, 0, n)),
    COLUMNS,
  );
  fs.writeFileSync(path, shard);
  const [, dir, name] = /^(.*)\/(.*)$/.exec(path)!;
  const index = `${dir}/index.json`;
  const { shards } = fs.existsSync(index)
    ? JSON.parse(fs.readFileSync(index, "utf8"))
    : { shards: [] };
  shards.push(entryOf(name!, shard.length, samples.length, COLUMNS));
  fs.writeFileSync(index, JSON.stringify({ shards, version: 2 }));
}

/** Writes a GulpIO chunk in which each sample is a video of one frame, identified by its id. */
export async function writeVideos(
  path: string,
  samples: readonly number[],
): Promise<void> {
  const [, dir, chunk] = /^(.*)\/meta_(\d)/.exec(path)!;
  const jpeg = await (await imageCodec()).encode(testImage(8, 8, 1));
  const videos = samples.map((n) => ({ id: `${n}`, frames: [jpeg] }));
  writeChunk(dir!, Number(chunk), videos);
}

/**
 * Describes shards that are one file each.
 *
 * @param head Bytes to damage, as {@linkcode ShardCase.head}.
 */
export function fileShards(
  ending: string,
  head: number,
  bytesOf: (samples: readonly number[]) => Uint8Array,
  byteOf: (sample: unknown) => number,
): ShardCase {
  return {
    name: (shard) => `${shard}.${ending}`,
    head,
    write: (path, samples) => fs.writeFileSync(path, bytesOf(samples)),
    byteOf,
  };
}

/** Writes three videos of two frames. */
export async function writeGulp(dir: string): Promise<string> {
  const codec = await imageCodec();
  const frames = await Promise.all(
    [8, 16, 24].map((size) => codec.encode(testImage(size, size), 90)),
  );
  writeChunk(
    `${dir}/gulp`,
    0,
    frames.map((frame, i) => ({
      id: `v${i}`,
      frames: [frame, frames[0]!],
      meta: { label: i, word: WORDS[i] },
    })),
  );
  return "gulp";
}

/** Names files by the start of their texts, so that different texts have different names. */
export function namedFiles(
  texts: readonly string[],
): { readonly name: string; readonly data: string }[] {
  return texts.map((data) => ({
    name: data.slice(0, data.indexOf(" ")),
    data,
  }));
}
