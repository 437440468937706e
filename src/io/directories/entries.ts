import type { EntryFacts } from "./directory.ts";

/** How a file is opened: as it is, for reading or for both, or made anew where nothing has its name. */
export type FileAccess = "read" | "write" | "create";

/** What is made gets these permissions, whatever the umask, and this group. */
export interface NewEntry {
  readonly mode: number;
  /** Defaults to the one that the system gives it. */
  readonly gid?: number | undefined;
}

/**
 * The system's calls on the entries of one open directory. A name is one component and never `..`. No call follows a
 * link, none waits for a pipe, and refusals are errors with the system's `code`.
 */
export interface Entries {
  /** Facts of the directory itself; `undefined` where this program may not look at it. */
  facts(): EntryFacts | undefined;
  /** Facts of an entry; `undefined` where there is none, `unknown` where this program may not look at it. */
  stat(name: string): EntryFacts | "unknown" | undefined;
  readLink(name: string): string;
  list(): readonly string[];
  /** Opens a directory in it; anything else is an error. */
  open(name: string): Entries;
  makeDirectory(name: string, how: NewEntry): void;
  openFile(name: string, access: FileAccess, how: NewEntry): EntryFile;
  rename(from: string, to: string): void;
  remove(name: string): void;
  removeDirectory(name: string): void;
  close(): void;
}

/** An open file whose bytes are reached by their place. */
export interface EntryFile extends Disposable {
  /** The system's number of its descriptor; 0 where that is not known. */
  readonly fd: number;
  facts(): EntryFacts;
  /**
   * Fills `into`, or reads to the file's end.
   *
   * @returns How many bytes were read.
   */
  read(into: Uint8Array, offset: number): number;
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, offset: number): void;
  truncate(size: number): void;
  /** Sets the time of its last modification to now. */
  touch(): void;
  /**
   * Takes its lock (flock(2)) at once, alone or together with others that do so. Closing the file lets go of it. Where
   * the file system has no locks, it keeps nobody.
   *
   * @returns Whether nobody else has it.
   */
  tryLock(isExclusive: boolean): boolean;
  /** Lets go of its lock. */
  unlock(): void;
  /**
   * Takes a lock of its own of a range of bytes, which need not be there (fcntl(2), `F_OFD_SETLK`), at once. Where there
   * are no such locks, it keeps nobody.
   *
   * @returns Whether nobody else has it, nor a part of it.
   */
  tryLockRange(start: bigint, length: bigint): boolean;
  /** Lets go of a range. */
  unlockRange(start: bigint, length: bigint): void;
  close(): void;
}
