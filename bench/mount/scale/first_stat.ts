import { fileURLToPath } from "node:url";
import { ownMemory } from "../../support/memory.ts";
import { unmountLazily } from "../../support/mounted_server.ts";
import { progress, type Row } from "../../support/report.ts";
import { alternate, median } from "../../support/rounds.ts";

const CLI = fileURLToPath(new URL("../../../cli.ts", import.meta.url));

const MOST_MILLISECONDS = 100;
const MOST_MEGABYTES = 300;

/** Longest time for a mount to respond, in ms. */
const PATIENCE = 20_000;

/** Files read before memory is measured. */
const READ = 1000;

/** Container to mount, and its mountpoint. */
export interface FirstStatOptions {
  readonly archive: string;
  /** Number and kind of items, such as `10000000 samples`. */
  readonly content: string;
  /** Number of valid indices. */
  readonly count: number;
  /** Returns the path of a file in the mount. */
  readonly pathOf: (index: number) => string;
  readonly mountpoint: string;
  /** Folder for the empty script, and for mount records. */
  readonly folder: string;
  readonly rounds: number;
}

interface Round {
  /** Time from the start of the command, in ms. */
  readonly firstStat: number;
  readonly command: number;
  readonly megabytes: number;
}

/** Measures the time from starting the command until a large mount responds to a stat of one of its files. */
export async function firstStatRows(
  options: FirstStatOptions,
): Promise<Row[]> {
  const { content, rounds, folder } = options;
  const empty = `${folder}/empty.ts`;
  await Deno.writeTextFile(empty, "");
  const title = `scale, first stat of a mount: ${content}`;
  const nothing = async (): Promise<Round> => {
    const start = performance.now();
    await spawn(["run", "-A", empty], folder).status;
    const taken = performance.now() - start;
    return { firstStat: taken, command: taken, megabytes: 0 };
  };
  const ways = [
    { name: "deno run of an empty script", measure: nothing },
    { name: "recordfs mount", measure: () => mountOnce(options, []) },
    { name: "recordfs mount -f", measure: () => mountOnce(options, ["-f"]) },
  ];
  await nothing(); // fills the code cache
  const measured = await alternate(ways, rounds, ({ name, measure }, round) => {
    progress(`scale: first stat, round ${round + 1} of ${rounds}, ${name}`);
    return measure();
  });
  const start = median(measured[0]!.map(({ firstStat }) => firstStat));
  const row = (subject: string, unit: string, rounds: number[]): Row => ({
    measured: title,
    subject,
    value: median(rounds),
    unit,
    rounds,
  });
  const rows = ways.map(({ name }, i) =>
    row(name, "ms", measured[i]!.map(({ firstStat }) => firstStat))
  );
  for (const [i, { name }] of ways.entries()) {
    if (i === 0) continue;
    const beyond = measured[i]!.map(({ firstStat }) => firstStat - start);
    const met = median(beyond) < MOST_MILLISECONDS;
    rows.push({
      ...row(`${name}, less the empty script`, "ms", beyond),
      target: { promise: `< ${MOST_MILLISECONDS} ms`, met },
    });
  }
  const background = measured[1]!;
  const returned = background.map(({ command }) => command);
  rows.push(
    row("recordfs mount, until it returns, all checked", "ms", returned),
  );
  const memory = background.map(({ megabytes }) => megabytes);
  rows.push({
    ...row("recordfs", "MB", memory),
    measured: `scale, memory after reading: ${content}`,
    target: {
      promise: `< ${MOST_MEGABYTES} MB`,
      met: Math.max(...memory) < MOST_MEGABYTES,
    },
  });
  return rows;
}

async function mountOnce(
  { archive, count, pathOf, mountpoint, folder }: FirstStatOptions,
  flags: readonly string[],
): Promise<Round> {
  const nameOf = (index: number) => `${mountpoint}/${pathOf(index)}`;
  const start = performance.now();
  const child = spawn(
    ["run", "-A", CLI, "mount", ...flags, archive, mountpoint],
    folder,
  );
  try {
    waitForSync(nameOf(count >>> 1));
    const firstStat = performance.now() - start;
    if (flags.length === 0) await child.status;
    const command = performance.now() - start;
    for (let i = 0; i < READ; i++) {
      await Deno.readFile(nameOf(Math.floor(count / READ * i)));
    }
    const pid = flags.length === 0
      ? await serverOf(mountpoint, folder)
      : child.pid;
    return { firstStat, command, megabytes: await ownMemory(pid) / 1e6 };
  } finally {
    await unmountLazily(mountpoint);
    await child.status;
  }
}

function spawn(args: string[], folder: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args,
    env: { XDG_RUNTIME_DIR: folder },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** Polls, sleeping in between: the processes being measured need the CPU. */
function waitForSync(path: string): void {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + PATIENCE;
  while (performance.now() < deadline) {
    try {
      Deno.statSync(path);
      return;
    } catch {
      Atomics.wait(sleep, 0, 0, 0.3);
    }
  }
  throw new Error(`${path} did not appear within ${PATIENCE / 1000} s`);
}

/** Returns the process that serves a mount, from its mount record; root's records have a fixed default location. */
async function serverOf(mountpoint: string, folder: string): Promise<number> {
  const state = Deno.uid() === 0 ? "/run/recordfs" : `${folder}/recordfs`;
  for await (const { name } of Deno.readDir(state)) {
    if (!name.endsWith(".json")) continue;
    const record = JSON.parse(await Deno.readTextFile(`${state}/${name}`));
    if (record.mountpoint === mountpoint) return record.pid;
  }
  throw new Error(`There is no record of ${mountpoint} in ${state}`);
}
