import { encodeName } from "../../base/names.ts";
import { type FormatError, PathError } from "../../base/errors.ts";
import { runAsync, runSync, type Steps } from "../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../io/read/read_memory.ts";
import type { SourceList } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { expectContents, readContents } from "../read_contents.ts";
import type { Extent } from "../tree.ts";

/** The files of an archive, or of several: each has a number. */
export interface Members {
  /** Paths of the archives, in their order. */
  readonly paths: readonly string[];
  /** Where the archives lie. */
  readonly storage: Storage;
  /** What the contents lie in. */
  readonly sources: SourceList;
  /** How many there are. */
  readonly length: number;
  /** Lists their paths, in the order in which they were packed. */
  listNames(): string[];
  /** Returns the number of the file at a path, or -1. */
  find(path: Uint8Array): number;
  /**
   * Says where the content of a file is.
   *
   * @throws {NotLoaded} If it has to be waited for.
   * @throws {FormatError} If it cannot be read.
   */
  locate(file: number, into: Extent): void;
  /** Makes the error of a content whose CRC-32 is not the recorded one; unless given, none is compared. */
  readonly mismatch?:
    | ((name: string, expected: number, actual: number) => FormatError)
    | undefined;
  /** Closes the archives. */
  close(): void;
}

/** Reads the files of archives by their paths. */
export class MembersReader implements Disposable {
  readonly #members: Members;

  /** @ignore Readers are made by `open`. */
  constructor(members: Members) {
    this.#members = members;
  }

  /** Paths of the archives, in their order. */
  get paths(): readonly string[] {
    return this.#members.paths;
  }

  /** Where the archives lie. */
  get storage(): Storage {
    return this.#members.storage;
  }

  /** Number of files; links to files are some as well. */
  get length(): number {
    return this.#members.length;
  }

  /** Paths of the files, in the order in which they were packed. A new array at each access. */
  get names(): string[] {
    return this.#members.listNames();
  }

  /**
   * Reads a file, or a batch of files: in the order in which they lie, neighbours in one go.
   *
   * @param name A path, or several in any order. In several archives, the first that has it.
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

  /** {@linkcode MembersReader.read} without waiting. */
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
   * Hints that files will be read soon: where the archives lie on a server, they are fetched meanwhile.
   *
   * @returns How many bytes are fetched, or have been; 0 where the archives are local.
   * @throws {PathError} If there is no such file.
   */
  expect(names: readonly string[]): number {
    return expectContents(this.#contentsOf(names));
  }

  /** Closes the archives. What was read stays valid. */
  close(): void {
    this.#members.close();
  }

  /** Closes the archives at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * @ignore Returns the number of a file.
   * @throws {PathError} If there is no such file.
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
