/**
 * Mounts of compressed tars beside ratarmount's: the first open and the second, members in random order and in the
 * order of the archive, and what memory and disk they take. `compressed` has texts, `compressed_noise` contents that do
 * not compress.
 *
 *   deno run -A bench/formats/compressed.ts [--members N] [--size BYTES] [--random N] [--sequential N] [--rounds N]
 *       [--only KIND] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { Sfc32 } from "../../src/data/random/random.ts";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { familyMemory } from "../support/memory.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { randomBytes } from "../support/random_bytes.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternatePresent } from "../support/rounds.ts";
import { Workspace } from "../support/workspace.ts";
import { type Mounter, ratarmount, recordfsMount } from "./archive_mounts.ts";
import { writeTar } from "./write_tar.ts";

/** How an archive is compressed, by a command of `sh` from `$1` to `$2`. */
interface Kind {
  readonly name: string;
  readonly suffix: string;
  readonly command: string;
  /** How many times as many random members a second as ratarmount are promised. */
  readonly random: number;
}

const KINDS: readonly Kind[] = [
  { name: "gz", suffix: ".tar.gz", command: 'gzip -c "$1" > "$2"', random: 2 },
  {
    name: "zst, one frame",
    suffix: ".tar.zst",
    command: 'zstd -q -c "$1" > "$2"',
    random: 5,
  },
  {
    name: "zst, several frames",
    suffix: ".frames.tar.zst",
    command: 'split -b 4M --filter="zstd -q -c" "$1" > "$2"',
    random: 2,
  },
];

/** Bytes of memory, and share of what is decompressed that checkpoints take. */
const MOST_MEMORY = 300;
const MOST_DISK = 1;

/** What one mount took: seconds, members a second, and MB. */
interface Figures {
  readonly first: number;
  readonly again: number;
  readonly random: number;
  readonly sequential: number;
  readonly memory: number;
}

/** `compressed`: JSON. */
export const compressedBenchmark: Benchmark = {
  name: "compressed",
  run: (args) => run(args, "JSON", 60_000, jsonOf),
};

/** `compressed_noise`: bytes that do not compress. */
export const compressedNoiseBenchmark: Benchmark = {
  name: "compressed_noise",
  run: (args) => run(args, "noise", 100_000, noiseOf),
};

async function run(
  args: string[],
  what: string,
  size: number,
  contentOf: (i: number, size: number) => Uint8Array,
): Promise<Row[]> {
  const { numbers, only, dir } = parseOptions(
    args,
    {
      members: 10_000,
      size,
      random: 40,
      sequential: 1_000,
      rounds: 2,
    },
    [],
    true,
  );
  const { members } = numbers;
  const bytes = 3 * members * (numbers.size + 1024);
  await using workspace = await Workspace.create(dir, bytes);
  const tar = workspace.file("plain.tar");
  progress(`compressed: writing ${members} members`);
  writeTar(tar, members, (i) => contentOf(i, numbers.size), nameOf);
  const rows: Row[] = [];
  for (const kind of KINDS) {
    if (only !== undefined && only !== kind.name) continue;
    progress(`compressed: ${kind.command}`);
    const path = workspace.file(`a${kind.suffix}`);
    await new Deno.Command("sh", {
      args: ["-euc", kind.command, "sh", tar, path],
    }).output();
    rows.push(...await kindRows(workspace, path, kind, what, numbers));
    fs.rmSync(path);
  }
  return rows;
}

