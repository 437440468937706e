import type { FormatError } from "../../../base/errors.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  SourceList,
  WaitOptions,
} from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import {
  type Members,
  MembersReader,
} from "../../../tree/archive/members_reader.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { Extent } from "../../../tree/tree.ts";
import { openTree } from "../tree/open_zip.ts";
import { reopenTree, type ZipTree } from "../tree/zip_tree.ts";

/** Options for opening a {@linkcode ZipReader}. */
export type ZipOptions = Pick<
  ContainerOptions,
  "checkData" | "onWarning" | "remote" | "storage"
>;

/** Handle of a reader for another thread: it survives `postMessage`, without copying tables. */
export interface ZipReaderHandle {
  /** The zip, and its tables in shared memory. */
  readonly zip: unknown;
  /** Whether contents are compared with their CRC-32. */
  readonly checkData: boolean;
}

/**
 * Reads the files of a zip, including those under other names, such as `.npz`, `.docx` or `.jar`. Reads any file
 * without those before it. Decompresses files and caches them for a while.
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
export class ZipReader extends MembersReader {
  readonly #files: ZipFiles;

  private constructor(files: ZipFiles) {
    super(files);
    this.#files = files;
  }

  static *#open(location: string | URL, options: ZipOptions): Steps<ZipReader> {
    const { path, storage } = lastingAt(location, options);
    const tree = yield* openTree(path, storage, options);
    return new ZipReader(new ZipFiles(tree, options.checkData ?? true));
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
    return await runAsync(ZipReader.#open(location, options), options.signal);
  }

  /** Synchronous version of {@linkcode ZipReader.open}. */
  static openSync(
    location: string | URL,
    options: ZipOptions = {},
  ): ZipReader {
    return runSync(ZipReader.#open(location, options));
  }

  /**
   * Opens the zip of a reader in another thread, using the tables that it has read.
   *
   * @param handle Result of {@linkcode ZipReader.share}.
   * @throws {FormatError} If the zip has changed.
   */
  static async openShared(
    { zip, checkData }: ZipReaderHandle,
  ): Promise<ZipReader> {
    return new ZipReader(new ZipFiles(await reopenTree(zip, true), checkData));
  }

  /** Returns a handle of the reader for {@linkcode ZipReader.openShared}. */
  share(): ZipReaderHandle {
    const { tree, checkData } = this.#files;
    return { zip: tree.share().data, checkData };
  }

  /** Path of the zip. */
  get path(): string {
    return this.#files.tree.archive.name;
  }

  /**
   * Returns the bytes of a file.
   *
   * @throws {PathError} If there is no such file.
   */
  size(name: string): number {
    return this.#files.tree.columns.sizes[this.fileAt(name)]!;
  }
}

/** Files of a zip, by record. */
class ZipFiles implements Members {
  readonly tree: ZipTree;
  readonly checkData: boolean;
  readonly paths: readonly string[];
  readonly storage: Storage;
  readonly sources: SourceList;
  readonly mismatch: Members["mismatch"];
  readonly #records: Uint32Array;

  /** @param checkData Whether contents are compared with their CRC-32. */
  constructor(tree: ZipTree, checkData: boolean) {
    this.tree = tree;
    this.checkData = checkData;
    this.paths = [tree.archive.name];
    this.storage = tree.storage;
    this.sources = tree.sources;
    if (checkData) this.mismatch = mismatchIn(tree.archive.name);
    const { nodes } = tree.columns;
    this.#records = Uint32Array.from(nodes.keys()).filter((record) =>
      nodes[record]! > 0 && tree.fileOf(nodes[record]!) >= 0
    );
  }

  get length(): number {
    return this.#records.length;
  }

  listNames(): string[] {
    return Array.from(this.#records, (record) => this.tree.pathOf(record));
  }

  find(path: Uint8Array): number {
    return this.tree.fileOf(this.tree.nodeAt(path));
  }

  locate(record: number, into: Extent): void {
    this.tree.locateRecord(record, into);
  }

  close(): void {
    this.tree.close();
  }
}

function mismatchIn(path: string) {
  return (name: string, expected: number, actual: number): FormatError =>
    memberError(
      "sample-checksum",
      path,
      name,
      "checksum mismatch (CRC-32): the zip is damaged. Download it again, or read it " +
        "unchecked with the option `checkData: false`",
      { expected, actual },
    );
}
