import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { Datapoint } from "../read/selection.ts";
import {
  type DatasetForm,
  datasetForm,
  type DatasetWriterOptions,
  openDatasetTarget,
} from "./dataset_target.ts";
import type { Spec } from "../dataset/spec.ts";
import type { Ending } from "../../../io/write/writer_base.ts";
import { Writer, type WriterOutput } from "./writer.ts";

/** Where datapoints are written to: one dataset, or one shard after the other. */
interface DatapointOutput extends WriterOutput {
  /** Appends a datapoint, and answers its index. */
  append(datapoint: Readonly<Datapoint>): Steps<number>;
}

/**
 * Writes a dataset: a directory with a bag for each key (Python's `DatasetWriter`), in constant
 * memory.
 *
 * In generation 3 it is written in its place, and one that is there is continued, behind the last
 * datapoint that all keys have, of which {@linkcode DatasetWriter.length} tells the number. What a
 * process that was killed wrote ahead of that is compared with what is appended. Up to 1 MiB of a
 * key is gathered, which is lost with the process, unless it is flushed. (One that is killed while it
 * starts the dataset may leave a hidden `.spec.json.*.part`, which nobody reads, and which goes when
 * it is continued.)
 *
 * In generations 1 and 2 the directory appears when the writer is closed, complete and on the disk;
 * an empty one may be there. Until then it is a hidden directory beside it. A dataset without
 * datapoints has a `spec.json`, which bags leaves out, and then cannot read it.
 *
 * A datapoint that cannot be written (an encoder throws, the disk is full, a signal is aborted)
 * leaves all keys as they were before it.
 *
 * @example Write a dataset with one's own encoders
 * ```ts
 * import { DatasetWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const utf8 = (text: string) => new TextEncoder().encode(text);
 * const directory = `${await Deno.makeTempDir()}/words`;
 * const spec = { word: "utf8", letters: "utf8[]" };
 * const options = { encoders: { utf8 }, generation: 2 } as const;
 * await using writer = await DatasetWriter.open(directory, spec, options);
 * await writer.append({ word: "hi", letters: ["h", "i"] });
 * await writer.close();
 *
 * const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
 * assert.deepEqual(names, ["letters.bag", "refs.bag", "spec.json", "word.bag"]);
 * ```
 */
export class DatasetWriter extends Writer {
  /** The types by key; the keys are sorted. */
  readonly spec: Spec;
  readonly #output: DatapointOutput;

  /** @ignore Writers are made by `open`. */
  protected constructor(
    path: string,
    { generation, spec }: DatasetForm,
    output: DatapointOutput,
    ending: Ending,
  ) {
    super(path, generation, output, ending);
    this.spec = spec.spec;
    this.#output = output;
  }

  static *#open(
    location: string | URL,
    spec: Spec,
    options: DatasetWriterOptions,
  ): Steps<DatasetWriter> {
    const path = localPath(location);
    const form = datasetForm(path, spec, options);
    const target = yield* openDatasetTarget(path, form);
    return new DatasetWriter(path, form, target.output, target);
  }

  /**
   * Starts a dataset, or in generation 3 continues one.
   *
   * @param directory Where; the directories above it are made.
   * @param spec Types by key. In generations 1 and 2 a type that ends in `[]` is that of a list.
   * @throws {WriteError} If the spec has keys or types that the original packages refuse
   * (`bad-spec`), another one is there (`spec-differs`), another writer has it open (`busy`), or it
   * can't be written there.
   * @throws {FormatError} If a dataset that is to be continued is damaged.
   */
  static open(
    directory: string | URL,
    spec: Spec,
    options: DatasetWriterOptions & WaitOptions = {},
  ): Promise<DatasetWriter> {
    return runAsync(
      DatasetWriter.#open(directory, spec, options),
      options.signal,
    );
  }

  /** {@linkcode DatasetWriter.open} without waiting. */
  static openSync(
    directory: string | URL,
    spec: Spec,
    options: DatasetWriterOptions = {},
  ): DatasetWriter {
    return runSync(DatasetWriter.#open(directory, spec, options));
  }

  /**
   * Appends a datapoint. Calls that are not awaited keep their order; if one fails, so do those that
   * were made after it without waiting.
   *
   * @param datapoint A value for each key of the spec; of a list type an array, or any other
   * iterable, also one that has to be waited for. It must not be changed before the promise is
   * settled.
   * @returns The datapoint's index.
   * @throws {WriteError} If keys are missing or surplus (`bad-datapoint`), a value cannot be encoded
   * (`bad-value`) or is empty in generation 2 (`empty-record`), is not the one that was
   * written there by a process that was killed (`mismatch`), or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async append(
    datapoint: Readonly<Datapoint>,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    return this.run(() => this.#output.append(datapoint), options.signal);
  }

  /** {@linkcode DatasetWriter.append} without waiting: encoders and lists must not have to, either. */
  appendSync(datapoint: Readonly<Datapoint>): number {
    return this.runSync(() => this.#output.append(datapoint));
  }
}
