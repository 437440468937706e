import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

/** Command that runs `recordfs`, as in `bin/recordfs`. */
export const RECORDFS: readonly string[] = [
  Deno.execPath(),
  ...["run", "-A", "--unstable-lazy-dynamic-imports"],
  fileURLToPath(new URL("../../cli.ts", import.meta.url)),
];

/** Command line to be measured. */
export interface Contender extends Compared {
  /** @param made Path for the command's output, if it has any. */
  command(made: string): readonly string[];
}

/** Common properties of a measurement. */
export interface Measured {
  readonly what: string;
  /** Bytes of content moved. */
  readonly bytes: number;
  /** Whether each command creates many files. */
  readonly makesMany?: boolean;
  /** Whether to wait for the disk, by `sync -f` after each command. */
  readonly isWaiting?: boolean;
  /** Whether to empty the system's caches before each command. */
  readonly isCold?: boolean;
}

/** Directory on the file system under test. */
export class Place implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #rounds: number;
  readonly #only: RegExp;
  readonly #fileSystem: string;
  /** Time of the last removal. */
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
   * Makes a directory to measure in.
   *
   * @param only Selects measurements by name.
   * @param bytes Disk space of all data. A round's output takes a third of it, and stays until the end unless the
   *   file system is in memory.
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

  /** Returns the path of a file. */
  file(name: string): string {
    return this.#workspace.file(name);
  }

  /** Whether any of these measurements is selected. */
  wants(...whats: readonly string[]): boolean {
    return whats.some((what) => this.#only.test(what));
  }

  /** Times command lines, alternating; the first is recordfs. */
  async measure(
    { what, bytes, makesMany = false, isWaiting = false, isCold = false }:
      Measured,
    contenders: readonly Contender[],
  ): Promise<Row[]> {
    if (!this.wants(what)) return [];
    const fileSystem = this.#fileSystem;
    // tmpfs has no caches to empty.
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
        await run(["sync"]); // flushes what other contenders left to be written
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
   * Waits until the file system may reuse the inodes of removed files. For a minute, ext4 skips recently freed inodes
   * one by one for each new file, which takes ten times as long as everything else.
   */
  async #forgetRemoved(): Promise<void> {
    const left = this.#removed + FORGOTTEN - performance.now();
    if (left <= 0) return;
    progress(`copy: waiting ${Math.ceil(left / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, left));
  }
}

/** `RECENTCY_MIN` of Linux' fs/ext4/ialloc.c plus a margin, in milliseconds. */
const FORGOTTEN = 65_000;

async function remove(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/**
 * Allocates and frees this much memory, at most 4 GiB. The host of a virtual machine reclaims memory that has been
 * free for seconds, and getting it back would take longer than the copy.
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
