import type { Samples } from "../samples/samples.ts";
import { type FormatError, PathError } from "../../base/errors.ts";
import { runAsync, runSync, type Steps } from "../../io/concurrency/steps.ts";
import type { BatchReadOptions, BatchRoom } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { Container, ContainerInfo } from "../format.ts";
import {
  type Extent,
  newExtent,
  newStat,
  type NodeId,
  type Tree,
} from "../tree.ts";
import { statFile } from "../file_links.ts";
import { whenLoaded } from "../not_loaded.ts";
import { findNode, normalise } from "./paths.ts";
import {
  contentStream,
  isBatch,
  locateFile,
  readExtent,
  readFileNow,
  readFiles,
} from "./read_files.ts";
import { pathOf, type WalkEntry, walkEntry, Walker } from "./walk.ts";

/**
 * A container as a read-only filesystem.
 *
 * Paths start at the container's root, with or without a leading slash; empty parts and `.` are ignored, and `..` is
 * not resolved. `stat` and methods that read files also take an entry of a walk, which saves the lookup. Methods
 * without `Sync` wait without blocking; those with it work if the container is on a local disk.
 *
 * @example Read a batch and a range
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using fs = await open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * const files = [];
 * for await (const entry of fs.walk("/")) if (entry.isFile) files.push(entry.path);
 * const contents = await fs.read(files);
 * assert.equal(contents.length, 44);
 * const { size } = await fs.stat(files[2]!);
 * assert.deepEqual(await fs.readRange(files[2]!, 5, size), contents[2]!.subarray(5));
 * ```
 */
export class VirtualFs implements Disposable {
  /** Path of the container. */
  readonly location: string;
  /** @ignore Samples, if the format has any. */
  readonly samples: Samples | undefined;
  /** @ignore Samples that the tree shows, if not all. */
  readonly subset: Container["subset"];
  /** Facts about the container. */
  readonly info: ContainerInfo;
  /** Underlying tree, which a mount serves. */
  readonly tree: Tree;
  /** Whether files read whole are verified against their checksums. */
  readonly checkData: boolean;

  /**
   * Wraps an opened container; {@linkcode open} opens one.
   *
   * @param location Path of the container, for messages.
   * @param container The opened container.
   * @param checkData Whether to verify checksums of files read whole.
   */
  constructor(location: string, container: Container, checkData: boolean) {
    this.location = location;
    this.tree = container.tree;
    this.samples = container.samples;
    this.subset = container.subset;
    this.info = container.info;
    this.checkData = checkData;
  }

  /** Archive members that no path leads to: the first 10,000 of each archive. `info.facts.skipped` counts them all. */
  get skipped(): NonNullable<ContainerInfo["skipped"]> {
    return this.info.skipped ?? [];
  }

