import { type Ending, WriterBase } from "../../../io/write/writer_base.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Generation } from "../dataset/dataset_names.ts";

/** Options of the writers' `flush`. */
export interface FlushOptions {
  /** Waits until it is on the disk; not unless given. */
  readonly sync?: boolean | undefined;
}

/** The place that a writer writes to. */
export interface WriterOutput {
  /** The number of what was appended, that among it that was there before. */
  readonly length: number;
  /** Bytes of all bags and their indexes. */
  readonly size: number;
  /** Writes what was gathered; with `sync`, waits until it is on the disk. */
  flush(sync: boolean): Steps<void>;
}

/**
 * The base of the writers of bags and of datasets.
 *
 * Where one is given up, or closing it fails, nothing remains of the bag, the dataset or its last shard in
 * generations 1 and 2; in generation 3 what was written, but of a dataset nothing where nothing was
 * written and nothing was there before.
 */
export abstract class Writer extends WriterBase {
  /** The form of what is written. */
  readonly generation: Generation;
  readonly #output: WriterOutput;

  /** @ignore Writers are made by `open`. */
  protected constructor(
    path: string,
    generation: Generation,
    output: WriterOutput,
    ending: Ending,
  ) {
    super(path, "append", ending);
    this.generation = generation;
    this.#output = output;
  }

  /** Number of records or datapoints so far, of all shards, those among them that were there before. */
  get length(): number {
    return this.#output.length;
  }

  /** Bytes of all bags and their indexes, those of `refs.bag` included. */
  get size(): number {
    return this.#output.size;
  }

  /**
   * Writes what was gathered. In generation 3, readers find it then, and it outlives the process;
   * with `sync` also a loss of power.
   *
   * @throws {WriteError} If the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async flush({ sync = false, signal }: FlushOptions & WaitOptions = {}): //
  Promise<void> {
    return this.run(() => this.#output.flush(sync), signal, false);
  }

  /** {@linkcode Writer.flush} without waiting. */
  flushSync({ sync = false }: FlushOptions = {}): void {
    this.runSync(() => this.#output.flush(sync), false);
  }
}
