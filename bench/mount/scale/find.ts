import { fileURLToPath } from "node:url";
import { ownMemory } from "../../support/memory.ts";
import { MountedServer } from "../../support/mounted_server.ts";
import type { PackedTree } from "../packed_tree.ts";
import { progress, type Row } from "../../support/report.ts";
import { alternate, median } from "../../support/rounds.ts";
import { run } from "../../support/run.ts";

const CLI = fileURLToPath(new URL("../../../cli.ts", import.meta.url));

/** Share of the C server's rate that recordfs promises. */
const TARGET = 0.9;

/** Files read before memory is measured. */
const READ = 1000;

const WALKS = [["-type", "f"], ["-size", "+0"]] as const;

/** Tree to walk, and its mountpoint. */
export interface FindOptions {
  readonly tree: PackedTree;
  readonly server: string;
  readonly mountpoint: string;
  readonly rounds: number;
  /** Memory limit of the mounted process, in MB. */
  readonly mostMegabytes?: number;
  /** Registers a mount to be stopped at the end. */
  readonly onMounted: (mounted: MountedServer) => void;
}

/** Result of one round. */
interface Round {
  readonly rates: readonly number[];
  readonly memory: number;
}

/** Walks a fresh mount with find(1): recordfs compared with the C server, both with the same names. */
export async function findRows(options: FindOptions): Promise<Row[]> {
  const { tree, server, rounds, mountpoint } = options;
  const ours = {
    name: "recordfs",
    command: [Deno.execPath(), "run", "-A", CLI, "mount", "-f", tree.archive],
  };
  const reference = (threads: number) => ({
    name: `C libfuse, ${threads} thread${threads > 1 ? "s" : ""}`,
    command: [server, "--threads", `${threads}`, tree.archive, tree.index],
  });
  const contenders = [ours, reference(1), reference(3)];
  const measured = await alternate(
    contenders,
    rounds,
    async ({ name, command }, round): Promise<Round> => {
      progress(`scale: find, round ${round + 1} of ${rounds}, ${name}`);
      const rates: number[] = [];
      let memory = 0;
      for (const walk of WALKS) {
        const mounted = await MountedServer.start(
          [...command, mountpoint],
          mountpoint,
        );
        options.onMounted(mounted);
        rates.push(await timeFind(tree, mountpoint, walk));
        await readSome(tree, mountpoint);
        memory = Math.max(memory, await ownMemory(mounted.pid));
        await mounted.stop();
      }
      return { rates, memory: memory / 1e6 };
    },
  );
  return makeRows(options, contenders.map(({ name }) => name), measured);
}

async function timeFind(
  { files }: PackedTree,
  mountpoint: string,
  test: readonly string[],
): Promise<number> {
  const start = performance.now();
  const count = await run([
    ...["sh", "-c", 'find "$@" | wc -l', "sh"],
    ...[mountpoint, "-type", "f", ...test],
  ]);
  const seconds = (performance.now() - start) / 1000;
  const found = Number(new TextDecoder().decode(count));
  if (found !== files) {
    throw new Error(`find saw ${found} files of ${files} in ${mountpoint}`);
  }
  return files / seconds;
}

async function readSome(tree: PackedTree, mountpoint: string): Promise<void> {
  for (let i = 0; i < READ; i++) {
    const file = Math.floor(tree.files / READ * i);
    await Deno.readFile(`${mountpoint}/${tree.path(file)}`);
  }
}

function makeRows(
  { tree, mostMegabytes }: FindOptions,
  names: readonly string[],
  measured: readonly (readonly Round[])[],
): Row[] {
  const { files, directories } = tree;
  const title = `${files} files in ${directories} director${
    directories > 1 ? "ies" : "y"
  }`;
  const rows: Row[] = [];
  for (const [w, walk] of WALKS.entries()) {
    const rates = measured.map((rounds) =>
      rounds.map(({ rates }) => rates[w]!)
    );
    const medians = rates.map(median);
    const best = Math.max(...medians.slice(1));
    for (const [i, name] of names.entries()) {
      const ratio = medians[0]! / medians[i]!;
      rows.push({
        measured: `scale, find ${walk.join(" ")}: ${title}`,
        subject: name,
        value: medians[i]!,
        unit: "files/s",
        rounds: rates[i]!,
        ...(i > 0 ? { ratio } : {}),
        ...(i > 0 && medians[i] === best
          ? { target: { promise: `≥ ${TARGET}×`, met: ratio >= TARGET } }
          : {}),
      });
    }
  }
  const memory = measured[0]!.map((round) => round.memory);
  const most = Math.max(...memory);
  rows.push({
    measured: `scale, memory after find and reading: ${title}`,
    subject: "recordfs",
    value: median(memory),
    unit: "MB",
    rounds: memory,
    ...(mostMegabytes === undefined ? {} : {
      target: {
        promise: `< ${mostMegabytes} MB`,
        met: most < mostMegabytes,
      },
    }),
  });
  return rows;
}
