import { fileURLToPath } from "node:url";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";

/** How `recordfs` is called. */
export const RECORDFS: readonly string[] = [
  Deno.execPath(),
  "run",
  "-A",
  fileURLToPath(new URL("../../cli.ts", import.meta.url)),
];

/** A command line that is measured. */
export interface Contender extends Compared {
  readonly command: readonly string[];
  /** What it makes: removed after each round. */
  readonly makes?: string;
}

/** What measurements have in common. */
export interface Measured {
  readonly what: string;
  /** Bytes of content that are moved. */
  readonly bytes: number;
  /** Whether the disk is waited for, which `sync -f` does behind each. */
  readonly isWaiting?: boolean;
  /** Whether the system's caches are emptied before each. */
  readonly isCold?: boolean;
}

/** A directory of a file system that is measured on. */
export class Place {
  readonly #workspace: Workspace;
  readonly #rounds: number;
  readonly #only: RegExp;
  readonly #fileSystem: Promise<string>;

  /** @param only What of all that can be measured is. */
  constructor(workspace: Workspace, rounds: number, only: RegExp) {
    this.#workspace = workspace;
    this.#rounds = rounds;
    this.#only = only;
    this.#fileSystem = run(["stat", "-f", "-c", "%T", workspace.path])
      .then((bytes) => new TextDecoder().decode(bytes).trim());
  }

  /** The path of a file. */
  file(name: string): string {
    return this.#workspace.file(name);
  }

  /** Whether any of these is to be measured. */
  wants(...whats: readonly string[]): boolean {
    return whats.some((what) => this.#only.test(what));
  }

  /** Times command lines in turn; the first is ours. */
  async measure(
    { what, bytes, isWaiting = false, isCold = false }: Measured,
    contenders: readonly Contender[],
  ): Promise<Row[]> {
    if (!this.wants(what)) return [];
    const title = `copy, ${await this.#fileSystem}: ${what}`;
    const rates = await alternate(
      contenders,
      this.#rounds,
      async (one, round) => {
        progress(
          `${title}: round ${round + 1} of ${this.#rounds}, ${one.name}`,
        );
        await run(["sync"]); // what others have left to be written is not this one's
        if (isCold) await Deno.writeTextFile("/proc/sys/vm/drop_caches", "3");
        const start = performance.now();
        await run(one.command);
        if (isWaiting) await run(["sync", "-f", this.#workspace.path]);
        const seconds = (performance.now() - start) / 1000;
        if (one.makes !== undefined) {
          await Deno.remove(one.makes, { recursive: true });
        }
        return bytes / 1e6 / seconds;
      },
    );
    return rowsBesideFirst(title, "MB/s", contenders, rates);
  }
}
