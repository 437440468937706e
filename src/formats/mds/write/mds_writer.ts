import { messageOf } from "../../../base/message_text.ts";
import { WriteError } from "../../../base/errors.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { WriterBase } from "../../../io/write/writer_base.ts";
import { byCodePoint } from "../../../base/names.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import type { writeNpy } from "../../../codecs/numpy/mod.ts";
import { encodeValue } from "../encodings/encode.ts";
import { ENCODING_NAMES, encodingOf } from "../encodings/encoding.ts";
import {
  type Column,
  columnOf,
} from "../../../tree/field_shards/shard_index.ts";
import { ShardsOutput } from "./shards_output.ts";

/** Value to write. */
export type MDSInput = Parameters<MDSWriter["write"]>[0][string];

/** Default shard size in bytes, as in the original. */
export const SIZE_LIMIT = 1 << 26;

/**
 * Writes a MosaicML Streaming dataset: uncompressed shards, with their SHA-1 in the index. Memory use does not grow
 * with the size of samples or shards.
 *
 * Closing the writer publishes the directory, complete and synced to disk; an empty directory may exist at its path.
 * Until then the data are in a hidden directory next to it, which aborting or disposing of the writer removes.
 *
 * @example Write samples
 * ```ts
 * import { openSamples } from "@recordfs/recordfs";
 * import { MDSWriter } from "@recordfs/recordfs/mds";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/words`;
 * const columns = { word: "str", length: "int" };
 * await using writer = await MDSWriter.open(path, { columns });
 * for (const word of ["one", "two", "three"]) {
 *   await writer.write({ word, length: word.length });
 * }
 * await writer.close();
 *
 * using samples = await openSamples(path);
 * assert.equal((await samples.get(2))["length"], 5);
 * ```
 */
export class MDSWriter extends WriterBase {
  readonly #output: ShardsOutput;
  readonly #directory: NewDirectory;
  readonly #columns: readonly Column[];
  readonly #names: ReadonlySet<string>;

  private constructor(
    directory: NewDirectory,
    output: ShardsOutput,
    columns: readonly Column[],
  ) {
    super(directory.path, {
      finish: () => this.#named(output.finish()),
      publish: () => directory.publish(),
      letGo() {
        output.close();
        directory.discard();
      },
    });
    this.#directory = directory;
    this.#output = output;
    this.#columns = columns;
    this.#names = new Set(columns.map(({ name }) => name));
  }

