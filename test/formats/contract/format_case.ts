/** What the contract suite has to know of a format, to run it through everything. */
import * as fs from "node:fs";
import type { Dataset } from "../../../src/data/dataset.ts";
import type { Process } from "../../../src/data/datasets/process.ts";
import type { WaitOptions } from "../../../src/io/storage/byte_source.ts";
import type { ContainerOptions } from "../../../src/open/mod.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

/** Samples of each small container. */
export const COUNT = 3;

/** Options of every dataset. */
export interface DatasetOptions extends ContainerOptions, WaitOptions {
  // deno-lint-ignore no-explicit-any -- of whatever samples the dataset has
  readonly process?: Process<any, any> | undefined;
}

/** One format, or one kind of its containers. */
export interface FormatCase {
  /** What `info` calls the format. */
  readonly name: string;
  /** Which of its containers, where the format has several kinds. */
  readonly kind?: string;
  /** Golden containers: files or directories. */
  readonly goldens: readonly Golden[];
  /**
   * Writes a small sound container of {@linkcode COUNT} samples into an empty directory.
   *
   * @returns Its name.
   */
  write(dir: string): Promise<string> | string;
  /** Files of the small container's tree, in the order of a walk; `undefined` where only a codec knows the bytes. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** Opens the dataset that is made for it. */
  openDataset(
    path: string,
    options: DatasetOptions,
  ): Promise<Dataset<unknown>>;
  /** Whether datasets have the option `process`; they have, unless given. */
  readonly takesProcess?: boolean;
  /** What tells the small container's samples from others, in their order: texts, numbers, or fields of such. */
  readonly keys: readonly unknown[];
  /** What tells a sample from others. */
  keyOf(sample: unknown): unknown;
  /** A label of the small container's samples, and what it says; left out where they have none. */
  readonly labels?: { readonly key: string; readonly values: string[] };
  /** Whether checksums cover all contents, so that none with a changed byte is read as if it were right. */
  readonly isSummed: boolean;
  /** What `info` counts in the small container's parts: {@linkcode COUNT} unless given. */
  readonly parts?: number;
  /** Whether `info` counts a file: it does not where only reading a sample tells. All, unless given. */
  isCounted?(path: string): boolean;
  /** What a check counts, where these are not the samples: what `info` counts in parts. */
  readonly checkCounts?: "parts";
  /** Whether samples stand in an order of their own, and not in that of a walk. */
  readonly isInOwnOrder?: boolean;
  /** Whether the tree shows the samples as nodes only in the sample view. */
  readonly areNoNodes?: boolean;
  /** Codes of the errors that cuts of the small container's files bring. */
  readonly cuts: readonly string[];
  /** Cuts that leave a sound container of fewer samples, so that nobody can tell: the file, and its length. */
  readonly soundCuts?: readonly string[];
  /** A large container, where the index of such is kept. */
  readonly indexed?: IndexedCase;
  /** Its shards, where samples lie in several. */
  readonly shards?: ShardCase;
  /** Bytes of the small container that are changed, each of which is one damage that a check tells. */
  readonly damages: readonly Damage[];
}

/** A container of so many entries that its index is kept. */
export interface IndexedCase {
  /** Name of its file. */
  readonly name: string;
  /** Makes it of contents. */
  bytes(contents: readonly string[]): Uint8Array;
  /** Ruins what its index is made of, so that not all entries are found. */
  ruin(bytes: Uint8Array): void;
}

/** How the shards of a format are written and read. */
export interface ShardCase {
  /** Name of a shard. */
  name(shard: number): string;
  /** Name of the file that samples of a shard are in, where that is another. */
  data?(shard: number): string;
  /** The file in a shard that says what is in it, where shards are directories. */
  readonly file?: string;
  /** Bytes from its start that are damaged so that no sample of a file is found: they say how much there is, or where. */
  readonly head: number;
  /** Whether only a directory of shards is opened as a dataset. */
  readonly isDirectory?: boolean;
  /** Whether another file says how many samples each has: then no sample gets another number. */
  readonly keepsNumbers?: boolean;
  /** Writes a shard of samples of one byte. */
  write(path: string, samples: readonly number[]): Promise<void> | void;
  /** The byte of a sample. */
  byteOf(sample: unknown): number;
}

/** A golden container. */
export interface Golden {
  readonly path: string;
  /** Whether nothing of it is damaged. */
  readonly isSound: boolean;
}

/** A byte of a container. */
export interface Damage {
  /** The file, where the container is a directory. */
  readonly file?: string;
  /** Byte in it; from its end, if negative. */
  readonly at: number;
  /** How many damages it is: 1 unless given. */
  readonly count?: number;
}

/** The golden containers of a kind, or of all kinds. */
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
    // It opens as far as it goes, and lacks records of the last datapoint.
    const isSound = valid && name !== "killed_writer";
    return [{ path: `${root}/${name}/${target}`, isSound }];
  });
}

/** The files below a directory, sorted. */
export function filesBelow(dir: string): string[] {
  return (fs.readdirSync(dir, { recursive: true }) as string[]).sort()
    .map((name) => `${dir}/${name}`)
    .filter((path) => fs.statSync(path).isFile());
}

/** Runs with a small container of a format on the disk. */
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

/** Writes the shards, and damages one at its start. */
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

/** Damages a shard at its start. */
export function damageShard(
  shard: string,
  { file = "", head }: ShardCase,
): void {
  const path = shard + file;
  const bytes = fs.readFileSync(path);
  bytes.fill(0xfe, 0, Math.min(head, bytes.length));
  fs.writeFileSync(path, bytes);
}

/** Runs with a byte of a small container changed, and told of its file. */
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
