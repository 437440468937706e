import { FormatError, PathError } from "../../../base/errors.ts";
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
import type { Storage } from "../../../io/storage/storage.ts";
import { encodeName } from "../../../base/names.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import { expectContents, readContents } from "../../../tree/read_contents.ts";
import { type NodeId, ROOT, type TreeHandle } from "../../../tree/tree.ts";
import { openTree } from "../tree/open_zip.ts";
import { reopenTree, type ZipTree } from "../tree/zip_tree.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** How a {@linkcode ZipReader} opens its zip. */
export type ZipOptions = Pick<
  ContainerOptions,
  "checkData" | "onWarning" | "remote" | "storage"
>;

/** What another thread needs to open the zip of a reader: it survives `postMessage`, without copying tables. */
export interface ZipReaderHandle {
  /** The zip, and its tables in shared memory. */
  readonly zip: unknown;
  /** Whether contents are compared with their CRC-32. */
  readonly checkData: boolean;
}

const SLASH = 0x2f;

/**
 * Reads the files of a zip: also of what is one under another name, as `.npz`, `.docx` or `.jar`. Any file is read
 * without those before it; those that are compressed are decompressed, and kept for a while.
 *
 * @example Read files
 * ```ts
 * import { ZipReader } from "@recordfs/recordfs/zip";
 * import assert from "node:assert/strict";
 *
 * using reader = await ZipReader.open("test/golden/zip/python/t.zip");
 * const [name] = reader.names;
 * const content = await reader.read(name!);
 * assert.equal(content.length, reader.size(name!));
 * ```
 */
export class ZipReader implements Disposable {
  readonly #tree: ZipTree;
  readonly #checkData: boolean;
  /** Per file: its record. */
  readonly #records: Uint32Array;

  /** @ignore Readers are made by `open`. */
  constructor(tree: ZipTree, checkData: boolean) {
    this.#tree = tree;
    this.#checkData = checkData;
    const { nodes } = tree.columns;
    this.#records = Uint32Array.from(nodes.keys()).filter((record) =>
      nodes[record]! > 0 && tree.fileOf(nodes[record]!) >= 0
    );
  }

  /**
   * Opens a zip.
   *
   * @throws {FormatError} If it is damaged, so that members cannot be found.
   */
  static async open(
    location: string | URL,
    options: ZipOptions & WaitOptions = {},
  ): Promise<ZipReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /** {@linkcode ZipReader.open} without waiting. */
  static openSync(
    location: string | URL,
    options: ZipOptions = {},
  ): ZipReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the zip of a reader in another thread, over the tables that it has read.
   *
   * @param handle What {@linkcode ZipReader.share} gave.
   * @throws {FormatError} If the zip is not the same any more.
   */
  static async openShared(
    { zip, checkData }: ZipReaderHandle,
  ): Promise<ZipReader> {
    return new ZipReader(await reopenTree(zip, true), checkData);
  }

  /** Describes the reader for {@linkcode ZipReader.openShared}. */
  share(): ZipReaderHandle {
    const { data }: TreeHandle = this.#tree.share();
    return { zip: data, checkData: this.#checkData };
  }

  /** Path of the zip. */
  get path(): string {
    return this.#tree.archive.name;
  }

  /** Where the zip lies. */
  get storage(): Storage {
    return this.#tree.storage;
  }

  /** Number of files; links to files are some as well. */
  get length(): number {
    return this.#records.length;
  }

  /** Paths of the files, in the order in which they were packed. A new array at each access. */
  get names(): string[] {
    return Array.from(this.#records, (record) => this.#tree.pathOf(record));
  }

  /**
   * Bytes of a file.
   *
   * @throws {PathError} If there is no such file.
   */
  size(name: string): number {
    return this.#tree.columns.sizes[this.#recordOf(name)]!;
  }

  /**
   * Reads a file, or a batch of files: in the order in which they lie.
   *
   * @param name A path, or several in any order.
   * @throws {PathError} If there is no such file.
   * @throws {FormatError} If a content is damaged, or cannot be read, as one that is encrypted: `member` names it.
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
    const read = await runAsync(this.#read(names, memory), signal);
    return typeof name === "string" ? read[0]! : read;
  }

  /** {@linkcode ZipReader.read} without waiting. */
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
    const read = runSync(this.#read(names, memory));
    return typeof name === "string" ? read[0]! : read;
  }

  /**
   * Says that files will be read soon: where the zip lies on a server, they are fetched meanwhile.
   *
   * @returns How many bytes are fetched, or have been; 0 where the zip is local.
   */
  expect(names: readonly string[]): number {
    const records = names.map((name) => this.#recordOf(name));
    return expectContents({
      sources: this.#tree.sources,
      length: records.length,
      locate: (i, into) => this.#tree.locateRecord(records[i]!, into),
    });
  }

  /** Closes the zip. What was read stays valid. */
  close(): void {
    this.#tree.close();
  }

  /** Closes the zip at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #recordOf(name: string): number {
    const path = encodeName(name);
    let node: NodeId = ROOT;
    for (let start = 0; start <= path.length && node !== 0;) {
      const slash = path.indexOf(SLASH, start);
      const end = slash < 0 ? path.length : slash;
      if (end > start) node = this.#tree.lookup(node, path, start, end);
      if (end < path.length && this.#tree.isLink?.(node) === true) {
        node = this.#tree.target!(node);
      }
      start = end + 1;
    }
    const record = this.#tree.fileOf(node);
    if (record >= 0) return record;
    throw new PathError("not-found", name, this.path);
  }

  #read(
    names: readonly string[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const records = names.map((name) => this.#recordOf(name));
    return readContents({
      sources: this.#tree.sources,
      length: records.length,
      locate: (i, into) => this.#tree.locateRecord(records[i]!, into),
      mismatch: this.#checkData
        ? (i, expected, actual) => this.#mismatch(names[i]!, expected, actual)
        : undefined,
    }, memory);
  }

  #mismatch(name: string, expected: number, actual: number): FormatError {
    return memberError(
      "sample-checksum",
      this.path,
      name,
      "does not match its CRC-32: its bytes are not those that were packed; fetch the zip again, or read it as it " +
        "is with the option `checkData: false`",
      { expected, actual },
    );
  }
}

function* openReader(
  location: string | URL,
  options: ZipOptions,
): Steps<ZipReader> {
  const { path, storage } = lastingAt(location, options);
  const tree = yield* openTree(path, storage, options);
  return new ZipReader(tree, options.checkData ?? true);
}
