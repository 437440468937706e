import { IndexError, PathError } from "../../../base/errors.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { encodeName } from "../../../base/names.ts";
import { nameOfFiles } from "../../../tree/sample_indices.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import { expectContents, readContents } from "../../../tree/read_contents.ts";
import { type TarFacts, TarTree } from "../tree/tar_tree.ts";
import { openTrees } from "../tree/open_tars.ts";
import { tarPaths } from "../tree/tar_paths.ts";
import { type SamplePart, TarFiles } from "./tar_files.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";

/** How a {@linkcode TarReader} opens its tars. */
export type TarOptions = Pick<
  ContainerOptions,
  "onWarning" | "remote" | "storage"
>;

/** A sample of WebDataset: the contents of its files by their extensions, which are all behind the first dot. */
export interface TarSample {
  /** What its files have in common: their name in the tar up to the first dot of its last part, such as `./p/0`. */
  readonly __key__: string;
  /** The bytes of the file with that extension. */
  readonly [extension: string]: Uint8Array<ArrayBuffer> | string;
}

/** What another thread needs to open the tars of a reader: it survives `postMessage`, without copying tables. */
export interface TarReaderHandle {
  /** The tars, and their tables in shared memory. */
  readonly tars: unknown;
}

/**
 * Reads the files of a tar, or of several as one: shards in a directory, or those that a pattern as
 * `train-{000000..000146}.tar` names. Any file is read without those before it.
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
 * for await (const { __key__, txt } of reader.samples()) console.log(__key__, txt?.length);
 * ```
 */
export class TarReader implements Disposable {
  readonly #trees: readonly TarTree[];
  readonly #files: TarFiles;
  /** Where the tars lie. */
  readonly storage: Storage;

  /** @ignore Readers are made by `open`. */
  constructor(trees: readonly TarTree[], storage: Storage) {
    this.#trees = trees;
    this.#files = new TarFiles(trees);
    this.storage = storage;
  }

  /**
   * Opens tars.
   *
   * @param location A tar, the directory of several, or a pattern as `train-{000000..000146}.tar`.
   * @throws {FormatError} If one is damaged, compressed, or has what is not supported.
   */
  static async open(
    location: string | URL,
    options: TarOptions & WaitOptions = {},
  ): Promise<TarReader> {
    return await runAsync(openTars(location, options), options.signal);
  }

  /** {@linkcode TarReader.open} without waiting. */
  static openSync(
    location: string | URL,
    options: TarOptions = {},
  ): TarReader {
    return runSync(openTars(location, options));
  }

  /**
   * Opens the tars of a reader in another thread, over the tables that it has read.
   *
   * @param handle What {@linkcode TarReader.share} gave.
   * @throws {FormatError} If a tar is not the same any more.
   */
  static async openShared(
    { tars }: TarReaderHandle,
    { storage = LOCAL_DISK, signal }:
      & Pick<TarOptions, "storage">
      & WaitOptions = {},
  ): Promise<TarReader> {
    const trees = await runAsync(
      reopenTars(tars as TarsHandle, storage),
      signal,
    );
    return new TarReader(trees, storage);
  }

