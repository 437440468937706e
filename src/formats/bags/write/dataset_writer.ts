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
import type { Ending } from "../../../io/write/writer_base.ts";
import { Writer, type WriterOutput } from "./writer.ts";

interface DatapointOutput extends WriterOutput {
  append(datapoint: Readonly<Datapoint>): Steps<number>;
}

/**
 * Writes a dataset, a directory with a bag for each key, in constant memory (Python's `DatasetWriter`).
 *
 * In generation 3 the dataset is written in place. An existing one is continued after the last datapoint that all keys
 * have; {@linkcode DatasetWriter.length} is the number of datapoints. Bytes that a killed process wrote ahead of that
 * are compared with appended datapoints. Up to 1 MiB per key is buffered; buffered bytes are lost with the process,
 * unless they are flushed. (A process killed while it starts the dataset may leave a hidden `.spec.json.*.part`, which
 * nothing reads, and which is removed when the dataset is continued.)
 *
 * In generations 1 and 2 the directory appears when the writer is closed, complete and on disk; an empty one may exist.
 * Until then it is a hidden directory next to it. A dataset without datapoints has a `spec.json`, which bags omits and
 * then cannot read the dataset.
 *
 * If a datapoint cannot be written (an encoder throws, the disk is full, a signal is aborted), all keys are as they
 * were before it.
 *
 * @example Write a dataset with custom encoders
 * ```ts
 * import { DatasetWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const utf8 = (text: string) => new TextEncoder().encode(text);
 * const directory = `${await Deno.makeTempDir()}/words`;
 * const spec = { word: "utf8", letters: "utf8[]" };
 * const options = { encoders: { utf8 }, generation: 2 } as const;
 * await using writer = await DatasetWriter.open(directory, spec, options);
 * await writer.write({ word: "hi", letters: ["h", "i"] });
 * await writer.close();
 *
 * const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
 * assert.deepEqual(names, ["letters.bag", "refs.bag", "spec.json", "word.bag"]);
 * ```
 */
export class DatasetWriter extends Writer {
  /** Types by key; the keys are sorted. */
  readonly spec: Readonly<Record<string, string>>;
  readonly #output: DatapointOutput;

  /** @ignore Use `open`. */
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
    spec: Readonly<Record<string, string>>,
    options: DatasetWriterOptions,
  ): Steps<DatasetWriter> {
    const path = localPath(location);
    const form = datasetForm(path, spec, options);
    const target = yield* openDatasetTarget(path, form);
    return new DatasetWriter(path, form, target.output, target);
  }

  /**
   * Starts a dataset; in generation 3, continues an existing one.
   *
   * @param directory Directory of the dataset; parent directories are created.
   * @param spec Types by key. In generations 1 and 2, a type ending in `[]` is a list.
   * @throws {WriteError} If the spec has keys or types that the original packages refuse (`bad-spec`), another spec
   * exists (`spec-differs`), another writer has the dataset open (`busy`), or it can't be written there.
   * @throws {FormatError} If the dataset to continue is damaged.
   */
  static open(
    directory: string | URL,
    spec: Readonly<Record<string, string>>,
    options: DatasetWriterOptions & WaitOptions = {},
  ): Promise<DatasetWriter> {
    return runAsync(
      DatasetWriter.#open(directory, spec, options),
      options.signal,
    );
  }

  /** Synchronous {@linkcode DatasetWriter.open}. */
  static openSync(
    directory: string | URL,
    spec: Readonly<Record<string, string>>,
    options: DatasetWriterOptions = {},
  ): DatasetWriter {
    return runSync(DatasetWriter.#open(directory, spec, options));
  }

  /**
   * Appends a datapoint. Calls that are not awaited keep their order; if one fails, so do those made after it without
   * awaiting it.
   *
   * @param datapoint A value for each key of the spec; for a list type an array or another iterable, synchronous or
   * not. It must not be changed before the promise settles.
   * @returns Index of the datapoint.
   * @throws {WriteError} If keys are missing or surplus (`bad-datapoint`), a value cannot be encoded (`bad-value`), is
   * empty in generation 2 (`empty-record`), or differs from what a killed process wrote there (`mismatch`), or if the
   * system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async write(
    datapoint: Readonly<Datapoint>,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    return this.run(() => this.#output.append(datapoint), options.signal);
  }

  /** Synchronous {@linkcode DatasetWriter.write}; encoders and lists must be synchronous, too. */
  writeSync(datapoint: Readonly<Datapoint>): number {
    return this.runSync(() => this.#output.append(datapoint));
  }
}
