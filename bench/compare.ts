// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Compares two checkouts by the same benchmark, alternating: did a change make anything slower?
 *
 *   deno run -A bench/compare.ts OLD [--pairs 11] [--dir FOLDER] [--only REGEX] NAME [OPTIONS OF NAME…]
 *
 * `OLD` is the folder of the other checkout, `NAME` a program of `bench/`, such as `read_batches`; each checkout runs
 * its own. The order changes from pair to pair, so that neither always runs first. Next to the medians, the report
 * has the best run of each: on a machine that others use as well, it is the least disturbed one.
 *
 * @module
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { progress, type Row } from "./support/report.ts";
import { median } from "./support/rounds.ts";
import { runJson } from "./support/run.ts";

const NEW = fileURLToPath(new URL("..", import.meta.url));

const known = {
  pairs: { type: "string", default: "11" },
  dir: { type: "string" },
  only: { type: "string", default: "" },
} as const;
const { tokens } = parseArgs({
  options: known,
  allowPositionals: true,
  strict: false,
  tokens: true,
});
const [old, name] = tokens.filter(({ kind }) => kind === "positional");
if (old?.kind !== "positional" || name?.kind !== "positional") {
  console.error("Give the folder of the other checkout, and a benchmark");
  Deno.exit(2);
}
// Arguments after the benchmark's name belong to the benchmark.
const { values } = parseArgs({
  args: Deno.args.slice(0, name.index),
  options: known,
  allowPositionals: true,
});
const pairs = Number(values.pairs);
const only = new RegExp(values.only, "i");
const options = [
  ...Deno.args.slice(name.index + 1),
  ...(values.dir === undefined ? [] : ["--dir", values.dir]),
];

/** Returns the path of a benchmark's program in a checkout; its folder differs between checkouts. */
function programOf(checkout: string, name: string): string {
  const bench = join(checkout, "bench");
  const found = globSync([`${name}.ts`, `*/${name}.ts`], { cwd: bench });
  if (found.length === 1) return join(bench, found[0]!);
  throw new RangeError(`There is no benchmark '${name}' in ${bench}`);
}

/** Figures of a row in the runs of each checkout. */
interface Figures {
  readonly row: Row;
  readonly old: number[];
  readonly new: number[];
}

const figures = new Map<string, Figures>();
for (let pair = 0; pair < pairs; pair++) {
  const turn = pair % 2 === 0
    ? ["old", "new"] as const
    : ["new", "old"] as const;
  for (const side of turn) {
    progress(`${name.value}: pair ${pair + 1} of ${pairs}, ${side}`);
    const program = programOf(side === "old" ? old.value : NEW, name.value);
    const rows = await runJson<Row[]>(
      [Deno.execPath(), "run", "-A", program, "--json", ...options],
    );
    for (const row of rows) {
      if (row.value === null) continue;
      const key = `${row.measured}: ${row.subject}`;
      if (!only.test(key)) continue;
      const measured = figures.get(key) ?? { row, old: [], new: [] };
      figures.set(key, measured);
      measured[side].push(row.value);
    }
  }
}
for (const [key, { row: { unit }, ...runs }] of figures) {
  if (runs.old.length === 0 || runs.new.length === 0) {
    const side = runs.old.length === 0 ? "here" : "there";
    const value = median([...runs.old, ...runs.new]).toPrecision(4);
    console.log(`measured ${side} alone: ${key}  ${value} ${unit}`);
    continue;
  }
  const better = (now: number, before: number) =>
    unit.includes("/s") ? now / before : before / now;
  const ratios = runs.new.slice(0, runs.old.length)
    .map((value, pair) => better(value, runs.old[pair]!));
  const ratio = better(median(runs.new), median(runs.old));
  const best = unit.includes("/s") ? Math.max : Math.min;
  const bestRatio = better(best(...runs.new), best(...runs.old));
  const range = `${Math.min(...ratios).toFixed(2)}–${
    Math.max(...ratios).toFixed(2)
  }`;
  console.log(
    `${ratio.toFixed(3)}× (pairs: median ${
      median(ratios).toFixed(3)
    }, ${range}; best ${bestRatio.toFixed(3)})  ${key}  ` +
      `${median(runs.new).toPrecision(4)} ${unit}, before ${
        median(runs.old).toPrecision(4)
      }`,
  );
}
