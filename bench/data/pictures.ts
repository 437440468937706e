/**
 * Loads JPEGs as training batches, compared with the usual Python programs on the same files: Pillow and OpenCV in
 * processes, and torch's DataLoader with torchvision.
 *
 *   deno run -A bench/data/pictures.ts [--images N] [--large N] [--huge N] [--rounds N] [--only REGEX]
 *     [--dir FOLDER] [--json]
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import { DataLoader, FFRecordDataset } from "../../src/open/data/mod.ts";
import { countSamples, passRates } from "./loader_passes.ts";
import { jpegRecords } from "./jpeg_records.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { alternate, median } from "../support/rounds.ts";
import { PEERS_PYTHON } from "../../test/support/programs/programs.ts";
import { runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const PEERS = fileURLToPath(
  new URL("../reference/pictures.py", import.meta.url),
);
const CHAINS = new URL("./train_pictures.ts", import.meta.url);

/** `pictures`: images a second from a loader, decoded and transformed. */
export const picturesBenchmark: Benchmark = { name: "pictures", run: measure };

/** Transformations, and the promised speed relative to torch and to Pillow. */
const CHAIN_TARGETS = { center: [1.5, 1.3], random: [1.3, 1.3] } as const;
const LARGE_TARGETS = { center: [2, 2], random: [1.3, 1.3] } as const;

/** Most bytes a JPEG of that size takes, as a file and again as a record. */
const BYTES_A_PICTURE = {
  "640x480": 400_000,
  "1920x1080": 1_500_000,
  "3840x2160": 6_000_000,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir, only } = parseOptions(
    args,
    { images: 512, large: 128, huge: 64, rounds: 3 },
    [],
    true,
  );
  const wanted = new RegExp(only ?? "");
  const { images, large, huge, rounds } = numbers;
  const { name } = await imageCodec();
  progress(`pictures: the codec is ${name}`);
  const rows: Row[] = [];
  const sizes = [
    ["640x480", images, 2],
    ["1920x1080", large, 2],
    ["3840x2160", huge, 1],
  ] as const;
  for (const [size, count, times] of sizes) {
    const configurations = (["center", "random"] as const).flatMap((chain) =>
      [2, 1].map((workers) => ({
        chain,
        workers,
        measured: `${size} JPEGs, ${chain}, ${workers} workers`,
      }))
    ).filter(({ measured }) => wanted.test(measured));
    if (configurations.length === 0) continue;
    await using workspace = await Workspace.create(
      dir,
      count * BYTES_A_PICTURE[size],
    );
    progress(`pictures: making ${count} JPEGs of ${size}`);
    const path = await jpegRecords(workspace, count, size);
    for (const { chain, workers, measured } of configurations) {
      const targets = size === "640x480" ? CHAIN_TARGETS : LARGE_TARGETS;
      const files = { path, folder: workspace.path, times };
      const task = { ...files, chain, workers, rounds };
      rows.push(...await besidePeers(measured, task, targets[chain]));
    }
  }
  return rows;
}

interface Task {
  /** The images as records. */
  readonly path: string;
  /** The images as files. */
  readonly folder: string;
  /** Repetitions of each image in a pass. In a short pass, startup and drain dominate, while processors are idle. */
  readonly times: number;
  readonly chain: "center" | "random";
  readonly workers: number;
  readonly rounds: number;
}

/** Counted passes of each contender a turn. */
const PASSES = 2;

async function besidePeers(
  measured: string,
  task: Task,
  [overTorch, overPillow]: readonly [number, number],
): Promise<Row[]> {
  const { path, folder, times, chain, workers, rounds } = task;
  using dataset = await FFRecordDataset.open<NdArray>(path, {
    process: { module: CHAINS, name: chain },
  });
  await using loader = new DataLoader(dataset, {
    batchSize: 32,
    numWorkers: workers,
    persistentWorkers: true,
    sampler: Array.from(
      { length: dataset.length * times },
      (_, i) => i % dataset.length,
    ),
  });
  const ownPasses = () =>
    passRates(PASSES, () => countSamples(loader, ({ shape }) => shape[0]!));
  /** Busy processors in each round of recordfs. */
  const busy: number[] = [];
  const contenders: (Compared & { run(): Promise<number[]> })[] = [{
    name: "recordfs DataLoader",
    async run() {
      const before = process.cpuUsage();
      const start = performance.now();
      const rates = await ownPasses();
      const { user, system } = process.cpuUsage(before);
      busy.push((user + system) / 1000 / (performance.now() - start));
      return rates;
    },
  }];
  // With one worker, a thread is compared with each peer's single process.
  for (const peer of ["torch", "pillow", "opencv"]) {
    const target = { torch: overTorch, pillow: overPillow }[peer];
    const given = [
      peer,
      folder,
      chain,
      ...[times, workers, PASSES].map(String),
    ];
    contenders.push({
      name: peer === "torch" ? "torch DataLoader, torchvision" : peer,
      ...(target === undefined ? {} : { target }),
      run: () => runJson<number[]>([PEERS_PYTHON, PEERS, ...given]),
    });
  }
  await ownPasses(); // compiles the code
  progress(`${measured}: ${rounds} rounds`);
  const rates = await alternate(
    contenders,
    rounds,
    async (contender) => median(await contender.run()),
  );
  const [own, ...others] = rowsBesideFirst(
    measured,
    "images/s",
    contenders,
    rates,
  );
  const note = `${median(busy).toFixed(2)} processors busy`;
  return [{ ...own!, note }, ...others];
}

if (import.meta.main) await runAlone(picturesBenchmark);
