/**
 * Measures the start of the installed command, compared with Deno run with the same arguments.
 *
 *   deno run -A bench/install/start.ts [--rounds N] [--json]
 *
 * @module
 */
import {
  type Installed,
  installPackage,
} from "../../test/install/installed.ts";
import {
  type Benchmark,
  parseOptions,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";

/** Most overhead of the command, in ms. */
const MOST = 30;

/** `start`: ms to print the version. */
export const startBenchmark: Benchmark = { name: "start", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers: { rounds } } = parseOptions(args, { rounds: 31 });
  const dir = await Deno.makeTempDir({ prefix: "recordfs-start-" });
  try {
    const { command, root } = await installPackage(dir);
    const deno = await commandOfDeno({ command, root });
    const [ours, direct] = await alternate(
      [
        { line: [command, "--version"], cache: "" },
        { line: deno, cache: "/dev/null/none" }, // as the installed command sets it
      ],
      rounds,
      timeOf,
    );
    const more = median(ours!.map((time, i) => time - direct![i]!));
    return [
      {
        ...{ measured: "recordfs --version", subject: "recordfs" },
        ...{ value: median(ours!), unit: "ms", rounds: ours! },
        ratio: median(direct!.map((time, i) => time / ours![i]!)),
        target: {
          promise: `≤ ${MOST} ms more, round by round`,
          met: more <= MOST,
        },
        note: `${more.toFixed(1)} ms more`,
      },
      {
        ...{ measured: "recordfs --version", subject: "deno run" },
        ...{ value: median(direct!), unit: "ms", rounds: direct! },
      },
    ];
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Returns the command line that the installed command executes, read from the system while it waits for input. */
async function commandOfDeno(
  { command, root }: Pick<Installed, "command" | "root">,
): Promise<string[]> {
  const child = new Deno.Command(command, {
    args: ["write", `${root}/none.ffr`, "--list", "-"],
    ...{ stdin: "piped", stdout: "null", stderr: "null" },
  }).spawn();
  try {
    for (;;) {
      const text = await Deno.readTextFile(`/proc/${child.pid}/cmdline`);
      const words = text.split("\0").slice(0, -1);
      const script = words.indexOf(`${root}/cli.js`);
      if (script > 1) return [...words.slice(0, script + 1), "--version"];
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    child.kill("SIGKILL");
    await child.stdin.close();
    await child.status;
  }
}

async function timeOf(
  { line, cache }: { readonly line: readonly string[]; readonly cache: string },
): Promise<number> {
  const [program, ...args] = line;
  const start = performance.now();
  const { success } = await new Deno.Command(program!, {
    args,
    env: { DENO_DIR: cache },
    stdout: "null",
  }).spawn().status;
  if (!success) throw new Error(`${line.join(" ")} failed`);
  return performance.now() - start;
}

if (import.meta.main) await runAlone(startBenchmark);