  static *#open(
    location: string | URL,
    options: Parameters<typeof MDSWriter.open>[1],
  ): Steps<MDSWriter> {
    const path = localPath(location);
    const columns = columnsOf(options.columns, path);
    const limit = (count: number | undefined, name: string) => {
      if (count === undefined || Number.isSafeInteger(count) && count > 0) {
        return count;
      }
      throw new TypeError(
        `${name} must be a whole number from 1 on, not ${count}`,
      );
    };
    const form = {
      columns,
      sizeLimit: limit(options.sizeLimit, "sizeLimit") ?? SIZE_LIMIT,
      shardLength: limit(options.shardLength, "shardLength") ?? Infinity,
    };
    const directory = yield* NewDirectory.create(path);
    const output = new ShardsOutput(directory.temporary, path, form);
    return new MDSWriter(directory, output, columns);
  }

  /**
   * Starts a dataset.
   *
   * @param location The directory; its parent must exist.
   * @throws {WriteError} If a column's encoding is unknown (`bad-spec`), or the location is not writable.
   */
  static open(
    location: string | URL,
    options: WaitOptions & {
      /** Encodings by column name: `{ image: "jpeg", label: "int" }`. */
      readonly columns: Readonly<Record<string, string>>;
      /** Maximum size of a shard in bytes, unless a single sample exceeds it. Defaults to 64 MiB. */
      readonly sizeLimit?: number | undefined;
      /** Maximum number of samples in a shard; by default only the size counts. */
      readonly shardLength?: number | undefined;
    },
  ): Promise<MDSWriter> {
    return runAsync(MDSWriter.#open(location, options), options.signal);
  }

  /** {@linkcode MDSWriter.open} without waiting. */
  static openSync(
    location: string | URL,
    options: Omit<Parameters<typeof MDSWriter.open>[1], "signal">,
  ): MDSWriter {
    return runSync(MDSWriter.#open(location, options));
  }

  /** Number of samples written so far. */
  get length(): number {
    return this.#output.length;
  }

  /**
   * Writes one sample. Calls that are not awaited keep their order; if one fails, so do those made after it without
   * waiting.
   *
   * @param sample A value for each column: a number or bigint (`int`, `uint8` … `float64`, `str_int`, `str_float`), a
   * text (`str`, `str_decimal`), an array (`ndarray`), any JSON value (`json`), or bytes (`bytes`). For `jpeg`, `png`,
   * `pkl` and `pil`, and optionally for `json`, the bytes to store; for lists (`list[jpeg]`, `list[png]`, `list[pil]`,
   * `jpeg_array`, `jpegarray`), the bytes of each element. Bytes must not change before the promise settles.
   * @returns The sample's index.
   * @throws {WriteError} If columns are missing or surplus (`bad-datapoint`), a value does not fit its encoding
   *   (`bad-value`), or the system reports an error.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(
    sample: Readonly<
      Record<
        string,
        | ArrayBufferView
        | ArrayBufferLike
        | string
        | number
        | bigint
        | Parameters<typeof writeNpy>[0]
        | JsonValue
        | readonly (ArrayBufferView | ArrayBufferLike)[]
      >
    >,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    this.requireOpen();
    const values = this.#encode(sample);
    return this.run(
      () => this.#named(this.#output.append(values)),
      options.signal,
    );
  }

  /** {@linkcode MDSWriter.write} without waiting. */
  writeSync(sample: Parameters<MDSWriter["write"]>[0]): number {
    this.requireIdle();
    const values = this.#encode(sample);
    return this.runSync(() => this.#named(this.#output.append(values)));
  }

  #encode(sample: Parameters<MDSWriter["write"]>[0]): Uint8Array[] {
    const surplus = Object.keys(sample).find((key) => !this.#names.has(key));
    if (surplus !== undefined) {
      throw this.#bad("bad-datapoint", `it has no column '${surplus}'`);
    }
    return this.#columns.map(({ name, encoding }) => {
      if (!Object.hasOwn(sample, name)) {
        throw this.#bad("bad-datapoint", `the sample has no '${name}'`);
      }
      try {
        return encodeValue(encoding, sample[name]);
      } catch (cause) {
        const why = messageOf(cause);
        throw this.#bad("bad-value", `'${name}': ${why}`, cause);
      }
    });
  }

  #bad(code: string, why: string, cause?: unknown): WriteError {
    return new WriteError(
      code,
      `Cannot write sample ${this.length} to ${this.path}: ${why}`,
      { path: this.path, sample: this.length, cause },
    );
  }

  /** Makes errors name the final directory instead of the temporary one. */
  *#named<T>(work: Steps<T>): Steps<T> {
    try {
      return yield* work;
    } catch (error) {
      throw this.#directory.asPublished(error);
    }
  }
}

function columnsOf(
  columns: Readonly<Record<string, string>>,
  path: string,
): Column[] {
  const names = Object.keys(columns).sort(byCodePoint);
  const bad = (why: string) =>
    new WriteError("bad-spec", `Cannot write ${path}: ${why}`, { path });
  if (names.length === 0) throw bad("samples need at least one column");
  return names.map((name) => {
    const encoding = encodingOf(columns[name]!);
    if (encoding === undefined) {
      throw bad(
        `the column '${name}' has the unknown encoding '${columns[name]}'. ` +
          `Use one of ${ENCODING_NAMES.join(", ")}`,
      );
    }
    return columnOf(name, encoding);
  });
}
