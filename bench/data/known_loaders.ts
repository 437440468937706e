/**
 * Loads images as training batches, compared with well-known loaders: torch's `DataLoader` with Pillow and with
 * torchvision's own decoder, MosaicML's Streaming, LitData and webdataset. All load the same JPEGs of 640 × 480
 * pixels from the page cache, shuffled, with the same number of workers, as batches of 32 × 3 × 224 × 224 floats.
 *
 *   deno run -A bench/data/known_loaders.ts [--images N] [--workers N] [--rounds N] [--dir FOLDER] [--json]
 *
 * Needs 500 MB of disk: each JPEG as a file, and in FFRecord, MDS, a tar and chunks of LitData.
 * `RECORDFS_BENCH_PEERS` names the Python of another environment with the peers, such as one with a newer torch.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { openDataset } from "../../mod.ts";
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import { MDSWriter } from "../../src/formats/mds/mod.ts";
import {
  DataLoader,
  type Dataset,
  FFRecordDataset,
} from "../../src/open/data/mod.ts";
import { PEERS_PYTHON } from "../../test/support/programs/programs.ts";
import { writeTar } from "../formats/write_tar.ts";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternatePresent, median } from "../support/rounds.ts";
import { run, runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { jpegRecords } from "./jpeg_records.ts";
import { passRates } from "./loader_passes.ts";

const CHAINS = new URL("./train_pictures.ts", import.meta.url);
const SCRIPT = fileURLToPath(
  new URL("../reference/known_loaders.py", import.meta.url),
);
const PYTHON = Deno.env.get("RECORDFS_BENCH_PEERS") ?? PEERS_PYTHON;

const BATCH = 32;
const SHAPE = [3, 224, 224];
const BYTES_OF_PICTURE = 3 * 224 * 224 * Float32Array.BYTES_PER_ELEMENT;
/** Counted passes of each contender a turn. */
const PASSES = 1;
/** Number of webdataset shards: more than workers, each of which reads some of them, as its documentation asks. */
const TARS = 8;
/** Most relative difference of two mean pixel values: resizing differs slightly. */
const TOLERANCE = 0.01;

/** `known_loaders`: images a second from loaders, decoded, resized and collated. */
export const knownLoadersBenchmark: Benchmark = {
  name: "known_loaders",
  run: measure,
};

/** Results of a turn; its first pass is not timed. */
interface Turn {
  /** Images a second of each counted pass. */
  readonly rates: readonly number[];
  /** Images and bytes of each pass. */
  readonly totals: readonly (readonly [number, number])[];
  /** Mean of all pixel values. */
  readonly mean: number;
  /** Versions of the Python packages used. */
  readonly versions?: string;
}

interface Contender extends Compared {
  turn(): Promise<Turn>;
}

/** One container of the same JPEGs, and its loaders: recordfs first. */
interface Section {
  readonly container: string;
  readonly contenders: readonly Contender[];
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    images: 768,
    workers: 2,
    rounds: 3,
  });
  const { images, workers, rounds } = numbers;
  await using workspace = await Workspace.create(dir, images * 1_000_000);
  const sections = await makeSections(workspace, images, workers);
  const all = sections.flatMap(({ contenders }) => contenders);
  const turns = await alternatePresent(all, rounds, async (one, round) => {
    progress(`known_loaders: round ${round + 1} of ${rounds}, ${one.name}`);
    return await one.turn();
  });
  checkTurns(images, all, turns);
  return sections.flatMap(({ container, contenders }) => {
    const of = contenders.map((one) => turns[all.indexOf(one)]);
    const rows = rowsBesideFirst(
      `${images} JPEGs of 640 × 480 to batches, ${workers} worker${
        workers > 1 ? "s" : ""
      }, ${container}`,
      "images/s",
      contenders,
      of.map((turns) => turns?.map(({ rates }) => median(rates))),
    );
    return rows.map((row, i) => {
      const note = of[i]?.[0]?.versions;
      return note === undefined ? row : { ...row, note };
    });
  });
}

