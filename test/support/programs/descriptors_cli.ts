// deno-lint-ignore-file no-console -- a program of a test
/**
 * Loads shards of tar by threads, where the process may open few files: DIRECTORY THREADS. Prints, as JSON in lines,
 * what came of each step.
 *
 * @module
 */
import * as fs from "node:fs";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";

const [dir, threads] = Deno.args;

/** Lets this process open so many files. */
function limitTo(files: number): void {
  const args = ["--pid", String(Deno.pid), `--nofile=${files}:`];
  const { success } = new Deno.Command("prlimit", { args }).outputSync();
  if (!success) throw new Error(`prlimit ${args.join(" ")} failed`);
}

const openFiles = () => fs.readdirSync("/proc/self/fd").length;

/** Threads of Deno's workers; it has others, which come and go. */
function workers(): number {
  const tasks = fs.readdirSync("/proc/self/task");
  return tasks.filter((task) => {
    try {
      const name = fs.readFileSync(`/proc/self/task/${task}/comm`, "utf8");
      return name.startsWith("worker-");
    } catch {
      return false; // it has ended
    }
  }).length;
}

/** Loads all samples; returns how many, or why not. */
async function load(): Promise<unknown> {
  try {
    using dataset = await openDataset(dir!, { format: "webdataset" });
    await using loader = new DataLoader(dataset, {
      batchSize: 8,
      shuffle: true,
      seed: 1,
      numWorkers: Number(threads),
    });
    let samples = 0;
    for await (const { txt } of loader) samples += (txt as unknown[]).length;
    return { samples };
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string };
    return { name, code, message };
  }
}

limitTo(128);
console.log(JSON.stringify(await load()));
limitTo(openFiles() + 40);
console.log(JSON.stringify(await load())); // modules and files of this thread are loaded once
const before = { files: openFiles(), workers: workers() };
console.log(JSON.stringify(await load()));
const after = { files: openFiles(), workers: workers() };
console.log(JSON.stringify({ before, after }));
