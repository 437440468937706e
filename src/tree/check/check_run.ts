import { FormatError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import type { CheckOptions, CheckReport } from "../format.ts";

/** One check of a container of any format: what it finds is counted and told, and so is how far it is. */
export class CheckRun {
  readonly options: CheckOptions;
  /** Where the container lies. */
  readonly storage: Storage;
  /** Bytes that there are to check. */
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

  /** How many damaged places were told of. */
  get damaged(): number {
    return this.#damaged;
  }

  /** Bytes that have been checked. */
  get done(): number {
    return this.#done;
  }

  /** Waits for steps, as long as nobody ends the check. */
  run<T>(steps: Steps<T>): Promise<T> {
    return runAsync(steps, this.signal);
  }

  /** Tells of damage, after which the check goes on; anything else ends it. */
  damage(error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.#damaged++;
    this.options.onDamage(error);
  }

  /**
   * Does a part of the check, and tells of the damage that it ends with.
   *
   * @returns Whether it came to its end.
   */
  async part(work: () => unknown): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.damage(error);
      return false;
    }
  }

  /** Says something odd that is no damage. */
  warn(message: string): void {
    (this.options.onWarning ?? warnOnConsole)(message);
  }

  /** Tells that so many more bytes are done. */
  advance(bytes: number): void {
    this.advanceTo(this.#done + bytes);
  }

  /** Tells how many bytes are done; more than there seemed to be have grown since. */
  advanceTo(done: number): void {
    this.#done = done;
    this.options.onProgress?.(done, Math.max(done, this.total));
  }

  /**
   * Ends the check.
   *
   * @param facts How many samples were checked, and what of them was compared.
   */
  report(facts: Pick<CheckReport, "samples" | "compares">): CheckReport {
    return { bytes: this.total, damaged: this.#damaged, ...facts };
  }

  /**
   * Checks files one after the other, each as far as it goes.
   *
   * @param check Checks one, and tells how far it is by `advanceTo` from the given byte on; gives the number of samples.
   * @returns How many samples there are in all.
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
      const source = await this.run(openFile(this.storage, path));
      try {
        await this.part(async () => samples += await check(source, bytes));
        bytes += source.size;
        this.advanceTo(bytes);
      } finally {
        source.close();
      }
    }
    this.total = bytes;
    return samples;
  }
}
