/**
 * Opens a packed folder of 200,000 names, compared with Python's `pickle.loads` of the same names.
 *
 *   deno run -A bench/ffrecord/open_packed.ts [--dirs N] [--files N] [--rounds N] [--times N]
 *     [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { run, runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";

const SCRIPT = here("../reference/packed_folder.py");
const OURS = here("./open_packed_folder.ts");

/** Size of each packed file in bytes: only the names matter. */
const FILE_SIZE = 16;

/** Most bytes of disk a name takes: header entries, file and pickle entry. */
const BYTES_PER_NAME = 128;

/** `open_packed`: the first opening in a process, and the later ones. */
export const openPackedBenchmark: Benchmark = {
  name: "open_packed",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    dirs: 200,
    files: 1000,
    rounds: 7,
    times: 8,
  });
  const { dirs, files, rounds, times } = numbers;
  const names = dirs * files;
  await using workspace = await Workspace.create(dir, names * BYTES_PER_NAME);
  const path = workspace.file("names.ffr");
  progress(`open_packed: packing ${names} files`);
  const structure = await run(
    [PYTHON, SCRIPT, "structure", `${dirs}`, `${files}`],
  );
  const content = new Uint8Array(FILE_SIZE);
  await using writer = await FFRecordWriter.open(path, { count: names + 1 });
  for (let i = 0; i < names; i++) await writer.write(content);
  await writer.write(structure);
  await writer.close();

  const contenders = [
    {
      name: "PackedFolder.open",
      command: [Deno.execPath(), "run", "-A", OURS, path, `${times}`],
    },
    {
      name: "Python, read + pickle.loads",
      command: [PYTHON, SCRIPT, "open", path, `${times}`],
    },
  ];
  const taken = await alternate(contenders, rounds, ({ name, command }) => {
    progress(`open_packed: ${name}`);
    return runJson<number[]>(command);
  });
  const rowsOf = (what: string, pick: (round: number[]) => number): Row[] => {
    const times = taken.map((rounds) => rounds.map(pick));
    const ratio = median(times[1]!) / median(times[0]!);
    return contenders.map(({ name }, i) => ({
      measured: `open_packed, ${names} names: ${what}`,
      subject: name,
      value: median(times[i]!),
      unit: "ms",
      rounds: times[i]!,
      ...(i > 0 ? { ratio, target: { promise: "≥ 1×", met: ratio >= 1 } } : {}),
    }));
  };
  return [
    ...rowsOf("first in the process", (round) => round[0]!),
    ...rowsOf("later ones", (round) => median(round.slice(1))),
  ];
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(openPackedBenchmark);
