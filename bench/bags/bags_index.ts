/**
 * Opens a bag of 10,000,000 records and measures the time and the memory of its index.
 *
 *   deno run -A bench/bags/bags_index.ts [--records N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { BagWriter } from "../../src/formats/bags/mod.ts";
import type { BagOpening } from "./open_bag.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const OURS = fileURLToPath(new URL("./open_bag.ts", import.meta.url));

/** Bytes of a record and its index entry. */
const BYTES = 1 + 8;

/** Upper limit on index memory in bytes a record: 8, plus a tenth for rounding by the system. */
const CACHED = 8 * 1.1;

/** `bags_index`: time and memory of opening a bag of many records. */
export const bagsIndexBenchmark: Benchmark = {
  name: "bags_index",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    records: 10_000_000,
    rounds: 5,
  });
  const { records, rounds } = numbers;
  await using workspace = await Workspace.create(dir, records * BYTES);
  const path = workspace.file("records.bag");
  progress(`bags_index: writing ${records} records`);
  const record = Uint8Array.of(1);
  using writer = BagWriter.openSync(path);
  for (let i = 0; i < records; i++) writer.writeSync(record);
  writer.closeSync();

  const indexes = ["cached", "uncached"] as const;
  const openings = await alternate(indexes, rounds, (index) => {
    progress(`bags_index: ${index}`);
    return runJson<BagOpening>([
      ...[Deno.execPath(), "run", "-A", "--v8-flags=--expose-gc"],
      ...[OURS, path, index],
    ]);
  });
  return indexes.flatMap((index, i) => {
    const row = (
      what: string,
      unit: string,
      figure: (opening: BagOpening) => number,
      most = Infinity,
      promise?: string,
    ): Row => {
      const figures = openings[i]!.map(figure);
      const value = median(figures);
      return {
        measured: `bags_index, ${records} records, index ${index}: ${what}`,
        subject: "BagReader.open",
        value,
        unit,
        rounds: figures,
        ...promise === undefined
          ? {}
          : { target: { promise, met: value < most } },
      };
    };
    const unit = "bytes/record";
    const isCached = index === "cached";
    return [
      row("time", "ms", ({ taken }) => taken),
      row("V8 heap", unit, ({ heap }) => heap / records, 1, "< 1 byte"),
      row(
        "RssAnon",
        unit,
        ({ anonymous }) => anonymous / records,
        isCached ? CACHED : 1,
        isCached ? "8 bytes" : "< 1 byte",
      ),
    ];
  });
}

if (import.meta.main) await runAlone(bagsIndexBenchmark);
