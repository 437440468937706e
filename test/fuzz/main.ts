// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * The fuzzer: damages the containers that the original Python libraries wrote, and checks that everything that reads
 * them fails in time, with an error of the project, and leaves the rest of the machine alone.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY } from "../support/paths.ts";
import { commandFor, orderFor } from "./findings.ts";
import { replay, runCases, type RunState } from "./run.ts";

const HELP = `Usage: deno task fuzz [options] [SECONDS] [SEED]

Damages containers and reads them in every way, for SECONDS (60 unless given).
The same SEED gives the same cases; it is told at the end.

Options:
  --cases N        so many cases, however long they take
  --seed N         the same as SEED
  --from N         begin with case N
  --workers N      processes that drive cases (2)
  --findings DIR   where findings are kept (fuzz-findings)
  --first          end at the first finding
  --replay WHAT    drive one case again: a directory of a finding, or SEED:CASE
  --with MODULE    workers load it first, such as one that plants a bug
  --patience N     seconds of processor time after which a case hangs (150)
  --help           print this

Exit codes: 0 nothing found, 1 something found, 2 the command line is wrong.`;

/** Ratio between the limits of elapsed time and processor time. */
const WAIT = 4;

const LARGEST_SEED = 2 ** 32;

Deno.exit(await main());

async function main(): Promise<number> {
  let options: ReturnType<typeof optionsOf>;
  try {
    options = optionsOf(Deno.args);
  } catch (error) {
    console.error(`fuzz: ${(error as Error).message.replaceAll("\n", " ")}`);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  return options.replay === undefined
    ? await run(options)
    : await again(options.replay, options);
}

function optionsOf(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      cases: { type: "string" },
      seed: { type: "string" },
      from: { type: "string" },
      workers: { type: "string" },
      findings: { type: "string" },
      first: { type: "boolean" },
      replay: { type: "string" },
      with: { type: "string", multiple: true },
      patience: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (positionals.length > 2) {
    throw new Error("SECONDS and SEED is all there is to give");
  }
  const [seconds, seed = values.seed] = positionals;
  const cases = values.cases && number("--cases", values.cases);
  const processor = number("--patience", values.patience ?? "150");
  return {
    help: values.help,
    first: values.first === true,
    replay: values.replay,
    seconds: seconds === undefined
      ? cases ? Infinity : 60
      : number("SECONDS", seconds),
    seed: seed === undefined
      ? Math.floor(Math.random() * LARGEST_SEED)
      : number("SEED", seed),
    cases: cases || Infinity,
    from: number("--from", values.from ?? "0"),
    workers: Math.max(1, number("--workers", values.workers ?? "2")),
    findings: resolve(values.findings ?? `${REPOSITORY}fuzz-findings`),
    modules: (values.with ?? []).map((path) => resolve(path)),
    patience: { processor, elapsed: WAIT * processor },
  };
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new Error(`${name} must be a whole number, it is ${text}`);
}

type Options = ReturnType<typeof optionsOf>;

async function run(options: Options): Promise<number> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  Deno.addSignalListener("SIGINT", stop);
  let told = 0;
  const state = await runCases({
    ...options,
    signal: stopped.signal,
    onCase(state) {
      if (options.first && state.findings.count > 0) stop();
      if (!Deno.stderr.isTerminal() || state.seconds - told < 0.2) return;
      told = state.seconds;
      progress(state);
    },
  });
  Deno.removeSignalListener("SIGINT", stop);
  if (Deno.stderr.isTerminal()) progress(undefined);
  summarize(state, options.seed);
  return state.findings.kinds.size === 0 ? 0 : 1;
}

function progress(state: RunState | undefined): void {
  const text = state === undefined
    ? ""
    : `${state.cases} cases, ${rate(state)}, ${state.findings.count} findings`;
  Deno.stderr.writeSync(new TextEncoder().encode(`\r\x1b[K${text}`));
}

function rate({ cases, seconds }: RunState): string {
  return `${(cases / seconds).toFixed(1)} a second`;
}

function summarize(state: RunState, seed: number): void {
  const { cases, seconds, findings, formats, drives } = state;
  console.log(
    `${cases} cases in ${seconds.toFixed(0)} s, ${rate(state)}; seed ${seed}`,
  );
  console.log(`  of ${counts(formats)}`);
  console.log(`  driven: ${counts(drives)}`);
  if (findings.kinds.size === 0) return console.log("Nothing was found.");
  console.log(`${findings.count} findings of ${findings.kinds.size} kinds:`);
  for (const { finding, count, directories } of findings.kinds.values()) {
    const { kind, step, text } = finding;
    console.log(`\n${count} × ${kind} in ${step}`);
    for (const line of text.split("\n").slice(0, 6)) {
      console.log(`  ${line.slice(0, 300)}`);
    }
    for (const directory of directories) {
      console.log(`  ${commandFor(directory)}`);
    }
  }
}

function counts(counted: ReadonlyMap<string, number>): string {
  return [...counted].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, count]) => `${name} ${count}`).join(", ");
}

async function again(
  what: string,
  { modules, patience }: Options,
): Promise<number> {
  const { findings, drives } = await replay(orderFor(what), modules, patience);
  console.log(`driven: ${drives.join(", ") || "until it died"}`);
  for (const { kind, step, text } of findings) {
    console.log(`\n${kind} in ${step}\n${text}`);
  }
  console.log(findings.length === 0 ? "Nothing was found." : "");
  return findings.length === 0 ? 0 : 1;
}
