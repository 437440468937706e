/**
 * Compares batches through the loader with batched reads without it, JPEGs decoded by the loader's threads with
 * decoding one at a time, and the first batch after `setStep` early and late in a long epoch.
 *
 *   deno run -A bench/data/loader.ts [--samples N] [--size N] [--batch N] [--images N] [--passes N]
 *     [--dir FOLDER] [--json]
 *
 * @module
 */
import { FFRecordReader } from "../../src/formats/ffrecord/mod.ts";
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import { DataLoader, FFRecordDataset } from "../../src/open/data/mod.ts";
import decodeJpegs, { EDGE } from "./decode_jpegs.ts";
import { HEIGHT, jpegRecords, WIDTH } from "./jpeg_records.ts";
import { batchesOf } from "../support/random_order.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { countSamples, passRates } from "./loader_passes.ts";
import { alternate, median } from "../support/rounds.ts";
import { VirtualSamples } from "./virtual_samples.ts";
import { Workspace } from "../support/workspace.ts";
import { writeSamplesSync } from "../support/write_samples.ts";

/** Samples of 100 KB a second of ffrecord's own C++ reader on comparable hardware. */
const CPP_READER = 17_600;

/** `loader`: samples a second through the loader, and the cost of resuming. */
export const loaderBenchmark: Benchmark = { name: "loader", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    samples: 20_000,
    size: 100_000,
    batch: 64,
    images: 512,
    passes: 5,
  });
  const { samples, size, batch, images, passes } = numbers;
  const bytes = samples * size + images * 200_000;
  await using workspace = await Workspace.create(dir, bytes);
  progress(`loader: writing ${samples} samples of ${size} bytes`);
  const records = workspace.file("samples.ffr");
  writeSamplesSync(records, samples, size);
  const rows = await measureReading(records, { samples, size, batch, passes });
  progress(`loader: making ${images} JPEGs`);
  const jpegs = await jpegRecords(workspace, images);
  rows.push(...await measureDecoding(jpegs, images, passes));
  rows.push(...await measureResuming(passes));
  return rows;
}

/** Reader of all samples. */
interface Contender {
  readonly name: string;
  pass(): Promise<number>;
}

async function measureReading(
  path: string,
  { samples, size, batch, passes }: Record<
    "samples" | "size" | "batch" | "passes",
    number
  >,
): Promise<Row[]> {
  const what = `loader, checksummed: ${batch} × ${size} bytes`;
  const batches = batchesOf(samples, batch);
  using reader = await FFRecordReader.open(path);
  using dataset = await FFRecordDataset.open(path);
  await using stack = new AsyncDisposableStack();
  const contenders: Contender[] = [{
    name: "FFRecordReader.read",
    async pass() {
      let count = 0;
      for (const indices of batches) {
        count += (await reader.read(indices)).length;
      }
      return count;
    },
  }];
  for (const numWorkers of [0, 1, 2]) {
    for (const recycles of [false, true]) {
      const loader = stack.use(
        new DataLoader(dataset, {
          batchSize: batch,
          sampler: batches.flat(),
          numWorkers,
          persistentWorkers: numWorkers > 0,
        }),
      );
      const name = `DataLoader, ${numWorkers} workers${
        recycles ? ", recycle" : ""
      }`;
      contenders.push({
        name,
        pass: () => countSamples(loader, ({ length }) => length, recycles),
      });
    }
  }
  const rates = await ratesOf(contenders, passes, what);
  return contenders.flatMap(({ name }, i): Row[] => {
    const row: Row = {
      measured: what,
      subject: name,
      value: median(rates[i]!),
      unit: "samples/s",
      rounds: rates[i]!,
    };
    if (!name.includes("2 workers")) return [row];
    return [
      row,
      compared(what, "FFRecordReader.read", rates[i]!, rates[0]!, 0.9),
      compared(
        what,
        "ffrecord's reader in C++ (as given, not of this run)",
        rates[i]!,
        rates[i]!.map(() => CPP_READER),
        1.3,
      ),
    ];
  });
}