async function makeSections(
  workspace: Workspace,
  images: number,
  workers: number,
): Promise<Section[]> {
  progress(`known_loaders: writing ${images} JPEGs, FFRecord, MDS, tars`);
  const records = await jpegRecords(workspace, images);
  const jpegs = Array.from(
    { length: images },
    (_, i) => workspace.file(`${String(i + 1).padStart(6, "0")}.jpg`),
  );
  const mds = workspace.file("mds");
  await writeMds(mds, jpegs);
  const tars = await writeTars(workspace, jpegs);
  const chunks = workspace.file("chunks-of-litdata");
  const peer = await peersIn(workspace, workers);
  const litdata = await peer("LitData", "litdata", chunks);
  if (litdata.missing === undefined) {
    progress("known_loaders: writing chunks of LitData");
    await run(inPython(workspace, "write", workspace.path, chunks));
  }
  const own = (name: string, open: () => Promise<Dataset<NdArray>>) => ({
    name,
    turn: () => ownTurn(open, workers),
  });
  return [{
    container: "each from what it stores",
    contenders: [
      own(
        "recordfs DataLoader, FFRecord",
        () =>
          FFRecordDataset.open<NdArray>(records, {
            process: { module: CHAINS, name: "center" },
          }),
      ),
      await peer("torch DataLoader, Pillow, files", "pillow", workspace.path),
      await peer(
        "torch DataLoader, torchvision's decoder, files",
        "torchvision",
        workspace.path,
      ),
      litdata,
    ],
  }, {
    container: "the same MDS",
    contenders: [
      own("recordfs DataLoader, MDS", () =>
        openDataset(mds, {
          decode: false,
          process: { module: CHAINS, name: "centerOfImage" },
        })),
      await peer("MosaicML Streaming", "streaming", mds),
    ],
  }, {
    container: "the same tars",
    contenders: [
      own("recordfs DataLoader, tars", () =>
        openDataset(tars, {
          decode: false,
          format: "webdataset",
          process: { module: CHAINS, name: "centerOfJpg" },
        })),
      await peer("webdataset", "webdataset", tars),
    ],
  }];
}

async function writeMds(
  directory: string,
  jpegs: readonly string[],
): Promise<void> {
  await using writer = await MDSWriter.open(directory, {
    columns: { image: "jpeg" },
  });
  for (const path of jpegs) {
    await writer.write({ image: await Deno.readFile(path) });
  }
  await writer.close();
}

/** @returns Pattern that matches all tars. */
async function writeTars(
  workspace: Workspace,
  jpegs: readonly string[],
): Promise<string> {
  const folder = workspace.file("tars");
  await Deno.mkdir(folder);
  for (let shard = 0; shard < TARS; shard++) {
    const its = jpegs.filter((_, i) => i % TARS === shard);
    writeTar(
      `${folder}/train-${String(shard).padStart(6, "0")}.tar`,
      its.length,
      (i) => Deno.readFileSync(its[i]!),
      (i) => its[i]!.slice(workspace.path.length + 1),
    );
  }
  return `${folder}/train-{000000..${String(TARS - 1).padStart(6, "0")}}.tar`;
}

/** Returns a command that runs {@linkcode SCRIPT}; its temporary files are removed with the workspace. */
function inPython(workspace: Workspace, ...args: string[]): string[] {
  return ["env", `TMPDIR=${workspace.path}`, PYTHON, SCRIPT, ...args];
}

/** Returns a function that makes Python contenders. */
function peersIn(workspace: Workspace, workers: number) {
  return async (
    name: string,
    peer: string,
    location: string,
  ): Promise<Contender> => {
    const numbers = [workers, PASSES].map(String);
    const absent = await runJson<string[]>(
      inPython(workspace, "missing", peer),
    );
    const missing = absent.length === 0
      ? undefined
      : `not measured: \`deno task setup:peers\` installs ${absent.join(", ")}`;
    return {
      name,
      missing,
      turn: () => runJson(inPython(workspace, peer, location, ...numbers)),
    };
  };
}

async function ownTurn(
  open: () => Promise<Dataset<NdArray>>,
  workers: number,
): Promise<Turn> {
  using dataset = await open();
  await using loader = new DataLoader(dataset, {
    batchSize: BATCH,
    shuffle: true,
    numWorkers: workers,
    persistentWorkers: true,
  });
  const totals: [number, number][] = [];
  let sum = 0;
  const rates = await passRates(PASSES, async () => {
    let [pictures, bytes] = [0, 0];
    for await (const { shape: [count, ...shape], data } of loader) {
      if (String(shape) !== String(SHAPE) || !(data instanceof Float32Array)) {
        throw new Error(`A batch has the shape ${[count, ...shape]}`);
      }
      pictures += count!;
      bytes += data.byteLength;
      if (totals.length === 0) { for (const value of data) sum += value; }
    }
    totals.push([pictures, bytes]);
    return pictures;
  });
  const [pictures] = totals[0]!;
  const mean = sum / (pictures * BYTES_OF_PICTURE / 4);
  return { rates, totals, mean };
}

/** Throws unless each contender delivered all images in every pass, with the same content. */
function checkTurns(
  images: number,
  contenders: readonly Contender[],
  turns: readonly (readonly Turn[] | undefined)[],
): void {
  const expected = turns[0]![0]!.mean;
  for (const [i, { name }] of contenders.entries()) {
    for (const { totals, mean } of turns[i] ?? []) {
      for (const [pictures, bytes] of totals) {
        if (pictures === images && bytes === images * BYTES_OF_PICTURE) {
          continue;
        }
        throw new Error(
          `${name} made ${pictures} pictures of ${images}, in ${bytes} bytes`,
        );
      }
      if (Math.abs(mean / expected - 1) <= TOLERANCE) continue;
      throw new Error(
        `${name} made other pictures: their mean value is ${mean}, not ${expected}`,
      );
    }
  }
}

if (import.meta.main) await runAlone(knownLoadersBenchmark);
