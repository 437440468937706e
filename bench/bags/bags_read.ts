/**
 * Reads random datapoints of datasets of every generation, compared with the Python package that writes that
 * generation: all keys, two small keys, and all keys with the index left on disk.
 *
 *   deno run -A bench/bags/bags_read.ts [--datapoints N] [--requests N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { DatasetWriter, type Generation } from "../../src/formats/bags/mod.ts";
import { findPythonBags } from "./python_bags.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { windowedBytes } from "../support/windows.ts";
import { Workspace } from "../support/workspace.ts";

const PYTHON = here("../reference/bags_read.py");
const OURS = here("./read_bag_dataset.ts");

/** Bytes of each key's value. */
const SIZES = { id: 8, label: 1_000, image: 100_000 };

/** What is read, and the promised ratios. */
interface Load {
  /** Mode that both programs are run with. */
  readonly way: "raw" | "mask" | "uncached";
  readonly title: string;
  /** Promised speed relative to the Python package. */
  readonly promise: number;
  /** Bytes of a datapoint. */
  readonly bytes: number;
  /** Multiplier of the number of datapoints, so that a fast load takes long enough to time. */
  readonly times: number;
  /** Datapoints a second according to granular's README; used if Python does not have the package. */
  readonly elsewhere: number;
}

const SMALL = SIZES.id + SIZES.label;
const ALL = SMALL + SIZES.image;

const LOADS: readonly Load[] = [
  {
    way: "raw",
    title: "all keys",
    promise: 1.5,
    bytes: ALL,
    times: 1,
    elsewhere: 25_000,
  },
  {
    way: "mask",
    title: "two small keys",
    promise: 2.5,
    bytes: SMALL,
    times: 10,
    elsewhere: 74_000,
  },
  {
    way: "uncached",
    title: "all keys, index uncached",
    promise: 2,
    bytes: ALL,
    times: 1,
    elsewhere: 19_500,
  },
];

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
}

/** `bags_read`: datapoints a second. */
export const bagsReadBenchmark: Benchmark = { name: "bags_read", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    datapoints: 5_000,
    requests: 20_000,
    rounds: 7,
  });
  const { datapoints, requests, rounds } = numbers;
  await using workspace = await Workspace.create(dir, 3 * datapoints * ALL);
  const rows: Row[] = [];
  for (const generation of [1, 2, 3] as const) {
    progress(`bags_read: writing ${datapoints} datapoints of ${generation}`);
    const path = workspace.file(`generation-${generation}`);
    writeDatasetSync(path, generation, datapoints);
    for (const load of LOADS) {
      const count = load.times * requests;
      const indices = workspace.file("indices.json");
      await Deno.writeTextFile(
        indices,
        JSON.stringify(randomIndices(count, datapoints)),
      );
      const contenders = await contendersOf(generation, load, path);
      const rates = await alternate(contenders, rounds, async (contender) => {
        progress(`bags_read: ${generation}, ${load.title}, ${contender.name}`);
        const { seconds, bytes } = await runJson<
          { seconds: number; bytes: number }
        >([...contender.command, indices]);
        if (bytes === count * load.bytes) return count / seconds;
        throw new Error(`${contender.name} read ${bytes} bytes`);
      });
      const measured = `bags_read, generation ${generation}: ${load.title}`;
      rows.push(...makeRows(measured, load, contenders, rates));
    }
  }
  return rows;
}

/** Number of recordfs contenders. */
const OWN_WAYS = 3;

/** Returns the recordfs contenders, followed by the Python package if it is installed. */
async function contendersOf(
  generation: Generation,
  { way }: Load,
  path: string,
): Promise<Contender[]> {
  const ours = (name: string, way: string) => ({
    name,
    command: [Deno.execPath(), "run", "-A", OURS, way, path],
  });
  const python = await findPythonBags(generation);
  return [
    ours("getSync", way),
    ours("getSync into RecordMemory", `${way}-memory`),
    ours("unsafeView, and CRC-32 of all bytes", `${way}-view`),
    ...python === undefined ? [] : [{
      name: python.title,
      command: [...python.command, PYTHON, python.name, way, path],
    }],
  ];
}

function makeRows(
  measured: string,
  { promise, elsewhere }: Load,
  contenders: readonly Contender[],
  rates: readonly number[][],
): Row[] {
  const unit = "datapoints/s";
  const python = contenders.length > OWN_WAYS
    ? {
      measured,
      subject: contenders[OWN_WAYS]!.name,
      value: median(rates[OWN_WAYS]!),
      unit,
      rounds: rates[OWN_WAYS]!,
    }
    : {
      measured,
      subject: "granular, in Python: measured elsewhere",
      value: elsewhere,
      unit,
    };
  return contenders.slice(0, OWN_WAYS).flatMap(({ name }, i): Row[] => {
    const value = median(rates[i]!);
    const ratio = value / python.value;
    const target = { promise: `≥ ${promise}×`, met: ratio >= promise };
    return [
      { measured, subject: name, value, unit, rounds: rates[i]! },
      { ...python, ratio, target },
    ];
  });
}

function writeDatasetSync(
  path: string,
  generation: Generation,
  datapoints: number,
): void {
  const block = windowedBytes(SIZES.image, datapoints);
  const spec = { id: "bytes", image: "bytes", label: "bytes" };
  const options = { encoders: null, generation };
  using writer = DatasetWriter.openSync(path, spec, options);
  for (let i = 0; i < datapoints; i++) {
    writer.writeSync({
      id: block.subarray(i, i + SIZES.id),
      image: block.subarray(i, i + SIZES.image),
      label: block.subarray(i, i + SIZES.label),
    });
  }
  writer.closeSync();
}

/** Returns seeded random indices, the same in each run. */
function randomIndices(count: number, below: number): number[] {
  let state = 0x2545f491;
  return Array.from({ length: count }, () => {
    state ^= state << 13; // xorshift32
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  });
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(bagsReadBenchmark);
