import { FormatError } from "../../../base/errors.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { openError } from "../../../io/storage/file_source.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { storedAt } from "../../../io/storage/stored_location.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { lostNotes, openSound } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { locateDataset, requireWhole } from "../dataset/dataset_location.ts";
import { SPEC_FILE } from "../dataset/dataset_names.ts";
import type { Shard } from "../dataset/open_shard.ts";
import type { ShardedDatasetOptions } from "./dataset_options.ts";
import { sharedFields } from "../dataset/fields.ts";
import { BagsSamples } from "./bags_samples.ts";
import { DatasetReader } from "./dataset_reader.ts";
import { ShardReader } from "./shard_reader.ts";

/**
 * Reads the shards of a dataset as one sequence of datapoints (Python's `ShardedDatasetReader`). A dataset that is not
 * sharded counts as one shard.
 *
 * To divide shards among workers, set `shardStart` to the worker's number, from 0, and `shardStep` to the number of
 * workers. The README of bags calls the latter `shard_stop`; its code, as here, calls it a step.
 *
 * A shard whose number of datapoints cannot be determined is skipped with a warning, if there are several, and the
 * indices of later datapoints shift. If the bag of a key is damaged, the shard's other values can be read, and reading
 * a value of that key throws a `FormatError`.
 *
 * All shards must have the same keys. The types of a key may differ: each shard is read by its own spec.
 *
 * @example Read every second shard
 * ```ts
 * import { ShardedDatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const directory = "test/golden/granular3/sharded/data";
 * using reader = await ShardedDatasetReader.open(directory, {
 *   decoders: null,
 *   shardStart: 1,
 *   shardStep: 2,
 * });
 * assert.equal(reader.shards, 4); // of 8
 * const { caption } = await reader.get(reader.length - 1, ["caption"]);
 * assert.ok(caption instanceof Uint8Array);
 * ```
 */
export class ShardedDatasetReader extends DatasetReader {
  /** Number of shards that are read. */
  readonly shards: number;

  private constructor(samples: BagsSamples, shards: readonly ShardReader[]) {
    super(samples, shards);
    this.shards = shards.length;
  }

  static *#open(
    directory: string | URL,
    options: ShardedDatasetOptions,
  ): Steps<ShardedDatasetReader> {
    const { path, storage } = storedAt(directory, options);
    const placed = { ...options, storage };
    const { ofSeveral, sound, lost } = yield* openAll(path, placed);
    warnOfAll(noteLines(lostNotes(lost)), options.onWarning);
    const shards = new ShardTable(sound, ({ length }) => length, lost);
    const fields = sharedFields(sound.map(({ shard }) => shard));
    const opened = { path, shards, fields, ofSeveral, readers: sound };
    return new ShardedDatasetReader(new BagsSamples(opened, placed), sound);
  }

  /**
   * Opens a sharded dataset.
   *
   * @param directory Directory of the shards `000000`, `000001`, ….
   * @throws {FormatError} If a shard is missing, the only one or all are damaged, there is something else in the
   * directory, or the keys of the shards differ.
   * @throws {RangeError} If `shardStart` or `shardStep` is not an integer in range, or selects no shard.
   * @throws {RecordfsError} With code `unknown-key` if `cacheKeys` has an unknown key.
   */
  static override open(
    directory: string | URL,
    options: ShardedDatasetOptions & WaitOptions = {},
  ): Promise<ShardedDatasetReader> {
    return runAsync(
      ShardedDatasetReader.#open(directory, options),
      options.signal,
    );
  }

  /** Synchronous {@linkcode ShardedDatasetReader.open}. */
  static override openSync(
    directory: string | URL,
    options: ShardedDatasetOptions = {},
  ): ShardedDatasetReader {
    return runSync(ShardedDatasetReader.#open(directory, options));
  }
}

/**
 * Opens the selected shards of a dataset; a dataset that is not sharded counts as one shard.
 *
 * @throws {FormatError} If one is missing, all are damaged, or one has other keys.
 * @throws {RangeError} If `shardStart` or `shardStep` is not an integer in range, or selects no shard.
 */
function* openAll(
  directory: string,
  options: ShardedDatasetOptions,
) {
  const { paths, ofSeveral } = yield* pathsOf(directory, options);
  const opened = yield* openSound(
    paths,
    (path) => ShardReader.open(path, options, ofSeveral),
  );
  const { sound } = opened;
  try {
    for (const { shard } of sound) requireSameKeys(sound[0]!.shard, shard);
    return { ...opened, ofSeveral };
  } catch (error) {
    for (const reader of sound) reader.close();
    throw error;
  }
}

function* pathsOf(
  directory: string,
  options: ShardedDatasetOptions,
): Steps<{ readonly paths: readonly string[]; readonly ofSeveral: boolean }> {
  const { shardStart = 0, shardStep = 1, storage = LOCAL_DISK } = options;
  requireWhole("shardStart", shardStart, 0);
  requireWhole("shardStep", shardStep, 1);
  const location = yield* locateDataset(storage, directory, options.onWarning);
  if ("bag" in location) throw openError(directory, { code: "ENOTDIR" });
  const { shards } = location;
  if (shardStart >= shards.length) {
    throw new RangeError(
      `${directory} has ${shards.length} shards: none is left from shardStart ${shardStart} on`,
    );
  }
  const paths = shards.filter((_, i) =>
    i >= shardStart && (i - shardStart) % shardStep === 0
  );
  return { paths, ofSeveral: shards.length > 1 };
}

function requireSameKeys(first: Shard, shard: Shard): void {
  const [expected, actual] = [first, shard].map(({ keys }) =>
    keys.map(({ key }) => key)
  ) as [string[], string[]];
  const isSame = expected.length === actual.length &&
    actual.every((key) => expected.includes(key));
  if (isSame) return;
  const path = `${shard.path}/${SPEC_FILE}`;
  throw new FormatError(
    "bad-spec",
    `Cannot open ${path}: its keys are not those of ${first.path}: ` +
      `${actual.join(", ")} instead of ${expected.join(", ")}. Read the ` +
      "shards one by one",
    { path, expected, actual },
  );
}