  /** Describes the reader for {@linkcode TarReader.openShared}. */
  share(): TarReaderHandle {
    return { tars: shareTars(this.#trees) };
  }

  /** Number of files; links to files are some as well. */
  get length(): number {
    return this.#files.length;
  }

  /** Paths of the tars, in their order. */
  get paths(): readonly string[] {
    return this.#trees.map(({ facts }) => facts.path);
  }

  /** Paths of the files in their tars, in the order in which they were packed. A new array at each access. */
  get names(): string[] {
    return Array.from({ length: this.length }, (_, i) => this.#files.name(i));
  }

  /** Number of samples of WebDataset: files of one directory whose names are the same up to the first dot. */
  get sampleCount(): number {
    return this.#files.sampleCount;
  }

  /**
   * Reads a file, or a batch of files: in the order in which they lie, neighbours in one go.
   *
   * @param name A path, or several in any order. In several tars, the first that has it.
   * @throws {PathError} If there is no such file.
   */
  read(
    name: string,
    options?: BatchReadOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads a batch of files. */
  read(
    names: readonly string[],
    options?: BatchReadOptions,
  ): Promise<Uint8Array<ArrayBuffer>[]>;
  async read(
    name: string | readonly string[],
    { memory, signal }: BatchReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>[]> {
    const names = typeof name === "string" ? [name] : name;
    const read = await runAsync(this.#readNames(names, memory), signal);
    return typeof name === "string" ? read[0]! : read;
  }

  /** {@linkcode TarReader.read} without waiting. */
  readSync(name: string, options?: BatchReadSyncOptions): Uint8Array;
  /** Reads a batch of files without waiting. */
  readSync(
    names: readonly string[],
    options?: BatchReadSyncOptions,
  ): Uint8Array[];
  readSync(
    name: string | readonly string[],
    { memory }: BatchReadSyncOptions = {},
  ): Uint8Array | Uint8Array[] {
    const names = typeof name === "string" ? [name] : name;
    const read = runSync(this.#readNames(names, memory));
    return typeof name === "string" ? read[0]! : read;
  }

  /**
   * Reads samples in one batch.
   *
   * @param indices From 0 to `sampleCount - 1`: any number, in any order, repeats allowed.
   * @param extensions Only the files with these; all unless given.
   * @throws {IndexError} If there is no such sample.
   */
  async readSamples(
    indices: Iterable<number>,
    { extensions, memory, signal }: BatchReadOptions & {
      readonly extensions?: readonly string[] | undefined;
    } = {},
  ): Promise<TarSample[]> {
    const wanted = [...indices];
    const parts = this.#partsOf(wanted, extensions);
    const places = parts.flatMap((parts) => parts.map(({ file }) => file));
    const bytes = await runAsync(this.#readFiles(places, memory), signal);
    let next = 0;
    return wanted.map((index, i) => {
      const sample: Record<string, Uint8Array<ArrayBuffer> | string> = Object
        .create(null);
      for (const { extension } of parts[i]!) sample[extension] = bytes[next++]!;
      return Object.assign(sample, { __key__: this.#files.key(index) });
    });
  }

  /**
   * All samples, in their order.
   *
   * @param options How many are read in one go; 64 unless given.
   */
  async *samples(
    { batch = 64, signal }: WaitOptions & { readonly batch?: number } = {},
  ): AsyncGenerator<TarSample, void, undefined> {
    for (let start = 0; start < this.sampleCount; start += batch) {
      const length = Math.min(batch, this.sampleCount - start);
      const indices = Array.from({ length }, (_, i) => start + i);
      yield* await this.readSamples(indices, { signal });
    }
  }

  /**
   * Says that samples will be read soon: where the tars lie on a server, they are fetched meanwhile.
   *
   * @returns How many bytes are fetched, or have been; 0 where the tars are local.
   */
  expect(
    indices: Iterable<number>,
    extensions?: readonly string[],
  ): number {
    const known = [...indices].filter((index) => this.#files.hasSample(index));
    const places = this.#partsOf(known, extensions)
      .flatMap((parts) => parts.map(({ file }) => file));
    return expectContents({
      sources: this.#files.sources,
      length: places.length,
      locate: (i, into) => this.#files.locate(places[i]!, into),
    });
  }

  /**
   * The tar that a sample lies in.
   *
   * @throws {IndexError} If there is no such sample.
   */
  fileOf(index: number): string {
    this.#requireSample(index);
    return this.#files.tarOf(index);
  }

  /** Closes the tars. What was read stays valid. */
  close(): void {
    for (const tree of this.#trees) tree.close();
  }

  /** Closes the tars at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #partsOf(
    indices: readonly number[],
    extensions: readonly string[] | undefined,
  ): SamplePart[][] {
    return indices.map((index) => {
      this.#requireSample(index);
      const parts = this.#files.parts(index);
      return extensions === undefined
        ? parts
        : parts.filter(({ extension }) => extensions.includes(extension));
    });
  }

  #requireSample(index: number): void {
    if (this.#files.hasSample(index)) return;
    throw new IndexError(index, this.sampleCount, nameOfFiles(this.paths));
  }

  #readNames(
    names: readonly string[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const files = names.map((name) => {
      const file = this.#files.find(encodeName(name));
      if (file !== undefined) return file;
      throw new PathError("not-found", name, this.paths.join(", "));
    });
    return this.#readFiles(files, memory);
  }

  #readFiles(
    files: readonly number[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    return readContents({
      sources: this.#files.sources,
      length: files.length,
      locate: (i, into) => this.#files.locate(files[i]!, into),
    }, memory);
  }
}

function* openTars(
  location: string | URL,
  options: TarOptions,
): Steps<TarReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* tarPaths(path, storage);
  const { trees, guess, isGrouped } = yield* openTrees(paths, storage, options);
  const { onWarning = warnOnConsole } = options;
  for (const note of guess.notes(isGrouped)) onWarning(`${path}: ${note}`);
  return new TarReader(trees, storage);
}

/** Tars for another thread: their tables are in memory that threads share. */
type TarsHandle = readonly TarFacts[];

/** Describes opened tars for another thread. */
function shareTars(trees: readonly TarTree[]): TarsHandle {
  return trees.map(({ facts }) => facts);
}

/**
 * Opens tars that another thread has opened, over its tables.
 *
 * @throws {FormatError} If one is not the same any more.
 */
function* reopenTars(
  handle: TarsHandle,
  storage: Storage,
): Steps<TarTree[]> {
  const sources = yield* reopenSources(storage, handle);
  return handle.map((facts, i) =>
    new TarTree(facts, { archive: sources[i]!, storage })
  );
}
