import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import type { WebSample } from "../../../codecs/file_values.ts";
import { MembersReader } from "../../../tree/archive/members_reader.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import { openTrees } from "../tree/open_tars.ts";
import { tarPaths } from "../tree/tar_paths.ts";
import type { TarFiles } from "./tar_files.ts";
import { type TarSample, TarSamples } from "./tar_samples.ts";

/** Options of {@linkcode TarReader}. */
export type TarOptions = Pick<
  ContainerOptions,
  "onWarning" | "remote" | "storage"
>;

/**
 * Reads the files of a tar, or of several tars as one: shards in a directory, or those that a pattern such as
 * `train-{000000..000146}.tar` names. Reads any file directly, without those before it.
 *
 * @example Read files and samples
 * ```ts
 * import { TarReader } from "@recordfs/recordfs/tar";
 * import assert from "node:assert/strict";
 *
 * using reader = await TarReader.open("test/golden/tar/webdataset/pairs.tar");
 * assert.deepEqual(reader.names.slice(0, 2), ["train/000.cls", "train/000.txt"]);
 * assert.equal(new TextDecoder().decode(await reader.read("train/000.cls")), "0");
 *
 * const [sample] = await reader.samples.decoded([2]);
 * assert.equal(sample?.__key__, "train/002");
 * assert.equal(sample.cls, 2);
 *
 * for await (const samples of reader.samples.batches({ batch: 4 })) console.log(samples.length);
 * ```
 */
export class TarReader extends MembersReader {
  /** @ignore Files, for datasets. */
  readonly files: TarFiles;
  /** Reader of WebDataset samples: files of one directory whose names are equal up to the first dot. */
  readonly samples: SamplesReader<TarSample, WebSample>;

  /** @ignore Use `open`. */
  constructor(samples: TarSamples) {
    super(samples.files);
    this.files = samples.files;
    this.samples = new SamplesReader(samples);
  }

  /**
   * Opens tars.
   *
   * @param location A tar, a directory of tars, or a pattern such as `train-{000000..000146}.tar`.
   * @throws {FormatError} If a tar is damaged, compressed or unsupported.
   */
  static async open(
    location: string | URL,
    options: TarOptions & WaitOptions = {},
  ): Promise<TarReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /** Synchronous {@linkcode TarReader.open}. */
  static openSync(
    location: string | URL,
    options: TarOptions = {},
  ): TarReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the tars of another thread's reader, sharing its tables.
   *
   * @param handle Result of {@linkcode TarReader.share}.
   * @throws {FormatError} If a tar has changed.
   */
  static async openShared(
    handle: SamplesHandle,
    options: Pick<TarOptions, "storage"> & WaitOptions = {},
  ): Promise<TarReader> {
    const samples = await reopenSamples(handle, options);
    return new TarReader(samples as TarSamples);
  }

  /** Returns a handle for {@linkcode TarReader.openShared}. */
  share(): SamplesHandle {
    return this.samples.share();
  }
}

function* openReader(
  location: string | URL,
  options: TarOptions,
): Steps<TarReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* tarPaths(path, storage);
  const { files, guess, isGrouped } = yield* openTrees(paths, storage, options);
  const { onWarning = warnOnConsole } = options;
  for (const note of guess.notes(isGrouped)) onWarning(`${path}: ${note}`);
  return new TarReader(new TarSamples(files));
}
