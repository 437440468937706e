import { encodeName } from "../../base/names.ts";
import { type FormatError, PathError } from "../../base/errors.ts";
import { runAsync, runSync, type Steps } from "../../io/concurrency/steps.ts";
import type { BatchReadOptions, BatchRoom } from "../../io/read/read_memory.ts";
import type { SourceList } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { expectContents, readContents } from "../read_contents.ts";
import type { Extent } from "../tree.ts";

/** Numbered files of one or more archives. */
export interface Members {
  /** Paths of the archives, in order. */
  readonly paths: readonly string[];
  readonly storage: Storage;
  readonly sources: SourceList;
  /** Number of files. */
  readonly length: number;
  /** Returns their paths, in the order in which they were packed. */
  listNames(): string[];
  /** Returns the number of the file at a path, or -1. */
  find(path: Uint8Array): number;
  /**
   * Locates the content of a file.
   *
   * @throws {NotLoaded} If the location is not loaded yet.
   * @throws {FormatError} If the file cannot be read.
   */
  locate(file: number, into: Extent): void;
  /** Makes the error for a CRC-32 mismatch. If absent, none is verified. */
  readonly mismatch?:
    | ((name: string, expected: number, actual: number) => FormatError)
    | undefined;
  close(): void;
}

/** Reads the files of archives by their paths. */
export class MembersReader implements Disposable {
  readonly #members: Members;

  /** @ignore Readers are made by `open`. */
  constructor(members: Members) {
    this.#members = members;
  }

  /** Paths of the archives, in order. */
  get paths(): readonly string[] {
    return this.#members.paths;
  }

  /** Storage of the archives. */
  get storage(): Storage {
    return this.#members.storage;
  }

  /** Number of files, including links to files. */
  get length(): number {
    return this.#members.length;
  }

  /** Paths of the files, in the order in which they were packed. A new array at each access. */
  get names(): string[] {
    return this.#members.listNames();
  }

  /**
   * Reads a file, or a batch of files in storage order, adjacent ones in one request.
   *
   * @param name A path, or several in any order. With several archives, the first that contains it is used.
   * @throws {PathError} If a file does not exist.
   * @throws {FormatError} If a content is damaged or cannot be read, for example because it is encrypted; `member`
   *   names it.
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

  /** {@linkcode MembersReader.read} without waiting. */
  readSync(
    name: string,
    options?: Pick<BatchReadOptions, "memory">,
  ): Uint8Array;
  /** Reads a batch of files without waiting. */
  readSync(
    names: readonly string[],
    options?: Pick<BatchReadOptions, "memory">,
  ): Uint8Array[];
  readSync(
    name: string | readonly string[],
    { memory }: Pick<BatchReadOptions, "memory"> = {},
  ): Uint8Array | Uint8Array[] {
    const names = typeof name === "string" ? [name] : name;
    const read = runSync(this.#read(names, memory));
    return typeof name === "string" ? read[0]! : read;
  }

  /**
   * Hints that files will be read soon: files on a server are prefetched.
   *
   * @returns Number of bytes in flight or already fetched; 0 if the archives are local.
   * @throws {PathError} If a file does not exist.
   */
  expect(names: readonly string[]): number {
    return expectContents(this.#contentsOf(names));
  }

  /** Closes the archives. Contents that were read stay valid. */
  close(): void {
    this.#members.close();
  }

  /** Closes the archives at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * @ignore Returns the number of a file.
   * @throws {PathError} If the file does not exist.
   */
  protected fileAt(name: string): number {
    const file = this.#members.find(encodeName(name));
    if (file >= 0) return file;
    throw new PathError("not-found", name, this.paths.join(", "));
  }

  #contentsOf(names: readonly string[]) {
    const members = this.#members;
    const files = names.map((name) => this.fileAt(name));
    return {
      sources: members.sources,
      length: files.length,
      locate: (i: number, into: Extent) => members.locate(files[i]!, into),
    };
  }

  #read(
    names: readonly string[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const { mismatch } = this.#members;
    return readContents({
      ...this.#contentsOf(names),
      mismatch: mismatch &&
        ((i, expected, actual) => mismatch(names[i]!, expected, actual)),
    }, memory);
  }
}
