import { untold } from "../../../io/write/writer_base.ts";
import * as path from "node:path";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { ConcurrencyLimit } from "../../../io/concurrency/concurrency_limit.ts";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { divide, type Part, requireParts } from "./record_paths.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import { FFRecordWriter } from "./writer.ts";

const IN_PARALLEL = 16;

/**
 * Writes samples to one FFRecord file, or to several in parallel (Python's `ffrecord.utils.dump`). Several appear all
 * at once.
 *
 * @param samples The samples by index, such as an array; with several files, up to 16 are requested at a time.
 * @param out The file, if `parts` is 1. Otherwise the directory, new or empty, for files `PART_00000.ffr` … of `ceil(n
 * / parts)` samples each, in order; its parents are created.
 * @param parts Number of files.
 * @returns Paths of the files.
 * @throws {WriteError} If they cannot be written; nothing of them is left then.
 *
 * @example Write an array in two files
 * ```ts
 * import { dump, FFRecordReader } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * const out = `${await Deno.makeTempDir()}/numbers`;
 * const samples = [1, 2, 3].map((number) => Float32Array.of(number));
 * const paths = await dump(samples, out, 2);
 *
 * assert.equal(paths.length, 2);
 * using reader = await FFRecordReader.open(out);
 * assert.deepEqual(new Float32Array((await reader.readOne(2)).buffer), samples[2]);
 * ```
 */
export async function dump(
  samples: {
    /** Number of samples. */
    readonly length: number;
    /** Returns the sample at `index`. Called once for each index, interleaved between files if there are several. */
    at(index: number): SampleData | Promise<SampleData> | undefined;
  },
  out: string | URL,
  parts: number,
  options: WaitOptions & {
    /** Called after each sample with the number written, and the total. */
    readonly onProgress?:
      | ((samples: number, total: number) => void)
      | undefined;
    /** Called if there are fewer files than requested. Defaults to `console.warn`. */
    readonly onWarning?: ((message: string) => void) | undefined;
  } = {},
): Promise<string[]> {
  requireParts(parts);
  if (parts > 1) return await dumpParts(samples, out, parts, options);
  options.signal?.throwIfAborted();
  const target = localPath(out);
  const work = new Dump(samples, options);
  await work.write(target, { name: "", start: 0, count: work.total });
  return [target];
}

/** Samples by index, such as an array. */
export type SampleList = Parameters<typeof dump>[0];

/** Options of {@linkcode dump}. */
export type DumpOptions = NonNullable<Parameters<typeof dump>[3]>;

/** {@linkcode dump} to a directory, even for one part. */
export async function dumpParts(
  samples: SampleList,
  out: string | URL,
  parts: number,
  options: DumpOptions,
): Promise<string[]> {
  options.signal?.throwIfAborted();
  const target = localPath(out);
  const work = new Dump(samples, options);
  const files = divide(work.total, parts);
  if (files.length !== parts) {
    const warn = options.onWarning ?? warnOnConsole;
    warn(
      `${target} has ${files.length} files instead of ${parts}: its ` +
        `${work.total} samples fill no more`,
    );
  }
  // As the Python function does.
  await runAsync(makeDirectories(path.dirname(target), target));
  await NewDirectory.write(
    target,
    options.signal,
    (temporary) => work.writeAll(temporary, files),
  );
  return files.map(({ name }) => path.join(target, name));
}

class Dump {
  readonly total: number;
  readonly #samples: SampleList;
  readonly #options: DumpOptions;
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  #done = 0;

  constructor(samples: SampleList, options: DumpOptions) {
    this.#samples = samples;
    this.total = samples.length;
    if (!Number.isSafeInteger(this.total) || this.total < 0) {
      throw new RangeError(`A list of ${this.total} samples can't be written`);
    }
    this.#options = options;
    this.#signal = options.signal === undefined
      ? this.#failed.signal
      : AbortSignal.any([options.signal, this.#failed.signal]);
  }

  async writeAll(directory: string, files: readonly Part[]): Promise<void> {
    const flight = new ConcurrencyLimit(IN_PARALLEL);
    for (const file of files) {
      await flight.room();
      if (flight.failed) break;
      const writing = this.write(path.join(directory, file.name), file);
      flight.add(writing.catch((error) => {
        this.#failed.abort(error); // ends the others with this error
        throw error;
      }));
    }
    await flight.end(); // before the directory is removed
  }

  async write(file: string, { start, count }: Part): Promise<void> {
    const signal = this.#signal;
    await using writer = untold(
      await FFRecordWriter.open(file, { count, signal }),
    );
    for (let index = start; index < start + count; index++) {
      await writer.write(await this.#sample(index), { signal });
      this.#options.onProgress?.(++this.#done, this.total);
    }
    await writer.close({ signal });
  }

  async #sample(index: number): Promise<SampleData> {
    const given = this.#samples.at(index);
    // A promise that never settles must not keep the others from being aborted.
    const sample =
      await (given instanceof Promise ? abortable(given, this.#signal) : given);
    if (sample !== undefined) return sample;
    throw new TypeError(
      `There is no sample ${index}, though there are ${this.total} samples`,
    );
  }
}