async function kindRows(
  workspace: Workspace,
  path: string,
  kind: Kind,
  what: string,
  numbers: Record<
    "members" | "random" | "rounds" | "sequential" | "size",
    number
  >,
): Promise<Row[]> {
  const { rounds, members, random, sequential, size } = numbers;
  const mountpoint = await Deno.makeTempDir({ dir: workspace.path });
  const mounters = (["first", "again"] as const).map((start) => [
    recordfsMount(workspace, path, start),
    ratarmount(path, 1, start),
  ]);
  const [firsts, agains] = mounters as [Mounter[], Mounter[]];
  let ownDisk = 0;
  const figures = await alternatePresent(firsts, rounds, async (one, round) => {
    progress(`compressed ${kind.name}: ${one.name}, round ${round + 1}`);
    const again = agains.find(({ name }) => name === one.name)!;
    const [firstMount, first] = await started(one, mountpoint);
    await firstMount.stop();
    if (one === firsts[0]) {
      ownDisk = bytesOf(workspace.file("index-cache/indexes"));
    }
    const [mounted, second] = await started(again, mountpoint);
    try {
      const figures: Figures = {
        first,
        again: second,
        random: readRate(mountpoint, randomOf(members, random, round), size),
        sequential: readRate(
          mountpoint,
          Array.from({ length: sequential }, (_, i) => i),
          size,
        ),
        memory: await familyMemory(mounted.pid) / 1e6,
      };
      return figures;
    } finally {
      await mounted.stop();
    }
  });
  const of = (key: keyof Figures) =>
    figures.map((rounds) => rounds?.map((figures) => figures[key]));
  const title = `${what}, ${kind.name}, ${members} × ${size} bytes`;
  const compared = (target: number | undefined): Compared[] =>
    firsts.map((one, i) =>
      i === 0 || target === undefined
        ? { name: one.name, missing: one.missing }
        : { ...one, target }
    );
  const rows = [
    ...rowsBesideFirst(
      `${title}: first open`,
      "s",
      compared(1),
      of("first"),
      "less",
    ),
    ...rowsBesideFirst(
      `${title}: second open`,
      "s",
      compared(undefined),
      of("again"),
      "less",
    ),
    ...rowsBesideFirst(
      `${title}: ${random} random members`,
      "members/s",
      compared(kind.random),
      of("random"),
    ),
    ...rowsBesideFirst(
      `${title}: the first ${sequential} members in order`,
      "members/s",
      compared(1),
      of("sequential"),
    ),
    ...rowsBesideFirst(
      `${title}: memory`,
      "MB",
      compared(undefined),
      of("memory"),
      "less",
    ),
  ];
  const share = 100 * ownDisk / (members * size);
  const memory = Math.max(...of("memory")[0]!);
  rows.push({
    measured: `${title}: most memory`,
    subject: firsts[0]!.name,
    value: memory,
    unit: "MB",
    target: { promise: `≤ ${MOST_MEMORY} MB`, met: memory <= MOST_MEMORY },
  }, {
    measured: `${title}: disk of the index`,
    subject: firsts[0]!.name,
    value: share,
    unit: "%",
    target: { promise: `≤ ${MOST_DISK} %`, met: share <= MOST_DISK },
  });
  return rows;
}

/** Starts a mount, and returns it with the seconds until its root is listed. */
async function started(
  { command, reset }: Mounter,
  mountpoint: string,
): Promise<[MountedServer, number]> {
  reset?.();
  const start = performance.now();
  const mounted = await MountedServer.start(
    [...command, mountpoint],
    mountpoint,
  );
  await Array.fromAsync(Deno.readDir(mountpoint));
  return [mounted, (performance.now() - start) / 1000];
}

/** Reads members, and returns how many a second. */
function readRate(
  mountpoint: string,
  members: readonly number[],
  size: number,
): number {
  const start = performance.now();
  for (const member of members) {
    const { length } = fs.readFileSync(`${mountpoint}/${nameOf(member)}`);
    if (length !== size) {
      throw new Error(`${nameOf(member)} has ${length} bytes`);
    }
  }
  return 1000 * members.length / (performance.now() - start);
}

/** Different members each time, in random order. */
function randomOf(members: number, count: number, seed: number): number[] {
  const random = new Sfc32(seed, 1, 2);
  return Array.from({ length: count }, () => random.next() % members);
}

function bytesOf(directory: string): number {
  return fs.readdirSync(directory)
    .reduce((sum, name) => sum + fs.statSync(`${directory}/${name}`).size, 0);
}

function nameOf(i: number): string {
  return `m${String(i).padStart(7, "0")}`;
}

/** Records of JSON, up to a length. */
function jsonOf(i: number, size: number): Uint8Array {
  const random = new Sfc32(i, 3, 4);
  let text = "";
  while (text.length < size) {
    text += `${
      JSON.stringify({
        id: random.next(),
        name: WORDS[random.next() % WORDS.length],
        score: random.next() / 2 ** 32,
        tags: [
          WORDS[random.next() % WORDS.length],
          WORDS[random.next() % WORDS.length],
        ],
      })
    }\n`;
  }
  return new TextEncoder().encode(text.slice(0, size));
}

const WORDS =
  "archive sample field shard loader batch index block cache frame member window"
    .split(" ");

let noise: Uint8Array | undefined;

function noiseOf(i: number, size: number): Uint8Array {
  noise ??= randomBytes(64 << 20);
  const start = (i * size) % (noise.length - size); // repeated behind every window
  return noise.subarray(start, start + size);
}

if (import.meta.main) {
  const isNoise = Deno.args[0] === "noise";
  if (isNoise) Deno.args.shift();
  await runAlone(isNoise ? compressedNoiseBenchmark : compressedBenchmark);
}
