import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

/** How `recordfs` is called, as by `bin/recordfs`. */
export const RECORDFS: readonly string[] = [
  Deno.execPath(),
  ...["run", "-A", "--unstable-lazy-dynamic-imports"],
  fileURLToPath(new URL("../../cli.ts", import.meta.url)),
];

/** A command line that is measured. */
export interface Contender extends Compared {
  /** @param made A path of its own for what it makes, if anything. */
  command(made: string): readonly string[];
}

/** What measurements have in common. */
export interface Measured {
  readonly what: string;
  /** Bytes of content that are moved. */
  readonly bytes: number;
  /** Whether each makes many files. */
  readonly makesMany?: boolean;
  /** Whether the disk is waited for, which `sync -f` does behind each. */
  readonly isWaiting?: boolean;
  /** Whether the system's caches are emptied before each. */
  readonly isCold?: boolean;
}

/** A directory of a file system that is measured on. */
export class Place implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #rounds: number;
  readonly #only: RegExp;
  readonly #fileSystem: string;
  /** When something was removed last. */
  #removed = -Infinity;

  private constructor(
    workspace: Workspace,
    rounds: number,
    only: RegExp,
    fileSystem: string,
  ) {
    this.#workspace = workspace;
    this.#rounds = rounds;
    this.#only = only;
    this.#fileSystem = fileSystem;
  }

  /**
   * Makes one.
   *
   * @param only What of all that can be measured is.
   * @param bytes Of what is measured with; a third of that is what a round makes, which is kept unless in memory.
   */
  static async make(
    parent: string | undefined,
    bytes: number,
    rounds: number,
    only: RegExp,
  ): Promise<Place> {
    const stat = await run(["stat", "-f", "-c", "%T", parent ?? tmpdir()]);
    const fileSystem = new TextDecoder().decode(stat).trim();
    const kept = fileSystem === "tmpfs" ? 1 : 2 * rounds;
    const workspace = await Workspace.create(parent, bytes + kept * bytes / 3);
    return new Place(workspace, rounds, only, fileSystem);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workspace[Symbol.asyncDispose]();
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
    { what, bytes, makesMany = false, isWaiting = false, isCold = false }:
      Measured,
    contenders: readonly Contender[],
  ): Promise<Row[]> {
    if (!this.wants(what)) return [];
    const fileSystem = this.#fileSystem;
    // What is in memory has no caches to be emptied.
    if (isCold && fileSystem === "tmpfs") return [];
    const title = `copy, ${fileSystem}: ${what}`;
    const made = this.file("made");
    const isKept = makesMany && fileSystem !== "tmpfs";
    if (isKept) await this.#forgetRemoved();
    const rates = await alternate(
      contenders,
      this.#rounds,
      async (one, round) => {
        progress(
          `${title}: round ${round + 1} of ${this.#rounds}, ${one.name}`,
        );
        const place = `${made}/${contenders.indexOf(one)}`;
        if (!isKept) await remove(made);
        await Deno.mkdir(place, { recursive: true });
        await run(["sync"]); // what others have left to be written is not this one's
        if (isCold) await Deno.writeTextFile("/proc/sys/vm/drop_caches", "3");
        useMemory(bytes * 1.5);
        const start = performance.now();
        await run(one.command(`${place}/${round}`));
        if (isWaiting) await run(["sync", "-f", this.#workspace.path]);
        const seconds = (performance.now() - start) / 1000;
        return bytes / 1e6 / seconds;
      },
    );
    await remove(made);
    if (isKept) {
      await run(["sync"]);
      this.#removed = performance.now();
    }
    return rowsBesideFirst(title, "MB/s", contenders, rates);
  }

  /**
   * Waits until a file system has forgotten what was removed: ext4 gives no inode away again for a minute, and each
   * new file looks at all of those, which takes ten times as long as all else.
   */
  async #forgetRemoved(): Promise<void> {
    const left = this.#removed + FORGOTTEN - performance.now();
    if (left <= 0) return;
    progress(`copy: waiting ${Math.ceil(left / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, left));
  }
}

/** `RECENTCY_MIN` of Linux' fs/ext4/ialloc.c, and some more; in milliseconds. */
const FORGOTTEN = 65_000;

async function remove(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/**
 * Uses so much memory, at most some gigabytes, and lets go of it: the host of a virtual machine gives what has been
 * free for seconds to others, and to have it back takes longer than to copy.
 */
function useMemory(bytes: number): void {
  const piece = 64 << 20;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let used = 0; used < Math.min(bytes, 4 * 2 ** 30); used += piece) {
    const memory = new Uint8Array(piece);
    for (let at = 0; at < piece; at += 4096) memory[at] = 1;
    pieces.push(memory);
  }
  for (const { buffer } of pieces) buffer.transfer(0);
}
