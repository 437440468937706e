/** Runs the fuzzer: distributes cases to workers until the cases or the time run out. */
import { Findings } from "./findings.ts";
import type { CaseDone, CaseOrder } from "./messages.ts";
import { readOriginals } from "./originals.ts";
import { removeAll } from "./remove_all.ts";
import { type Patience, WorkerProcess } from "./worker_process.ts";

/** Options of a run. */
export interface RunOptions {
  readonly seed: number;
  /** Number of the first case. */
  readonly from: number;
  /** Maximum number of cases. */
  readonly cases: number;
  /** Maximum duration in seconds. */
  readonly seconds: number;
  readonly workers: number;
  /** Directory for findings. */
  readonly findings: string;
  /** Modules that workers load first. */
  readonly modules: readonly string[];
  readonly patience: Patience;
  /** Ends the run early. */
  readonly signal?: AbortSignal;
  /** Called after each case. */
  readonly onCase?: (state: RunState) => void;
}

/** Progress of a run. */
export interface RunState {
  readonly cases: number;
  readonly seconds: number;
  readonly findings: Findings;
  /** Number of cases by format, and by drive. */
  readonly formats: ReadonlyMap<string, number>;
  readonly drives: ReadonlyMap<string, number>;
}

/** Runs cases. The same seed gives the same cases, in whatever order workers finish them. */
export async function runCases(options: RunOptions): Promise<RunState> {
  const { seed, from, cases, seconds, modules, patience } = options;
  const begun = performance.now();
  const elapsed = () => (performance.now() - begun) / 1000;
  const findings = new Findings(options.findings, readOriginals());
  const formats = new Map<string, number>();
  const drives = new Map<string, number>();
  let next = from;
  let done = 0;
  const state = (): RunState => ({
    cases: done,
    seconds: elapsed(),
    findings,
    formats,
    drives,
  });
  const directory = await Deno.makeTempDir({ prefix: "recordfs-fuzz-" });
  let isOver = false;
  const work = async (name: number) => {
    const worker = new WorkerProcess(`${directory}/${name}`, modules, patience);
    try {
      while (!isOver && next < from + cases && elapsed() < seconds) {
        const result = await worker.run({ seed, number: next++ });
        count(result);
        options.onCase?.(state());
        isOver ||= options.signal?.aborted === true;
      }
    } finally {
      isOver ||= next < from + cases && elapsed() < seconds; // this worker has failed
      await worker.end();
    }
  };
  const count = (result: CaseDone) => {
    done++;
    add(formats, result.format === "" ? "(died)" : result.format);
    for (const drive of result.drives) add(drives, drive);
    findings.add(seed, result);
  };
  try {
    const names = Array.from({ length: options.workers }, (_, i) => i);
    const ends = await Promise.allSettled(names.map(work));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    removeAll(directory);
  }
  return state();
}

/** Runs one case again. */
export async function replay(
  order: CaseOrder,
  modules: readonly string[],
  patience: Patience,
): Promise<CaseDone> {
  const directory = await Deno.makeTempDir({ prefix: "recordfs-fuzz-" });
  const worker = new WorkerProcess(`${directory}/0`, modules, patience);
  try {
    const done = await worker.run(order);
    await worker.end();
    return done;
  } finally {
    removeAll(directory);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
