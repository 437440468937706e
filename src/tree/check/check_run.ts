import { FormatError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { checkIndexFile } from "../../io/index_cache/check_index_file.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import type { CheckOptions, CheckReport } from "../format.ts";
import { isShardDamage } from "../samples/open_shards.ts";

/** A check of a container of any format. Counts and reports damage and progress. */
export class CheckRun {
  readonly options: CheckOptions;
  readonly storage: Storage;
  total: number;
  #done = 0;
  #damaged = 0;

  constructor(options: CheckOptions, total = 0) {
    this.options = options;
    this.storage = options.storage ?? LOCAL_DISK;
    this.total = total;
  }

  get signal(): AbortSignal | undefined {
    return this.options.signal;
  }

  get damaged(): number {
    return this.#damaged;
  }

  get done(): number {
    return this.#done;
  }

  /** Runs steps, unless the check is aborted. */
  run<T>(steps: Steps<T>): Promise<T> {
    return runAsync(steps, this.signal);
  }

  /** Reports damage, after which the check continues; rethrows any other error. */
  damage(error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.#damaged++;
    this.options.onDamage(error);
  }

  /** Runs a part of the check, and reports the damage that ends it. Returns whether it finished. */
  async part(work: () => unknown): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.damage(error);
      return false;
    }
  }

  /** Reports an oddity that is not damage. */
  warn(message: string): void {
    (this.options.onWarning ?? warnOnConsole)(message);
  }

  advance(bytes: number): void {
    this.advanceTo(this.#done + bytes);
  }

  /** Reports the number of bytes done. If files have grown, it may exceed the total, which is then raised. */
  advanceTo(done: number): void {
    this.#done = done;
    this.options.onProgress?.(done, Math.max(done, this.total));
  }

  report(facts: Omit<CheckReport, "bytes" | "damaged">): CheckReport {
    return { bytes: this.total, damaged: this.#damaged, ...facts };
  }

  /**
   * Checks files one after the other, each as far as possible. Of several, one that cannot be opened because it is damaged
   * is reported. `check` reports progress with `advanceTo`, from the byte `start`, and returns its number of samples; the
   * result is their sum.
   */
  async files(
    paths: readonly string[],
    check: (source: ByteSource, start: number) => Promise<number>,
  ): Promise<number> {
    for (const path of paths) {
      this.total += (await this.run(this.storage.stat(path)))?.size ?? 0;
    }
    let [samples, bytes] = [0, 0];
    for (const path of paths) {
      const source = await this.#open(path, paths.length > 1);
      if (source === undefined) continue;
      try {
        await this.part(async () => samples += await check(source, bytes));
        await this.part(() => this.run(checkIndexFile(source, this)));
        bytes += source.size;
        this.advanceTo(bytes);
      } finally {
        source.close();
      }
    }
    this.total = bytes;
    return samples;
  }

  /** Opens a file; of several, a damaged one is reported instead, by the rule for opening shards. */
  async #open(
    path: string,
    isOneOfSeveral: boolean,
  ): Promise<ByteSource | undefined> {
    try {
      return await this.run(openFile(this.storage, path));
    } catch (error) {
      if (!isOneOfSeveral || !isShardDamage(error)) throw error;
      this.damage(error);
      return undefined;
    }
  }
}