  /**
   * Lists the names in a directory, in the container's order.
   *
   * @throws {PathError} If the directory does not exist.
   */
  list(path = "", options: WaitOptions = {}): Promise<string[]> {
    return runAsync(this.#list(path), options.signal);
  }

  /** {@linkcode VirtualFs.list} without waiting. */
  listSync(path = ""): string[] {
    return runSync(this.#list(path));
  }

  /**
   * Reads the metadata of a file or directory.
   *
   * @throws {PathError} If there is none at `path`.
   * @throws {FormatError} If the container is damaged there.
   */
  stat(
    path: string | WalkEntry,
    options: WaitOptions = {},
  ): Promise<{
    /** Whether it is a file. */
    readonly isFile: boolean;
    /** Whether it is a directory. */
    readonly isDirectory: boolean;
    /** Size in bytes; 0 for a directory. */
    readonly size: number;
    /** Modification time: that of the file if the container stores it, otherwise that of the container. */
    readonly mtime: Date;
    /** Inode number in a mount. */
    readonly ino: number;
  }> {
    return runAsync(this.#stat(path), options.signal);
  }

  /** {@linkcode VirtualFs.stat} without waiting. */
  statSync(
    path: string | WalkEntry,
  ): Awaited<ReturnType<VirtualFs["stat"]>> {
    return runSync(this.#stat(path));
  }

  /** Whether there is a file or directory at `path`. */
  async exists(path: string, options: WaitOptions = {}): Promise<boolean> {
    return await runAsync(findNode(this.tree, path), options.signal) !== 0;
  }

  /** {@linkcode VirtualFs.exists} without waiting. */
  existsSync(path: string): boolean {
    return runSync(findNode(this.tree, path)) !== 0;
  }

  /** Whether there is a file at `path`. */
  isFile(path: string, options: WaitOptions = {}): Promise<boolean> {
    return runAsync(this.#is(path, false), options.signal);
  }

  /** {@linkcode VirtualFs.isFile} without waiting. */
  isFileSync(path: string): boolean {
    return runSync(this.#is(path, false));
  }

  /** Whether there is a directory at `path`. */
  isDir(path: string, options: WaitOptions = {}): Promise<boolean> {
    return runAsync(this.#is(path, true), options.signal);
  }

  /** {@linkcode VirtualFs.isDir} without waiting. */
  isDirSync(path: string): boolean {
    return runSync(this.#is(path, true));
  }

  /**
   * Reads a file, or a batch of files in storage order, adjacent ones in one request.
   *
   * @param path A path or entry, or several in any order, repeats allowed.
   * @returns The content, or the contents in the order of the paths, in new memory unless `options.memory` is given.
   * @throws {PathError} If a file does not exist.
   * @throws {FormatError} If a content is damaged.
   */
  read(
    path: string | WalkEntry,
    options?: BatchReadOptions,
  ): Promise<Uint8Array>;
  /** Reads a batch of files. */
  read(
    paths: readonly (string | WalkEntry)[],
    options?: BatchReadOptions,
  ): Promise<Uint8Array[]>;
  read(
    path: string | WalkEntry | readonly (string | WalkEntry)[],
    options: BatchReadOptions = {},
  ): Promise<Uint8Array | Uint8Array[]> {
    return runAsync(this.#readAny(path, options), options.signal);
  }

  /** {@linkcode VirtualFs.read} without waiting. */
  readSync(
    path: string | WalkEntry,
    options?: Pick<BatchReadOptions, "memory">,
  ): Uint8Array;
  /** Reads a batch of files without waiting. */
  readSync(
    paths: readonly (string | WalkEntry)[],
    options?: Pick<BatchReadOptions, "memory">,
  ): Uint8Array[];
  readSync(
    path: string | WalkEntry | readonly (string | WalkEntry)[],
    options: Pick<BatchReadOptions, "memory"> = {},
  ): Uint8Array | Uint8Array[] {
    const content = options.memory ? undefined : readFileNow(this, path);
    return content ?? runSync(this.#readAny(path, options));
  }

  /**
   * Reads part of a file. Checksums cover whole files and are not verified.
   *
   * @param offset In bytes, from the start of the file.
   * @param length In bytes; a range beyond the end of the file is truncated.
   */
  readRange(
    path: string | WalkEntry,
    offset: number,
    length: number,
    options: WaitOptions = {},
  ): Promise<Uint8Array> {
    return runAsync(this.#readRange(path, offset, length), options.signal);
  }

  /** {@linkcode VirtualFs.readRange} without waiting. */
  readRangeSync(
    path: string | WalkEntry,
    offset: number,
    length: number,
  ): Uint8Array {
    return runSync(this.#readRange(path, offset, length));
  }

  /**
   * Streams a file's content, for files of any size. The checksum is verified at the end: a damaged file ends in an
   * error instead of `done`.
   *
   * @throws {PathError} If the file does not exist.
   */
  async stream(
    path: string | WalkEntry,
    options: WaitOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const extent = await runAsync(this.#locate(path), options.signal);
    return contentStream(this, extent, pathOf(path), options.signal);
  }

  /**
   * Walks a directory depth first, in the container's order, each directory before its contents.
   *
   * @throws {PathError} If the directory does not exist.
   */
  async *walk(
    path = "",
    options: WaitOptions & {
      /** Maximum depth: 1 for the entries of the directory itself. Defaults to no limit. */
      readonly maxDepth?: number | undefined;
      /**
       * Called with each directory that cannot be listed completely because the container is damaged there; the walk
       * continues after it. Without it, the walk ends with that error.
       */
      readonly onDamage?:
        | ((error: FormatError, path: string) => void)
        | undefined;
    } = {},
  ): AsyncGenerator<WalkEntry, void, undefined> {
    const walker = await runAsync(this.#walker(path, options), options.signal);
    for (;;) {
      const page = await runAsync(walker.nextPage(), options.signal);
      if (page.length === 0) return;
      for (const entry of page) yield walkEntry(entry);
    }
  }

  /** {@linkcode VirtualFs.walk} without waiting. */
  *walkSync(
    path = "",
    options: Omit<Parameters<VirtualFs["walk"]>[1] & object, "signal"> = {},
  ): Generator<WalkEntry, void, undefined> {
    const walker = runSync(this.#walker(path, options));
    for (;;) {
      const page = runSync(walker.nextPage());
      if (page.length === 0) return;
      for (const entry of page) yield walkEntry(entry);
    }
  }

  /** Returns a file as the location of a container, for `open` and other functions that open one. */
  file(
    path: string | WalkEntry,
  ): { readonly container: VirtualFs; readonly path: string } {
    return { container: this, path: pathOf(path) };
  }

  /** Closes the container's files. */
  close(): void {
    this.tree.close();
  }

  /** Closes the container's files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#walker(
    path: string,
    { maxDepth = Infinity, onDamage }: WalkOptions,
  ): Steps<Walker> {
    if (!(maxDepth >= 1)) {
      throw new RangeError(`maxDepth must be at least 1, not ${maxDepth}`);
    }
    const node = yield* this.#directory(path);
    return new Walker(this.tree, node, normalise(path), maxDepth, onDamage);
  }

  *#list(path: string): Steps<string[]> {
    const walker = yield* this.#walker(path, { maxDepth: 1 });
    const names: string[] = [];
    for (;;) {
      const page = yield* walker.nextPage();
      if (page.length === 0) return names;
      for (const { name } of page) names.push(name);
    }
  }

  *#stat(path: string | WalkEntry): Steps<VirtualStat> {
    const node = yield* this.#find(path);
    const stat = newStat();
    if (
      node === 0 || !(yield* whenLoaded(() => statFile(this.tree, node, stat)))
    ) {
      throw new PathError("not-found", pathOf(path), this.location);
    }
    return {
      isFile: !stat.isDirectory,
      isDirectory: stat.isDirectory,
      size: stat.size,
      mtime: new Date(stat.mtime),
      ino: node,
    };
  }

  *#readAny(
    path: string | WalkEntry | readonly (string | WalkEntry)[],
    { memory }: Pick<BatchReadOptions, "memory">,
  ): Steps<Uint8Array | Uint8Array[]> {
    return isBatch(path)
      ? yield* this.#read(path, memory)
      : (yield* this.#read([path], memory))[0]!;
  }

  *#readRange(
    path: string | WalkEntry,
    offset: number,
    length: number,
  ): Steps<Uint8Array> {
    for (const [name, value] of Object.entries({ offset, length })) {
      if (Number.isSafeInteger(value) && value >= 0) continue;
      throw new RangeError(`${name} must be an integer ≥ 0, not ${value}`);
    }
    const extent = yield* this.#locate(path);
    const start = Math.min(offset, extent.length);
    const size = Math.min(length, extent.length - start);
    return yield* readExtent(this.tree, extent, start, size);
  }

  *#read(
    paths: readonly (string | WalkEntry)[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array[]> {
    const nodes: NodeId[] = [];
    for (const path of paths) {
      nodes.push(typeof path === "string" ? yield* this.#find(path) : path.ino);
    }
    return yield* readFiles(this, nodes, (i) => pathOf(paths[i]!), memory);
  }

  /** Locates a file's content; `offset` is relative to `bytes` if those are set. */
  *#locate(path: string | WalkEntry): Steps<Extent> {
    const node = yield* this.#find(path);
    const extent = newExtent();
    yield* whenLoaded(() => locateFile(this, node, () => pathOf(path), extent));
    return extent;
  }

  *#find(path: string | WalkEntry): Steps<NodeId> {
    return typeof path === "string"
      ? yield* findNode(this.tree, path)
      : path.ino;
  }

  *#is(path: string, directory: boolean): Steps<boolean> {
    const node = yield* findNode(this.tree, path);
    const is = yield* whenLoaded(() => this.tree.isDirectory(node));
    return node !== 0 && is === directory;
  }

  *#directory(path: string): Steps<NodeId> {
    const node = yield* findNode(this.tree, path);
    if (yield* whenLoaded(() => this.tree.isDirectory(node))) return node;
    const code = node === 0 ? "not-found" : "not-directory";
    throw new PathError(code, path, this.location);
  }
}

/** Result of {@linkcode VirtualFs.stat}. */
export type VirtualStat = Awaited<ReturnType<VirtualFs["stat"]>>;

/** Options of {@linkcode VirtualFs.walk}. */
export type WalkOptions = NonNullable<Parameters<VirtualFs["walk"]>[1]>;
