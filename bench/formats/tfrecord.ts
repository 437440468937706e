/**
 * Reads TFRecord records in batches with checksums, as copies and as views, compared with a bare loop that takes the
 * checksums of the same records in memory, and with one that also reads each from the file; opens a file of 1,000,000
 * records, without and with a cached index.
 *
 *   deno run -A bench/formats/tfrecord.ts [--records N] [--size BYTES] [--many N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { openSamples } from "../../mod.ts";
import { TFRecordWriter } from "../../src/formats/tfrecord/mod.ts";
import { crc32cOf } from "../../src/io/checksums/crc32c.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { FRAME, HEADER } from "../../src/formats/tfrecord/layout.ts";
import { Workspace } from "../support/workspace.ts";

/** Records a batch. */
const BATCH = 64;
/** Bytes of a record where only the number of records matters. */
const SMALL = 100;
/** Upper limit of opening with a cached index, in milliseconds. */
const AGAIN = 300;

/** `tfrecord`: reading with checksums, opening. */
export const tfrecordBenchmark: Benchmark = { name: "tfrecord", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    records: 5000,
    size: 100_000,
    many: 1_000_000,
    rounds: 5,
  });
  const { records, size, many, rounds } = numbers;
  const bytes = records * (size + 16) + many * (SMALL + 16);
  await using workspace = await Workspace.create(dir, bytes);
  const reading = await measureReading(workspace, records, size, rounds);
  const opening = await measureOpening(workspace, many, rounds);
  return [...reading, ...opening];
}

async function write(path: string, count: number, size: number): Promise<void> {
  progress(`tfrecord: writing ${count} records of ${size} bytes`);
  await using writer = await TFRecordWriter.open(path, { sync: false });
  const record = new Uint8Array(size);
  for (let i = 0; i < count; i++) {
    record.fill(i);
    await writer.write(record.slice());
  }
  await writer.close();
}

async function measureReading(
  workspace: Workspace,
  records: number,
  size: number,
  rounds: number,
): Promise<Row[]> {
  const path = workspace.file("records.tfrecord");
  await write(path, records, size);
  using reader = await openSamples(path);
  const memory = await Deno.readFile(path);
  using file = await Deno.open(path);
  const room = new Uint8Array(size);
  const batches = Array.from(
    { length: Math.floor(records / BATCH) },
    (_, i) => Array.from({ length: BATCH }, (_, k) => i * BATCH + k),
  );
  const startOf = (record: number) => record * (size + FRAME) + HEADER;
  const bare = (pass: (record: number) => void) => {
    for (const batch of batches) for (const record of batch) pass(record);
    return Promise.resolve();
  };
  const contenders = [
    {
      name: "unsafeViews, batches of 64",
      async pass() {
        for (const batch of batches) await reader.unsafeViews(batch);
      },
    },
    {
      name: "a loop of the checksum alone, in memory",
      target: 0.5,
      pass: () =>
        bare((record) => {
          const start = startOf(record);
          crc32cOf(memory.subarray(start, start + size));
        }),
    },
    {
      name: "read, batches of 64",
      async pass() {
        for (const batch of batches) await reader.read(batch);
      },
    },
    {
      name: "a loop of reading and the checksum",
      pass: () =>
        bare((record) => {
          file.seekSync(startOf(record), Deno.SeekMode.Start);
          file.readSync(room);
          crc32cOf(room);
        }),
    },
  ];
  const taken = await alternate(contenders, rounds, async ({ name, pass }) => {
    progress(`tfrecord: ${name}`);
    const start = performance.now();
    await pass();
    return performance.now() - start;
  });
  const total = batches.length * BATCH * size / 1e6;
  return rowsBesideFirst(
    `tfrecord, reading ${records} records of ${size} bytes`,
    "MB/s",
    contenders,
    taken.map((times) => times.map((ms) => 1000 * total / ms)),
  );
}

async function measureOpening(
  workspace: Workspace,
  many: number,
  rounds: number,
): Promise<Row[]> {
  const path = workspace.file("many.tfrecord");
  await write(path, many, SMALL);
  const directory = workspace.file("cache");
  const open = async (cache: false | { directory: string }) => {
    const start = performance.now();
    using reader = await openSamples(path, { remote: { cache } });
    if (reader.length !== many) throw new Error(`${reader.length} records`);
    return performance.now() - start;
  };
  const [first, again]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) first.push(await open(false));
  await open({ directory }); // writes the index cache
  for (let round = 0; round < rounds; round++) {
    again.push(await open({ directory }));
  }
  return [
    {
      measured: `tfrecord, opening ${many} records`,
      subject: "openSamples",
      value: median(first),
      unit: "ms",
      rounds: first,
    },
    {
      measured: `tfrecord, opening ${many} records again`,
      subject: "openSamples, by its kept index",
      value: median(again),
      unit: "ms",
      rounds: again,
      target: { promise: `< ${AGAIN} ms`, met: median(again) < AGAIN },
    },
  ];
}

if (import.meta.main) await runAlone(tfrecordBenchmark);
