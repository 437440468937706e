/**
 * Reads MDS samples in sequence and in random order, by the reader in batches and as files of a mount, compared with
 * a loop that only reads the same bytes of the shards, one value at a time.
 *
 *   deno run -A bench/formats/mds.ts [--samples N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { openSamples } from "../../mod.ts";
import { MDSWriter } from "../../src/formats/mds/mod.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import { MountedServer } from "../support/mounted_server.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { Workspace } from "../support/workspace.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** Samples a batch. */
const BATCH = 64;
/** Step through the samples. It visits each once, as long as it has no factor in common with their number. */
const STEP = 7919;

/** `mds`: reading by the reader and through a mount. */
export const mdsBenchmark: Benchmark = { name: "mds", run };

/** Positions of the samples' values. */
interface Values {
  readonly directory: string;
  readonly samples: number;
  readonly size: number;
  readonly places: readonly { readonly fd: number; readonly offset: number }[];
}

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    samples: 10_000,
    size: 100_000,
    rounds: 5,
  });
  const { samples, size, rounds } = numbers;
  await using workspace = await Workspace.create(dir, 2 * samples * size);
  const values = await write(workspace, samples, size);
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);
  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  using reader = await openSamples(values.directory);
  const rows: Row[] = [];
  for (const isRandom of [false, true]) {
    const order = Array.from(
      { length: samples },
      (_, i) => isRandom ? i * STEP % samples : i,
    );
    const contenders = [
      {
        name: "openSamples().read, batches of 64",
        pass: () => byReader(reader, order),
      },
      {
        name: "recordfs mount, a file a value",
        async pass() {
          mounted = await MountedServer.start(
            [
              Deno.execPath(),
              "run",
              "-A",
              CLI,
              "mount",
              "-f",
              values.directory,
              mountpoint,
            ],
            mountpoint,
          );
          const ms = timed(() => byFiles(mountpoint, values, order));
          await mounted.stop();
          return ms;
        },
      },
      {
        name: "a loop of pread, into the same memory",
        pass: () => Promise.resolve(timed(() => bare(values, order))),
      },
    ];
    const taken = await alternate(contenders, rounds, ({ name, pass }) => {
      progress(`mds: ${isRandom ? "random" : "in order"}, ${name}`);
      return pass();
    });
    rows.push(
      ...rowsBesideFirst(
        `mds, reading ${samples} samples of ${size} bytes ${
          isRandom ? "in random order" : "in their order"
        }`,
        "MB/s",
        contenders,
        taken.map((times) => times.map((ms) => samples * size / ms / 1000)),
      ),
    );
  }
  for (const fd of new Set(values.places.map(({ fd }) => fd))) fs.closeSync(fd);
  return rows;
}

async function write(
  workspace: Workspace,
  samples: number,
  size: number,
): Promise<Values> {
  progress(`mds: writing ${samples} samples of ${size} bytes`);
  const directory = workspace.file("data");
  await using writer = await MDSWriter.open(directory, {
    columns: { raw: "bytes" },
  });
  const raw = crypto.getRandomValues(new Uint8Array(1 << 16));
  const value = new Uint8Array(size);
  for (let at = 0; at < size; at += raw.length) {
    value.set(raw.subarray(0, size - at), at);
  }
  for (let i = 0; i < samples; i++) {
    value[i % size]! ^= 1;
    await writer.write({ raw: value });
  }
  await writer.close();
  const places: Values["places"][number][] = [];
  for (const name of fs.readdirSync(directory).sort()) {
    if (!name.endsWith(".mds")) continue;
    const fd = fs.openSync(`${directory}/${name}`, "r");
    const count = new Uint32Array(1);
    fs.readSync(fd, count, 0, 4, 0);
    const starts = new Uint32Array(count[0]!);
    fs.readSync(fd, starts, 0, starts.byteLength, 4);
    for (const start of starts) places.push({ fd, offset: start + 4 });
  }
  return { directory, samples, size, places };
}

async function byReader(
  reader: Awaited<ReturnType<typeof openSamples>>,
  order: readonly number[],
): Promise<number> {
  const start = performance.now();
  for (let at = 0; at < order.length; at += BATCH) {
    await reader.read(order.slice(at, at + BATCH));
  }
  return performance.now() - start;
}

function byFiles(
  mountpoint: string,
  { size }: Values,
  order: readonly number[],
): void {
  const room = new Uint8Array(size);
  for (const i of order) {
    const name = String(i).padStart(6, "0");
    const fd = fs.openSync(`${mountpoint}/${name}/raw`, "r");
    const got = fs.readSync(fd, room, 0, size, 0);
    fs.closeSync(fd);
    if (got !== size) throw new Error(`${name} has ${got} bytes`);
  }
}

function bare({ places, size }: Values, order: readonly number[]): void {
  const room = new Uint8Array(size);
  for (const i of order) {
    const { fd, offset } = places[i]!;
    fs.readSync(fd, room, 0, size, offset);
  }
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

if (import.meta.main) await runAlone(mdsBenchmark);
