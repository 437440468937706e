import { type Ending, WriterBase } from "../../../io/write/writer_base.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Generation } from "../dataset/dataset_names.ts";

/** Destination of a writer. */
export interface WriterOutput {
  /** Number of appended items, including those that existed before. */
  readonly length: number;
  /** Size of all bags and their indexes in bytes. */
  readonly size: number;
  /** Writes buffered data; with `sync`, waits until it is on disk. */
  flush(sync: boolean): Steps<void>;
}

/**
 * Base class of the writers of bags and datasets.
 *
 * If a writer is aborted, or disposed before it is closed, or if closing fails, nothing remains of the bag, the dataset
 * or its last shard in generations 1 and 2. In generation 3, what was written remains; if nothing was written to a new
 * dataset, nothing remains.
 */
export abstract class Writer extends WriterBase {
  /** Form of the output. */
  readonly generation: Generation;
  readonly #output: WriterOutput;

  /** @ignore Use `open`. */
  protected constructor(
    path: string,
    generation: Generation,
    output: WriterOutput,
    ending: Ending,
  ) {
    super(path, ending);
    this.generation = generation;
    this.#output = output;
  }

  /** Number of records or datapoints so far, in all shards, including those that existed before. */
  get length(): number {
    return this.#output.length;
  }

  /** Size of all bags and their indexes in bytes, including `refs.bag`. */
  get size(): number {
    return this.#output.size;
  }

  /**
   * Writes buffered data. In generation 3, readers then see it, and it survives the end of the process; with `sync`,
   * also a power failure.
   *
   * @throws {WriteError} If the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async flush(
    { sync = false, signal }: WaitOptions & {
      /** Whether to wait until the data is on disk. Defaults to `false`. */
      readonly sync?: boolean | undefined;
    } = {},
  ): Promise<void> {
    return this.run(() => this.#output.flush(sync), signal, false);
  }

  /** Synchronous {@linkcode Writer.flush}. */
  flushSync(
    { sync = false }: { readonly sync?: boolean | undefined } = {},
  ): void {
    this.runSync(() => this.#output.flush(sync), false);
  }
}
