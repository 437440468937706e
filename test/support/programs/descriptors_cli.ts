// deno-lint-ignore-file no-console -- a program of a test
/**
 * Loads tar shards in threads with few file descriptors. Arguments: DIRECTORY THREADS. Prints the result of each step
 * as a line of JSON.
 *
 * @module
 */
import * as fs from "node:fs";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";

const [dir, threads] = Deno.args;

/** Limits how many files this process may open. */
function limitTo(files: number): void {
  const args = ["--pid", String(Deno.pid), `--nofile=${files}:`];
  const { success } = new Deno.Command("prlimit", { args }).outputSync();
  if (!success) throw new Error(`prlimit ${args.join(" ")} failed`);
}

const openFiles = () => fs.readdirSync("/proc/self/fd").length;

/** Counts the threads of Deno's workers. Its other threads come and go. */
function workers(): number {
  const tasks = fs.readdirSync("/proc/self/task");
  return tasks.filter((task) => {
    try {
      const name = fs.readFileSync(`/proc/self/task/${task}/comm`, "utf8");
      return name.startsWith("worker-");
    } catch {
      return false; // the thread has ended
    }
  }).length;
}

/** Loads all samples. Returns their number, or the error. */
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
console.log(JSON.stringify(await load())); // loads this thread's modules and files, for the comparison below
const before = { files: openFiles(), workers: workers() };
console.log(JSON.stringify(await load()));
const after = { files: openFiles(), workers: workers() };
console.log(JSON.stringify({ before, after }));
