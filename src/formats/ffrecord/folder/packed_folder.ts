import { PathError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { runAsync, runSync } from "../../../io/concurrency/steps.ts";
import { decodeName, encodeName, partsOf } from "../../../base/names.ts";
import { type NodeId, ROOT } from "../../../tree/tree.ts";
import { openPackedFiles, type PackedFiles } from "./packed_files.ts";
import { FFRecordSamples } from "../read/ffrecord_samples.ts";
import { FFRecordReader } from "../read/reader.ts";
import type { OpenOptions, RecordLocation } from "../read/record_files.ts";

/**
 * Folder packed into FFRecord files (Python's `ffrecord.PackedFolder`).
 *
 * Paths are relative to the packed folder. `a//b`, `./a` and `a/` mean the same as on disk; `..` is not resolved, and
 * absolute paths do not exist, as in Python. Only `list` takes a leading slash, as all lists do.
 *
 * @example Read files from a packed folder
 * ```ts
 * import { PackedFolder } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * using folder = await PackedFolder.open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * assert.equal(folder.numFiles, 44);
 * assert.ok(folder.isDir("words"));
 * const [dots, dash] = await folder.read(["...", "-dash"]);
 * assert.equal(dots?.length, 28);
 * assert.equal(dash?.length, 13);
 * ```
 */
export class PackedFolder implements Disposable {
  readonly #packed: PackedFiles;
  readonly #reader: FFRecordReader;

  private constructor(
    packed: PackedFiles,
    { checkData = true }: OpenOptions,
  ) {
    this.#packed = packed;
    const samples = new FFRecordSamples(packed.files, checkData, false);
    this.#reader = new FFRecordReader(samples);
  }

  /**
   * Opens a packed folder.
   *
   * @param location A file, or the files or directory that the folder is spread over.
   * @throws {FormatError} If it is not a packed folder, is damaged, or hostile.
   */
  static async open(
    location: RecordLocation,
    options: OpenOptions & WaitOptions = {},
  ): Promise<PackedFolder> {
    const opening = openPackedFiles(location, options);
    return new PackedFolder(await runAsync(opening, options.signal), options);
  }

  /** {@linkcode PackedFolder.open}, synchronously. */
  static openSync(
    location: RecordLocation,
    options: OpenOptions = {},
  ): PackedFolder {
    return new PackedFolder(
      runSync(openPackedFiles(location, options)),
      options,
    );
  }

  /** Number of packed files (Python's `num_files`). */
  get numFiles(): number {
    return this.#reader.length - 1;
  }

  /**
   * Lists a folder in packing order, which is by code point.
   *
   * @param path The folder, with or without a leading slash; the root by default.
   * @returns Names; with `recursive`, paths relative to the folder, each folder before its content.
   * @throws {PathError} If there is no such folder.
   */
  list(
    path = "",
    options: {
      /** Whether files are listed. Defaults to `true`. */
      readonly files?: boolean | undefined;
      /** Whether folders are listed. Defaults to `true`. */
      readonly dirs?: boolean | undefined;
      /** Whether folders are listed recursively. Defaults to `false`. */
      readonly recursive?: boolean | undefined;
    } = {},
  ): string[] {
    const { files = true, dirs = true, recursive = false } = options;
    const { names } = this.#packed;
    const listed: string[] = [];
    // A loop, not recursion: folders may nest deeper than the call stack.
    const stack = [{
      node: this.#folder(path.replace(/^\/+/, "")),
      prefix: "",
      cursor: 0,
    }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { node, prefix, cursor } = top;
      let into: { node: NodeId; prefix: string; cursor: number } | undefined;
      names.list(node, cursor, (bytes, start, end, child, next) => {
        const isDir = names.isDirectory(child);
        const entry = prefix + decodeName(bytes, start, end);
        if (isDir ? dirs : files) listed.push(entry);
        if (!isDir || !recursive) return true;
        top!.cursor = next;
        into = { node: child, prefix: `${entry}/`, cursor: 0 };
        return false;
      });
      if (into === undefined) stack.pop();
      else stack.push(into);
    }
    return listed;
  }

  /** Whether there is a file or folder at `path`. */
  exists(path: string): boolean {
    return this.#find(path) !== 0;
  }

  /** Whether there is a file at `path` (Python's `is_file`). */
  isFile(path: string): boolean {
    return this.#packed.names.record(this.#find(path)) >= 0;
  }

  /** Whether there is a folder at `path` (Python's `is_dir`). */
  isDir(path: string): boolean {
    return this.#packed.names.isDirectory(this.#find(path));
  }

  /**
   * Reads a file, or a batch of files at once.
   *
   * @param path A path, or several in any order.
   * @returns The content, or the contents in the order of the paths.
   * @throws {PathError} If there is no such file.
   * @throws {FormatError} If its content is damaged.
   */
  read(path: string, options?: WaitOptions): Promise<Uint8Array>;
  /** Reads a batch of files. */
  read(
    paths: readonly string[],
    options?: WaitOptions,
  ): Promise<Uint8Array[]>;
  async read(
    path: string | readonly string[],
    options: WaitOptions = {},
  ): Promise<Uint8Array | Uint8Array[]> {
    return typeof path === "string"
      ? await this.#reader.readOne(this.#sample(path), options)
      : await this.#reader.read(path.map((one) => this.#sample(one)), options);
  }

  /** {@linkcode PackedFolder.read}, synchronously. */
  readSync(path: string): Uint8Array;
  /** Reads a batch of files synchronously. */
  readSync(paths: readonly string[]): Uint8Array[];
  readSync(path: string | readonly string[]): Uint8Array | Uint8Array[] {
    return typeof path === "string"
      ? this.#reader.readOneSync(this.#sample(path))
      : this.#reader.readSync(path.map((one) => this.#sample(one)));
  }

  /** Reads one file (Python's `read_one`). */
  readOne(path: string, options: WaitOptions = {}): Promise<Uint8Array> {
    return this.read(path, options);
  }

  /** {@linkcode PackedFolder.readOne}, synchronously. */
  readOneSync(path: string): Uint8Array {
    return this.readSync(path);
  }

  /**
   * Returns a view of a file in a memory map, without copying. {@linkcode FFRecordReader.unsafeView} says what is
   * unsafe about it.
   *
   * @throws {PathError} If there is no such file.
   * @throws {FormatError} If its content is damaged.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped; use `read` then.
   */
  unsafeView(path: string): Uint8Array<ArrayBuffer> {
    return this.#reader.unsafeView(this.#sample(path));
  }

  /** Closes the files. Contents that were read, and views, stay valid. */
  close(): void {
    this.#reader.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #find(path: string): NodeId {
    if (path.startsWith("/")) return 0;
    let node = ROOT;
    for (const part of partsOf(path)) {
      const name = encodeName(part);
      node = this.#packed.names.lookup(node, name, 0, name.length);
      if (node === 0) return 0;
    }
    return node;
  }

  #folder(path: string): NodeId {
    const node = this.#find(path);
    if (this.#packed.names.isDirectory(node)) return node;
    throw this.#pathError(node === 0 ? "not-found" : "not-directory", path);
  }

  #sample(path: string): number {
    const node = this.#find(path);
    const sample = this.#packed.names.record(node);
    if (sample >= 0) return sample;
    throw this.#pathError(node === 0 ? "not-found" : "is-directory", path);
  }

  #pathError(code: PathError["code"], path: string): PathError {
    return new PathError(code, path, this.#packed.files.index.name);
  }
}
