/**
 * RecordIO, Bagz and LMDB: random records one by one, beside our bags and the Python packages; Bagz in batches; and LMDB
 * through a mount, beside an FFRecord folder of as many files of that size.
 *
 *   deno run -A bench/formats/records.ts [--records N] [--size BYTES] [--requests N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { PYTHON } from "../../test/support/programs/programs.ts";
import { buildPrograms } from "../mount/build.ts";
import { readPasses } from "../mount/reader.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { makePackedDirectorySync } from "../support/packed_directory.ts";
import { batchesOf } from "../support/random_order.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { run as runProgram, runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const CLI = here("../../cli.ts");
const OURS = [Deno.execPath(), "run", "-A", here("read_records.ts")];
const THEIRS = [PYTHON, here("../reference/records.py"), "read"];

/** Records of a batch. */
const BATCH = 64;

/** `records`: gets, batches and a mount of formats of records. */
export const recordsBenchmark: Benchmark = { name: "records", run };

interface Contender {
  readonly name: string;
  /** The program, and the way of it to read. */
  readonly command: readonly string[];
  /** With whom it is compared, and at least how many times as fast it is to be. */
  readonly beside?: string;
  readonly target?: number;
}

const BAGS = "Bags: getSync";

const ours = (
  name: string,
  way: string,
  beside: string,
  target?: number,
): Contender => ({
  ...{ name, command: [...OURS, way], beside },
  ...target === undefined ? {} : { target },
});

const GETS: readonly Contender[] = [
  { name: BAGS, command: [...OURS, "bags"] },
  ours("RecordIO: readSync", "recordio", BAGS, 0.8),
  ours("Bagz, not compressed: readSync", "bagz-plain", BAGS, 0.8),
  ours("Bagz, of random bytes: readSync", "bagz-random", BAGS, 0.8),
  // Decoding takes most of the time.
  ours("Bagz, compressed: readSync", "bagz", BAGS),
  ours("LMDB, by number: readSync", "lmdb", BAGS, 0.8),
  ours("LMDB, by path: readSync", "lmdb-paths", BAGS, 0.8),
  { name: "py-lmdb: get", command: [...THEIRS, "lmdb"] },
  { name: "bagz, of random bytes", command: [...THEIRS, "bagz-random"] },
  { name: "bagz, compressed", command: [...THEIRS, "bagz"] },
];

const RANDOM = "bagz, of random bytes: read_indices";
const COMPRESSED = "bagz, compressed: read_indices";

const BATCHES: readonly Contender[] = [
  { name: RANDOM, command: [...THEIRS, "bagz-random"] },
  ours("Bagz, of random bytes: readSync", "bagz-random", RANDOM, 3),
  { name: COMPRESSED, command: [...THEIRS, "bagz"] },
  ours("Bagz, compressed: readSync", "bagz", COMPRESSED, 3),
];

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    records: 20_000,
    size: 10_000,
    requests: 60_000,
    rounds: 5,
  });
  const { records, size, requests, rounds } = numbers;
  await using workspace = await Workspace.create(dir, 6 * records * size);
  const directory = workspace.path;
  progress(`records: writing ${records} records of ${size} bytes`);
  const script = THEIRS.slice(0, 2);
  await runProgram([...script, "write", directory, `${records}`, `${size}`]);
  const indices = workspace.file("indices.json");
  const order = Array.from(
    { length: Math.ceil(requests / records) },
    () => batchesOf(records, records)[0]!,
  ).flat().slice(0, requests);
  await Deno.writeTextFile(indices, JSON.stringify(order));
  const rates = (contenders: readonly Contender[], batch: number) =>
    alternate(contenders, rounds, async ({ name, command }) => {
      progress(`records: ${name}`);
      const { seconds, bytes } = await runJson<
        { seconds: number; bytes: number }
      >([...command, directory, indices, `${batch}`]);
      if (bytes === requests * size) return requests / seconds;
      throw new Error(`${name} read ${bytes} bytes`);
    });
  const what = `${requests} random records of ${size} bytes`;
  return [
    ...rowsOf(`records, ${what}`, GETS, await rates(GETS, 1), "records/s"),
    ...rowsOf(
      `records, ${what}, in batches of ${BATCH}`,
      ...[BATCHES, await rates(BATCHES, BATCH), "records/s"] as const,
    ),
    ...await mounts(workspace, records, size, rounds),
  ];
}

/** Reads all files of mounts in random order. */
async function mounts(
  workspace: Workspace,
  records: number,
  size: number,
  rounds: number,
): Promise<Row[]> {
  const { reader } = await buildPrograms(workspace.path);
  const { archive } = makePackedDirectorySync(
    ...[workspace.file("a.ffr"), records, size] as const,
  );
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);
  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  const ffrecord = "FFRecord, mounted";
  const contenders = [
    { name: ffrecord, command: [archive] },
    {
      name: "LMDB, mounted",
      command: [workspace.file("x.lmdb")],
      ...{ beside: ffrecord, target: 0.9 },
    },
  ];
  const rates = await alternate(contenders, rounds, async (contender) => {
    const { name, command: [source] } = contender;
    progress(`records: ${name}`);
    using file = await Deno.open(source!); // into memory
    for await (const _ of file.readable);
    mounted = await MountedServer.start(
      [Deno.execPath(), "run", "-A", CLI, "mount", "-f", source!, mountpoint],
      mountpoint,
    );
    const [pass] = await readPasses([reader, mountpoint], records * size);
    await mounted.stop();
    return pass!.filesPerSecond;
  });
  return rowsOf(
    `records, ${records} files of ${size} bytes of a fresh mount`,
    ...[contenders, rates, "files/s"] as const,
  );
}

/** Rows, each beside what it is compared with: the ratio is the median of those of the rounds. */
function rowsOf(
  measured: string,
  contenders: readonly Contender[],
  rates: readonly (readonly number[])[],
  unit: string,
): Row[] {
  return contenders.map(({ name, beside, target }, i): Row => {
    const rounds = rates[i]!;
    const row = {
      measured,
      subject: name,
      value: median(rounds),
      unit,
      rounds,
    };
    if (beside === undefined) return row;
    const other = rates[contenders.findIndex(({ name }) => name === beside)]!;
    const ratio = median(rounds.map((rate, k) => rate / other[k]!));
    const note = `beside ${beside}`;
    if (target === undefined) return { ...row, ratio, note };
    const promise = `≥ ${target}×`;
    return { ...row, ratio, note, target: { promise, met: ratio >= target } };
  });
}

if (import.meta.main) await runAlone(recordsBenchmark);
