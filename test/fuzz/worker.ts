/**
 * Worker process: runs the cases that the parent sends to standard input, and prints the findings to standard output.
 * Records the current step in a file, in case the process dies.
 */
import process from "node:process";
import * as fs from "node:fs";
import { TextLineStream } from "./text_lines.ts";
import { Dice } from "./dice.ts";
import { DRIVES } from "./drives/mod.ts";
import { inspect, prepare, snapshot, within } from "./limits.ts";
import { driveDice, makeCase } from "./make_case.ts";
import type { CaseDone, CaseOrder, WorkerOptions } from "./messages.ts";
import { type Original, readOriginals } from "./originals.ts";
import { type Finding, type Mutated, Scene, textOf } from "./scene.ts";

const { stepFile, modules } = JSON.parse(Deno.args[0]!) as WorkerOptions;
const steps = fs.openSync(stepFile, "w+");
const directory = `${Deno.cwd()}/case`;
const originals = readOriginals();
let scene: Scene | undefined;

for (const module of modules) await import(module);
fs.rmSync(directory, { recursive: true, force: true });
await new Deno.Command("mkfifo", { args: ["fifo"] }).output();

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  scene?.report("uncaught", textOf(event.reason));
});
addEventListener("error", (event) => {
  event.preventDefault();
  scene?.report("uncaught", textOf(event.error));
});

/** Memory in bytes above which garbage is collected before a case, so that earlier cases are not counted against it. */
const MUCH = 1 << 30;

say({ ready: true });
try {
  const lines = Deno.stdin.readable.pipeThrough(new TextLineStream());
  for await (const line of lines) {
    say({ done: await run(JSON.parse(line) as CaseOrder) });
  }
} catch (error) {
  // An error of the fuzzer itself. The listeners above would report it as one of the product.
  Deno.stderr.writeSync(new TextEncoder().encode(textOf(error)));
  Deno.exit(1);
}

/** Sends a message to the parent. Console output of the product goes to standard error. */
function say(message: unknown): void {
  let rest = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

async function run(order: CaseOrder): Promise<CaseDone> {
  const { seed, number } = order;
  freeGarbage();
  prepare(directory);
  const { original, mutated } = write(order);
  const before = snapshot(directory);
  const bytes = fs.readdirSync(`${directory}/in`, { recursive: true })
    .reduce((sum, name) => sum + sizeOf(`${directory}/in/${name}`), 0);
  const chosen = driveDice(seed, number);
  const drives: string[] = [];
  const findings: Finding[] = [];
  for (const [i, drive] of DRIVES.entries()) {
    const isChosen = chosen.once(drive.every);
    if (!isChosen || drive.fits?.(original, mutated) === false) continue;
    const dice = new Dice(seed, number, 1000 + i);
    scene = new Scene(
      directory,
      original,
      mutated,
      dice,
      (step) => writeStep(`${number} ${step}`),
    );
    scene.begin(drive.name);
    try {
      await within(scene, drive, bytes);
    } catch (error) {
      scene.report("uncaught", textOf(error));
    }
    await new Promise((resolve) => setImmediate(resolve)); // lets unhandled rejections surface
    findings.push(...scene.findings);
    drives.push(drive.name);
  }
  scene = new Scene(directory, original, mutated, chosen, () => {});
  inspect(scene, before);
  findings.push(...scene.findings);
  return { number, format: original.format, drives, findings };
}

/** Collects the garbage of earlier cases if memory is high, since V8 may delay it. */
function freeGarbage(): void {
  if (process.memoryUsage.rss() < MUCH) return;
  (globalThis as { readonly gc?: () => void }).gc!();
}

/** Writes the container of a case. */
function write(
  order: CaseOrder,
): { original: Original; mutated: Mutated } {
  const into = `${directory}/in`;
  if (order.kept === undefined) {
    const { original, draft } = makeCase(originals, order.seed, order.number);
    draft.write(into);
    return { original, mutated: draft };
  }
  const { container, original: name, ...mutated } = order.kept;
  fs.cpSync(container, into, { recursive: true, verbatimSymlinks: true });
  const original = originals.find((one) => one.name === name);
  if (original === undefined) throw new Error(`There is no original ${name}`);
  return { original, mutated };
}

function sizeOf(path: string): number {
  const stat = fs.lstatSync(path);
  return stat.isFile() ? stat.size : 0;
}

function writeStep(step: string): void {
  const bytes = new TextEncoder().encode(step.slice(0, 120).padEnd(160));
  fs.writeSync(steps, bytes, 0, 128, 0);
}
