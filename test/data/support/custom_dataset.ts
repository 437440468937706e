/** User module: a class that extends a dataset, and functions that make samples. */
import type { Decoders } from "../../../src/formats/bags/mod.ts";
import { FFRecordReader } from "../../../src/formats/ffrecord/mod.ts";
import {
  FFRecordDataset,
  type FileSample,
  type GetOptions,
} from "../../../src/open/data/datasets.ts";

/** Sample with its index. */
export interface Numbered {
  readonly index: number;
  readonly text: string;
}

/** Like the class in ffrecord's README. */
export class CustomDataset extends FFRecordDataset<Numbered> {
  constructor(path: string) {
    super(FFRecordReader.openSync(path));
  }

  protected override process(
    indices: readonly number[],
    data: Uint8Array[],
  ): Numbered[] {
    return data.map((bytes, i) => ({
      index: indices[i]!,
      text: new TextDecoder("latin1").decode(bytes),
    }));
  }
}

export default function (options: { readonly path: string }): CustomDataset {
  return new CustomDataset(options.path);
}

/** Waits, then makes a dataset. */
export async function makeLater(path: string): Promise<CustomDataset> {
  await Promise.resolve();
  return new CustomDataset(path);
}

/** Throws an error with its options. */
export function fail(options: unknown): never {
  throw new Error(`no dataset of ${JSON.stringify(options)}`);
}

/** Returns a value that is not a dataset. */
export function makeNone(): { length: number } {
  return { length: 1 };
}

/** Describes what each sample of a batch was made from. */
export function summarise(
  samples: readonly Uint8Array[],
  indices: readonly number[],
  { seed = 0, epoch = 0 }: GetOptions,
): string[] {
  return samples.map((bytes, i) =>
    `${indices[i]}: ${bytes.length} ${seed}/${epoch}`
  );
}

/** {@linkcode summarise} for files. */
export async function nameFiles(
  files: readonly FileSample[],
  indices: readonly number[],
): Promise<string[]> {
  await Promise.resolve();
  return files.map(({ path, content }, i) =>
    `${indices[i]}: ${path} ${content.length}`
  );
}

/** Returns the keys of each datapoint. */
export function listKeys(datapoints: readonly object[]): string[] {
  return datapoints.map((datapoint) => Object.keys(datapoint).join(" "));
}

/** Decoders that turn values into their lengths. */
export const lengths: Decoders = {
  utf8: (bytes) => bytes.length,
  int: (bytes) => bytes.length,
  bytes: (bytes) => bytes.length,
};

/** Not a function. */
export const number = 7;
