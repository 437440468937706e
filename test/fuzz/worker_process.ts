/** A worker process, from the parent's side: sends cases, watches resources, and kills the process if it hangs. */
import type { CaseDone, CaseOrder, WorkerMessage } from "./messages.ts";
import { removeAll } from "./remove_all.ts";
import type { Finding } from "./scene.ts";
import { TextLineStream } from "./text_lines.ts";
import { fromFileUrl, REPOSITORY } from "../support/paths.ts";

/** Limits after which a case counts as hanging, in seconds of processor time and of elapsed time. */
export interface Patience {
  readonly processor: number;
  readonly elapsed: number;
}

/** Memory at which a process is killed, in MiB. */
const MOST_MEMORY = 3000;

/** Limit of the JavaScript heap, in MiB. */
const MOST_HEAP = 1500;

const WATCH_MS = 100;

/** Clock ticks per second in /proc/PID/stat, the same on every Linux. */
const TICKS = 100;

const WORKER = fromFileUrl(new URL("worker.ts", import.meta.url));

/** A process that runs cases. */
export class WorkerProcess {
  readonly #directory: string;
  readonly #modules: readonly string[];
  readonly #patience: Patience;
  #child: Deno.ChildProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #lines: ReadableStreamDefaultReader<string> | undefined;
  #errors = "";

  /**
   * @param directory Working directory of the process.
   * @param modules Modules that it loads first.
   */
  constructor(
    directory: string,
    modules: readonly string[],
    patience: Patience,
  ) {
    this.#directory = directory;
    this.#modules = modules;
    this.#patience = patience;
  }

  /**
   * Runs a case.
   *
   * @returns The result, including the finding if the process died.
   */
  async run(order: CaseOrder): Promise<CaseDone> {
    await this.#start();
    const line = `${JSON.stringify(order)}\n`;
    await this.#input!.write(new TextEncoder().encode(line)).catch(() => {});
    const watch = this.#watch(order.number);
    const message = await this.#next();
    const ended = watch.end();
    if (message !== undefined && "done" in message) return message.done;
    const { code, signal } = await this.#child!.status;
    this.#child = undefined;
    const finding = ended ?? {
      kind: "crash",
      step: this.#step(order.number),
      text: `the process ended: ${
        signal ?? `exit code ${code}`
      }\n${this.#errors}`,
    };
    return {
      number: order.number,
      format: "",
      drives: [],
      findings: [finding],
    };
  }

  /** Ends the process. */
  async end(): Promise<void> {
    if (this.#child === undefined) return;
    await this.#input!.close().catch(() => {});
    await this.#child.status;
    this.#child = undefined;
  }

  async #start(): Promise<void> {
    if (this.#child !== undefined) return;
    removeAll(this.#directory);
    await Deno.mkdir(`${this.#directory}/work`, { recursive: true });
    const options = { stepFile: this.#stepFile, modules: this.#modules };
    this.#child = new Deno.Command("sh", {
      args: [
        ...["-c", 'ulimit -c 0; exec "$@"', "sh", Deno.execPath(), "run", "-A"],
        ...["--no-prompt", `--config=${REPOSITORY}deno.json`],
        `--v8-flags=--max-old-space-size=${MOST_HEAP},--expose-gc`,
        ...[WORKER, JSON.stringify(options)],
      ],
      cwd: `${this.#directory}/work`,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = this.#child.stdout.pipeThrough(new TextLineStream())
      .getReader();
    this.#errors = "";
    this.#collect(this.#child.stderr);
    if (await this.#next() === undefined) {
      throw new Error(`A worker does not start: ${this.#errors}`);
    }
  }

  /** Keeps the end of the process's standard error. */
  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + text).slice(-4000);
    }
  }

  async #next(): Promise<WorkerMessage | undefined> {
    for (;;) {
      const { done, value } = await this.#lines!.read().catch(() => ({
        done: true,
        value: undefined,
      }));
      if (done || value === undefined) return undefined;
      if (value.startsWith("{")) return JSON.parse(value) as WorkerMessage;
    }
  }

  /** Kills the process if a case uses too much. */
  #watch(number: number): { end(): Finding | undefined } {
    const pid = this.#child!.pid;
    const begun = performance.now();
    const usedBefore = usageOf(pid)?.seconds ?? 0;
    let found: Finding | undefined;
    const timer = setInterval(() => {
      const usage = usageOf(pid);
      if (usage === undefined || found !== undefined) return;
      const elapsed = (performance.now() - begun) / 1000;
      const used = usage.seconds - usedBefore;
      const { processor } = this.#patience;
      if (usage.mib > MOST_MEMORY) {
        found = this.#finding("memory", number, `${usage.mib.toFixed()} MiB`);
      } else if (used > processor || elapsed > this.#patience.elapsed) {
        const spent = `${used.toFixed(1)} s of processor time`;
        const text = `it does not end: ${spent}, ${
          elapsed.toFixed(1)
        } s elapsed`;
        found = this.#finding("hang", number, text);
      }
      if (found !== undefined) this.#child?.kill("SIGKILL");
    }, WATCH_MS);
    return {
      end() {
        clearInterval(timer);
        return found;
      },
    };
  }

  #finding(kind: Finding["kind"], number: number, text: string): Finding {
    return { kind, step: this.#step(number), text };
  }

  get #stepFile(): string {
    return `${this.#directory}/step`;
  }

  #step(number: number): string {
    try {
      const text = Deno.readTextFileSync(this.#stepFile).trim();
      if (text.startsWith(`${number} `)) return text.slice(`${number} `.length);
    } catch {
      // The process died before its first step
    }
    return "at its start";
  }
}

/** Returns the resources that a process has used, or `undefined` if it has ended. */
function usageOf(pid: number): { seconds: number; mib: number } | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    const pages = Number(fields[21]);
    return { seconds: (user + system) / TICKS, mib: pages / 256 };
  } catch {
    return undefined;
  }
}
