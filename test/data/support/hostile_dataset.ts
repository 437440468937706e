import { setTimeout } from "node:timers/promises";
import process from "node:process";
import { Dataset, type GetOptions } from "../../../src/data/dataset.ts";
import { RECIPE, type Recipe } from "../../../src/data/recipe.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { blockThread } from "../../support/block_thread.ts";

/** Action when the bad sample is read. */
export type Deed =
  | "throw"
  | "throw-fact"
  | "throw-text"
  | "fail-in-batches"
  | "too-few"
  | "function"
  | "wait"
  | "wait-for-ever"
  | "take-unequal-times"
  | "block"
  | "Deno.exit"
  | "process.exit"
  | "close"
  | "timer"
  | "rejection";

/** Numbers, of which one is bad. */
export class HostileDataset extends Dataset<number | (() => void)> {
  override readonly length = 40;
  readonly #deed: Deed;
  readonly #bad: number;
  readonly #counts: Int32Array;

  /**
   * @param counts Shared counters: batches begun, batches done, most at once, datasets closed.
   */
  constructor(
    deed: Deed,
    bad: number,
    counts: Int32Array = new Int32Array(new SharedArrayBuffer(16)),
  ) {
    super();
    this.#deed = deed;
    this.#bad = bad;
    this.#counts = counts;
  }

  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<(number | (() => void))[]> {
    Atomics.add(this.#counts, 0, 1);
    if (indices.includes(this.#bad)) await this.#act(indices, options);
    if (this.#deed === "take-unequal-times") {
      await setTimeout(indices[0]! * 7 % 10);
    }
    if (this.#deed === "too-few" && indices.includes(this.#bad)) return [];
    Atomics.add(this.#counts, 1, 1);
    return indices.map((index) =>
      this.#deed === "function" && index === this.#bad ? () => {} : index
    );
  }

  override fileOf(index: number): string {
    return `file_${index}`;
  }

  override [RECIPE](): Recipe {
    return {
      module: import.meta.url,
      name: "HostileDataset",
      how: "new",
      args: [this.#deed, this.#bad, this.#counts],
    };
  }

  override close(): void {
    Atomics.add(this.#counts, 3, 1);
  }

  async #act(
    indices: readonly number[],
    { signal }: GetOptions,
  ): Promise<void> {
    switch (this.#deed) {
      case "throw":
        throw new RangeError("no such luck", {
          cause: new FormatError("too-large", "far too large", { offset: 7 }),
        });
      case "throw-fact":
        throw new FormatError("sample-checksum", "damaged", {
          path: "the.ffr",
          sample: 3,
          offset: 8,
        });
      case "throw-text":
        return await Promise.reject("not an error at all");
      case "fail-in-batches":
        if (indices.length > 1) throw new Error("only together");
        return;
      case "wait":
        return await setTimeout(3_600_000, undefined, signal && { signal });
      case "wait-for-ever":
        return await new Promise(() => {});
      case "block":
        return blockThread();
      case "Deno.exit":
        return Deno.exit(0);
      case "process.exit":
        return process.exit(3);
      case "close":
        globalThis.close();
        return await setTimeout(3_600_000);
      case "timer":
        globalThis.setTimeout(() => {
          throw new Error("thrown by a timer");
        });
        return await setTimeout(3_600_000);
      case "rejection":
        Promise.reject(new TypeError("rejected, and nobody looked"));
        return await setTimeout(3_600_000);
    }
  }
}
