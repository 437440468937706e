import { parseArgs } from "node:util";

/** Figure of one subject in one measurement. */
export interface Row {
  /** Label of the measurement, equal in all rows of a comparison. */
  readonly measured: string;
  /** Name of the contender. */
  readonly subject: string;
  /** Median over the rounds; `null` if it could not be measured, with the reason in `note`. */
  readonly value: number | null;
  readonly unit: string;
  /** Figure of each round, if there were several. */
  readonly rounds?: readonly number[];
  /** How many times as good as this subject recordfs is: above 1, recordfs is better. */
  readonly ratio?: number;
  /** Promise for this row, and whether it was met. */
  readonly target?: { readonly promise: string; readonly met: boolean };
  /** Remark on this row. */
  readonly note?: string;
  /** Whether the figure is implausible and must be ignored; `note` has the reason. */
  readonly isVoid?: true;
}

/** Benchmark that `main.ts` runs by name. */
export interface Benchmark {
  readonly name: string;
  /** Measures. `args` are command-line options, as documented in its module. */
  run(args: string[]): Promise<Row[]>;
}

/** Writes a progress line, apart from the results on standard output. */
export function progress(line: string): void {
  writeAll(Deno.stderr, `${line}\n`);
}

/** Prints results as one line of JSON or as a table. Void ones make the program's exit code 1. */
export function printRows(rows: readonly Row[], json: boolean): void {
  writeAll(Deno.stdout, json ? `${JSON.stringify(rows)}\n` : table(rows));
  if (rows.some(({ isVoid }) => isVoid)) Deno.exitCode = 1;
}

/** Runs one benchmark as a program, with its own options and `--json`. */
export async function runAlone(benchmark: Benchmark): Promise<void> {
  const args = Deno.args.filter((arg) => arg !== "--json");
  printRows(await benchmark.run(args), args.length !== Deno.args.length);
}

/** Parsed options of a benchmark. */
export interface Options<N extends string> {
  /** Options that take a whole number of at least 1. */
  readonly numbers: Record<N, number>;
  /** Options without a value that were given. */
  readonly flags: ReadonlySet<string>;
  /** `--dir`, the parent folder of the data. */
  readonly dir: string | undefined;
  /** `--only`, which some benchmarks have. */
  readonly only: string | undefined;
}

/**
 * Parses a benchmark's options.
 *
 * @param numbers Options with a number, and their defaults.
 * @param flags Options without a value.
 * @param hasOnly Whether `--only` is allowed.
 */
export function parseOptions<N extends string>(
  args: string[],
  numbers: Record<N, number>,
  flags: readonly string[] = [],
  hasOnly = false,
): Options<N> {
  const names = Object.keys(numbers) as N[];
  const given: Record<string, unknown> = parseArgs({
    args,
    options: Object.fromEntries([
      ...["dir", ...(hasOnly ? ["only"] : []), ...names].map((
        name,
      ) => [name, { type: "string" as const }]),
      ...flags.map((name) => [name, { type: "boolean" as const }]),
    ]),
  }).values;
  const parsed = { ...numbers };
  for (const name of names) {
    if (given[name] === undefined) continue;
    parsed[name] = Number(given[name]);
    if (!Number.isSafeInteger(parsed[name]) || parsed[name] < 1) {
      throw new RangeError(
        `--${name} ${given[name]}: give a whole number from 1 on`,
      );
    }
  }
  return {
    numbers: parsed,
    flags: new Set(flags.filter((name) => given[name] === true)),
    dir: given.dir as string | undefined,
    only: given.only as string | undefined,
  };
}

/** Formats results as a table in Markdown. */
export function table(rows: readonly Row[]): string {
  const lines = [["measured", "subject", "median", "range", "ratio", "target"]];
  lines.push(lines[0]!.map((title) => "-".repeat(title.length)));
  for (const row of rows) {
    lines.push([
      row.measured,
      row.subject,
      row.value === null ? "" : `${format(row.value)} ${row.unit}`,
      row.rounds === undefined
        ? ""
        : `${format(Math.min(...row.rounds))}–${
          format(Math.max(...row.rounds))
        }`,
      row.ratio === undefined ? "" : `${row.ratio.toFixed(2)}×`,
      [
        ...(row.target === undefined
          ? []
          : [`${row.target.promise}: ${row.target.met ? "met" : "MISSED"}`]),
        ...(row.note === undefined ? [] : [row.note]),
      ].join("; "),
    ]);
  }
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length))
  );
  return lines.map((line) =>
    `| ${
      line.map((cell, column) =>
        cell.startsWith("---")
          ? "-".repeat(widths[column]!)
          : cell.padEnd(widths[column]!)
      ).join(" | ")
    } |\n`
  ).join("");
}

function format(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string) {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}
