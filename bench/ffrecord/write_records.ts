/**
 * Writes record files of small and of large samples, compared with a bare loop that writes each sample and takes its
 * CRC.
 *
 *   deno run -A bench/ffrecord/write_records.ts [--megabytes N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { rowsBesideLast } from "./rows_beside.ts";
import { Workspace } from "../support/workspace.ts";

/** Sizes of the samples in bytes. */
const SIZES = [1_000, 100_000];

/** Writes `count` samples into a new file and flushes it to disk. */
type Write = (
  path: string,
  count: number,
  sample: (index: number) => Uint8Array,
) => Promise<void>;

/** The last contender is the reference. */
const CONTENDERS: readonly { name: string; write: Write }[] = [
  {
    name: "FFRecordWriter.writeSync, count known",
    // deno-lint-ignore require-await -- the other contenders are asynchronous
    async write(path, count, sample) {
      using writer = FFRecordWriter.openSync(path, { count });
      for (let i = 0; i < count; i++) writer.writeSync(sample(i));
      writer.closeSync();
    },
  },
  {
    name: "FFRecordWriter.write, count known",
    async write(path, count, sample) {
      await using writer = await FFRecordWriter.open(path, { count });
      for (let i = 0; i < count; i++) await writer.write(sample(i));
      await writer.close();
    },
  },
  {
    name: "FFRecordWriter.write, any count",
    async write(path, count, sample) {
      await using writer = await FFRecordWriter.open(path);
      for (let i = 0; i < count; i++) await writer.write(sample(i));
      await writer.close();
    },
  },
  {
    name: "loop of writeSync + crc32",
    // deno-lint-ignore require-await -- the other contenders are asynchronous
    async write(path, count, sample) {
      const fd = fs.openSync(path, "w");
      const checksums = new Uint32Array(count);
      for (let i = 0; i < count; i++) {
        const bytes = sample(i);
        checksums[i] = crc32(bytes);
        if (fs.writeSync(fd, bytes) !== bytes.length) throw new Error("Short");
      }
      fs.fsyncSync(fd);
      fs.closeSync(fd);
    },
  },
];

/** `write_records`: samples written a second. */
export const writeRecordsBenchmark: Benchmark = {
  name: "write_records",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, { megabytes: 500, rounds: 7 });
  const bytes = numbers.megabytes * 1e6;
  await using workspace = await Workspace.create(dir, 1.1 * bytes);
  const rows: Row[] = [];
  for (const size of SIZES) {
    const count = Math.ceil(bytes / size);
    // Each sample is a different window of one block that fits the CPU's cache.
    const block = new Uint8Array(size + 4096);
    crypto.getRandomValues(block.subarray(0, 4096));
    const sample = (index: number) =>
      block.subarray(index % 4096, index % 4096 + size);
    const rates = await alternate(
      CONTENDERS,
      numbers.rounds,
      async ({ name, write }) => {
        progress(`write_records: ${name}, ${size} bytes`);
        const path = workspace.file("samples.ffr");
        const start = performance.now();
        await write(path, count, sample);
        const seconds = (performance.now() - start) / 1000;
        fs.unlinkSync(path);
        return count / seconds;
      },
    );
    const title = `write_records, ${count} × ${size} bytes`;
    rows.push(...rowsBesideLast(title, "samples/s", CONTENDERS, rates));
  }
  return rows;
}

if (import.meta.main) await runAlone(writeRecordsBenchmark);