/** Compares `own` with another: the median of the ratios of successive rounds. */
function compared(
  measured: string,
  subject: string,
  own: readonly number[],
  other: readonly number[],
  least: number,
): Row {
  const ratio = median(own.map((rate, round) => rate / other[round]!));
  return {
    measured,
    subject,
    value: median(other),
    unit: "samples/s",
    ratio,
    target: { promise: `≥ ${least}×`, met: ratio >= least },
  };
}

/** Returns the samples a second of each contender's passes, without the first, which compiles the code. */
async function ratesOf(
  contenders: readonly Contender[],
  passes: number,
  what: string,
): Promise<number[][]> {
  const rate = async ({ pass }: Contender) => {
    const [rate] = await passRates(1, pass);
    return rate!;
  };
  await alternate(contenders, 1, rate);
  progress(`${what}: ${passes} passes`);
  return await alternate(contenders, passes, rate);
}

async function measureDecoding(
  path: string,
  images: number,
  passes: number,
): Promise<Row[]> {
  const what =
    `loader, JPEGs of ${WIDTH} × ${HEIGHT} to ${EDGE} × ${EDGE}, batches of 32`;
  using reader = await FFRecordReader.open(path);
  using dataset = await FFRecordDataset.open<NdArray>(path, {
    process: new URL("./decode_jpegs.ts", import.meta.url),
  });
  const options = { batchSize: 32, persistentWorkers: true };
  await using one = new DataLoader(dataset, { ...options, numWorkers: 1 });
  await using two = new DataLoader(dataset, { ...options, numWorkers: 2 });
  const contenders: Contender[] = [
    {
      name: "one decode in flight, no loader",
      async pass() {
        for (let i = 0; i < images; i++) {
          await decodeJpegs([await reader.readOne(i)], [i]);
        }
        return images;
      },
    },
    { name: "DataLoader, 1 workers", pass: () => countSamples(one, imagesIn) },
    { name: "DataLoader, 2 workers", pass: () => countSamples(two, imagesIn) },
  ];
  const rates = await ratesOf(contenders, passes, what);
  const rows = contenders.map(({ name }, i): Row => ({
    measured: what,
    subject: name,
    value: median(rates[i]!),
    unit: "images/s",
    rounds: rates[i]!,
  }));
  return [
    ...rows,
    {
      ...compared(what, contenders[0]!.name, rates[2]!, rates[0]!, 1.5),
      unit: "images/s",
    },
  ];
}

function imagesIn({ shape }: NdArray): number {
  return shape[0]!;
}

/** Resumptions measured a pass. */
const RESUMES = 200;

async function measureResuming(passes: number): Promise<Row[]> {
  const length = 1e9;
  const measured =
    `loader, from setStep to the first batch of 64: ${length} samples, shuffled`;
  const dataset = new VirtualSamples(length);
  const loader = new DataLoader(dataset, { batchSize: 64, shuffle: true });
  const steps = [1, 1_000_000];
  const times = await alternate(steps, 1 + passes, async (step) => {
    const start = performance.now();
    for (let i = 0; i < RESUMES; i++) {
      loader.setStep(step);
      for await (const _batch of loader) break;
    }
    return (performance.now() - start) / RESUMES * 1000;
  });
  const [early, late] = times.map((rounds) => rounds.slice(1)) as [
    number[],
    number[],
  ];
  const ratio = median(late.map((time, round) => early[round]! / time));
  return [
    {
      measured,
      subject: `step ${steps[0]}`,
      value: median(early),
      unit: "µs",
      rounds: early,
    },
    {
      measured,
      subject: `step ${steps[1]}`,
      value: median(late),
      unit: "µs",
      rounds: late,
      ratio,
      target: { promise: "≥ 0.8×", met: ratio >= 0.8 },
    },
  ];
}

if (import.meta.main) await runAlone(loaderBenchmark);
