/**
 * Writes datasets of generation 3, of large and of small values, compared with granular.
 *
 *   deno run -A bench/bags/bags_write.ts [--megabytes N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
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
import { Workspace } from "../support/workspace.ts";
import type { DatasetWriting } from "./write_bag_dataset.ts";

const PYTHON = here("../reference/bags_write.py");
const OURS = here("./write_bag_dataset.ts");

/** Promised speed relative to granular. */
const PROMISE = 2;
/** MB of large values a second that granular wrote on another machine; used if Python does not have it. */
const ELSEWHERE = 390;
/** Most memory growth in MB between a tenth of the datapoints and all of them. */
const CONSTANT = 16;

/** Sizes of a datapoint's values in bytes, and the share of `--megabytes` that is written. */
const LOADS = [
  { sizes: [8, 1_000, 100_000], share: 1, elsewhere: ELSEWHERE },
  { sizes: [8, 1_000], share: 0.1, elsewhere: undefined },
];

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
}

/** `bags_write`: MB written a second. */
export const bagsWriteBenchmark: Benchmark = {
  name: "bags_write",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, { megabytes: 1_000, rounds: 7 });
  await using workspace = await Workspace.create(
    dir,
    1.2e6 * numbers.megabytes,
  );
  const contenders = await contendersOf();
  const rows: Row[] = [];
  for (const { sizes, share, elsewhere } of LOADS) {
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const count = Math.ceil(numbers.megabytes * share * 1e6 / bytes);
    const writings = await alternate(
      contenders,
      numbers.rounds,
      async ({ name, command }) => {
        progress(`bags_write: ${count} × ${bytes} bytes, ${name}`);
        const path = workspace.file("dataset");
        const writing = await runJson<DatasetWriting>(
          [...command, path, String(count), ...sizes.map(String)],
        );
        await Deno.remove(path, { recursive: true });
        return writing;
      },
    );
    rows.push(...makeRows(`${count} × ${sizes.join(" + ")} bytes`, {
      contenders,
      writings,
      megabytes: count * bytes / 1e6,
      elsewhere,
    }));
  }
  return rows;
}

/** Returns two recordfs contenders, followed by granular if it is installed. */
async function contendersOf(): Promise<Contender[]> {
  const ours = (name: string) => ({
    name,
    command: [Deno.execPath(), "run", "-A", OURS, name],
  });
  const python = await findPythonBags(3);
  return [
    ours("appendSync"),
    ours("append"),
    ...python === undefined ? [] : [{
      name: python.title,
      command: [...python.command, PYTHON],
    }],
  ];
}

function makeRows(
  title: string,
  { contenders, writings, megabytes, elsewhere }: {
    contenders: readonly Contender[];
    writings: readonly (readonly DatasetWriting[])[];
    megabytes: number;
    elsewhere: number | undefined;
  },
): Row[] {
  const measured = `bags_write, ${title}`;
  const unit = "MB/s";
  const row = ({ name }: Contender, i: number): Rate => {
    const rounds = writings[i]!.map(({ seconds }) => megabytes / seconds);
    return { measured, subject: name, value: median(rounds), unit, rounds };
  };
  const rows = contenders.map(row);
  const python: Rate | undefined = rows[2] ??
    (elsewhere === undefined ? undefined : {
      measured,
      subject: "granular, in Python: measured elsewhere",
      value: elsewhere,
      unit,
    });
  return rows.slice(0, 2).flatMap((own, i) => [
    own,
    ...python === undefined ? [] : [besides(own, python)],
    memoryRow(`${measured}: memory that grew`, own.subject, writings[i]!),
  ]);
}

/** Row with a rate. */
type Rate = Row & { readonly value: number };

/** Returns the row of the peer that `own` is compared with. */
function besides(own: Rate, python: Rate): Row {
  const ratio = own.value / python.value;
  const target = { promise: `≥ ${PROMISE}×`, met: ratio >= PROMISE };
  return { ...python, ratio, target };
}

function memoryRow(
  measured: string,
  subject: string,
  writings: readonly DatasetWriting[],
): Row {
  const rounds = writings.map(({ memory: [early, late] }) =>
    (late - early) / 1e6
  );
  const value = median(rounds);
  const target = { promise: `< ${CONSTANT} MB`, met: value < CONSTANT };
  return { measured, subject, value, unit: "MB", rounds, target };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(bagsWriteBenchmark);
