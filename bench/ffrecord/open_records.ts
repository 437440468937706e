/**
 * Opens a record file of 10,000,000 samples and measures time and memory.
 *
 *   deno run -A bench/ffrecord/open_records.ts [--samples N] [--rounds N] [--times N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import type { RecordFileOpening } from "./open_record_file.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { median } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const OURS = fileURLToPath(
  new URL("./open_record_file.ts", import.meta.url),
);

const SAMPLE_SIZE = 8;

/** Header bytes a sample. */
const HEADER_BYTES = 12;

/** `open_records`: time and memory of opening a file of many samples. */
export const openRecordsBenchmark: Benchmark = {
  name: "open_records",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    samples: 10_000_000,
    rounds: 5,
    times: 4,
  });
  const { samples, rounds, times } = numbers;
  await using workspace = await Workspace.create(
    dir,
    samples * (SAMPLE_SIZE + HEADER_BYTES),
  );
  const path = workspace.file("samples.ffr");
  progress(`open_records: writing ${samples} samples`);
  await using writer = await FFRecordWriter.open(path, { count: samples });
  for (let i = 0; i < samples; i++) {
    await writer.write(BigInt64Array.of(BigInt(i)));
  }
  await writer.close();

  const openings: RecordFileOpening[] = [];
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`open_records: round ${round + 1} of ${rounds}`);
    openings.push(
      await runJson<RecordFileOpening>([
        ...[Deno.execPath(), "run", "-A", "--v8-flags=--expose-gc"],
        ...[OURS, path, `${times}`],
      ]),
    );
    floor.push(await timeHeader(path, 4 + 8 + HEADER_BYTES * samples));
  }
  const later = openings.map(({ taken }) => median(taken.slice(1)));
  const heap = openings.map((opening) => opening.heap / samples);
  const row = (what: string, unit: string, figures: number[]): Row => ({
    measured: `open_records, ${samples} samples: ${what}`,
    subject: "FFRecordReader.open",
    value: median(figures),
    unit,
    rounds: figures,
  });
  return [
    row("first in the process", "ms", openings.map(({ taken }) => taken[0]!)),
    row("later ones", "ms", later),
    {
      ...row("later ones", "ms", floor),
      subject: "read the header, check its CRC",
      ratio: median(floor) / median(later),
    },
    {
      ...row("V8 heap", "bytes/sample", heap),
      target: { promise: "< 1 byte", met: median(heap) < 1 },
    },
    row(
      "RssAnon",
      "bytes/sample",
      openings.map(({ anonymous }) => anonymous / samples),
    ),
  ];
}

/** Reads the header and does nothing else: the lower limit of any reader. */
async function timeHeader(path: string, size: number): Promise<number> {
  const start = performance.now();
  await using file = await open(path);
  const header = new Uint8Array(size);
  let have = 0;
  while (have < size) {
    const { bytesRead } = await file.read(header, have, size - have, have);
    if (bytesRead === 0) throw new Error(`${path} ends early`);
    have += bytesRead;
  }
  const recorded = new DataView(header.buffer).getUint32(0, true);
  if (crc32(header.subarray(4)) !== recorded) {
    throw new Error(`${path} was not written as it should be`);
  }
  return performance.now() - start;
}

if (import.meta.main) await runAlone(openRecordsBenchmark);
