/** Description of a format that the contract suite needs to run all its tests. */
import * as fs from "node:fs";
import type { Dataset } from "../../../src/data/dataset.ts";
import type { Process } from "../../../src/data/datasets/process.ts";
import type { WaitOptions } from "../../../src/io/storage/byte_source.ts";
import type { ContainerOptions } from "../../../src/open/mod.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

/** Number of samples in each small container. */
export const COUNT = 3;

/** Options common to all datasets. */
export interface DatasetOptions extends ContainerOptions, WaitOptions {
  // deno-lint-ignore no-explicit-any -- any type of sample
  readonly process?: Process<any, any> | undefined;
}

/** One format, or one kind of its containers. */
export interface FormatCase {
  /** Name of the format in `info`. */
  readonly name: string;
  /** Kind of container, if the format has several. */
  readonly kind?: string;
  /** Golden containers: files or directories. */
  readonly goldens: readonly Golden[];
  /**
   * Writes a small valid container of {@linkcode COUNT} samples into an empty directory.
   *
   * @returns Its name.
   */
  write(dir: string): Promise<string> | string;
  /** Files of the small container's tree, in walk order; `undefined` if their bytes depend on a codec. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** Opens the format's own dataset class. */
  openDataset(
    path: string,
    options: DatasetOptions,
  ): Promise<Dataset<unknown>>;
  /** Whether datasets have the option `process`; by default they do. */
  readonly takesProcess?: boolean;
  /** Values that identify the small container's samples, in order: texts, numbers, or objects of these. */
  readonly keys: readonly unknown[];
  /** Returns the value that identifies a sample. */
  keyOf(sample: unknown): unknown;
  /** Labels of the small container's samples, if they have any. */
  readonly labels?: { readonly key: string; readonly values: string[] };
  /** Whether checksums cover all contents, so that a changed byte is always detected. */
  readonly isSummed: boolean;
  /** Number of parts that `info` counts in the small container; by default {@linkcode COUNT}. */
  readonly parts?: number;
  /** Whether `info` counts a file, which it can't if only reading the sample reveals it; by default all. */
  isCounted?(path: string): boolean;
  /** Unit that a check counts if not samples: the parts counted by `info`. */
  readonly checkCounts?: "parts";
  /** Whether samples have an order of their own instead of walk order. */
  readonly isInOwnOrder?: boolean;
  /** Whether samples are nodes of the tree only in the sample view. */
  readonly areNoNodes?: boolean;
  /** Error codes caused by truncating the small container's files. */
  readonly cuts: readonly string[];
  /** Truncations that leave a valid container of fewer samples, and so can't be detected: file and length. */
  readonly soundCuts?: readonly string[];
  /** Large container, if indexes of the format are cached. */
  readonly indexed?: IndexedCase;
  /** Shards, if the format has them. */
  readonly shards?: ShardCase;
  /** Changed bytes of the small container, each of which a check reports as one damage. */
  readonly damages: readonly Damage[];
}

/** Container with enough entries for its index to be cached. */
export interface IndexedCase {
  /** File name. */
  readonly name: string;
  /** Makes the container from contents. */
  bytes(contents: readonly string[]): Uint8Array;
  /** Damages the data from which the index is built, so that some entries are lost. */
  ruin(bytes: Uint8Array): void;
}

/** How a format's shards are written and read. */
export interface ShardCase {
  /** Returns the name of a shard. */
  name(shard: number): string;
  /** Returns the name of the file that contains a shard's samples, if different. */
  data?(shard: number): string;
  /** File in a shard that describes its content, if shards are directories. */
  readonly file?: string;
  /** Bytes at the start that give the number or offsets of samples: if they are damaged, no sample is found. */
  readonly head: number;
  /** Whether only a directory of shards is opened as a dataset. */
  readonly isDirectory?: boolean;
  /** Whether another file has the number of samples of each shard, so that indices never shift. */
  readonly keepsNumbers?: boolean;
  /** Writes a shard of one-byte samples. */
  write(path: string, samples: readonly number[]): Promise<void> | void;
  /** Returns the byte of a sample. */
  byteOf(sample: unknown): number;
}

/** Golden container. */
export interface Golden {
  readonly path: string;
  /** Whether it is undamaged. */
  readonly isSound: boolean;
}

/** Byte of a container to change. */
export interface Damage {
  /** File, if the container is a directory. */
  readonly file?: string;
  /** Offset in it; from its end, if negative. */
  readonly at: number;
  /** Number of reported damages; by default 1. */
  readonly count?: number;
}

/** Returns the golden containers of a kind, or of all kinds. */
export function goldensIn(set: string, kind?: string): Golden[] {
  const root = `${REPOSITORY}test/golden/${set}`;
  return fs.readdirSync(root).sort().flatMap((name) => {
    const text = fs.readFileSync(`${root}/${name}/expect.json`, "utf8");
    const golden = JSON.parse(text) as {
      readonly target: string;
      readonly kind?: string;
      readonly valid?: boolean;
    };
    if (kind !== undefined && golden.kind !== kind) return [];
    const { target, valid = true } = golden;
    // It opens, but lacks records of the last datapoint.
    const isSound = valid && name !== "killed_writer";
    return [{ path: `${root}/${name}/${target}`, isSound }];
  });
}

/** Returns the files below a directory, sorted. */
export function filesBelow(dir: string): string[] {
  return (fs.readdirSync(dir, { recursive: true }) as string[]).sort()
    .map((name) => `${dir}/${name}`)
    .filter((path) => fs.statSync(path).isFile());
}

/** Runs `body` with a small container of a format on disk. */
export async function withSmall(
  format: FormatCase,
  body: (path: string, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in`);
    await body(`${dir}/in/${await format.write(`${dir}/in`)}`, dir);
  });
}

/** Three shards of three samples each: 0 to 8. */
export const SHARDS = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];

/** Writes the shards, and damages the start of one. */
export async function writeShards(
  dir: string,
  shards: ShardCase,
  damaged?: number,
): Promise<void> {
  for (const [i, samples] of SHARDS.entries()) {
    const path = `${dir}/${shards.name(i)}`;
    await shards.write(path, samples);
    if (i === damaged) damageShard(path, shards);
  }
}

/** Damages the start of a shard. */
export function damageShard(
  shard: string,
  { file = "", head }: ShardCase,
): void {
  const path = shard + file;
  const bytes = fs.readFileSync(path);
  bytes.fill(0xfe, 0, Math.min(head, bytes.length));
  fs.writeFileSync(path, bytes);
}

/** Runs `body` with a byte of a small container changed, and with the path of the damaged file. */
export async function withDamage(
  path: string,
  { file, at }: Damage,
  body: (damaged: string) => Promise<void>,
): Promise<void> {
  const damaged = file === undefined ? path : `${path}/${file}`;
  const whole = fs.readFileSync(damaged);
  const bytes = Uint8Array.from(whole);
  bytes[at < 0 ? bytes.length + at : at]! ^= 0x11;
  fs.writeFileSync(damaged, bytes);
  await body(damaged);
  fs.writeFileSync(damaged, whole);
}
