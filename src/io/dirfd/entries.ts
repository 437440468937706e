import type { EntryFacts } from "./directory.ts";

/** How a file is opened: for reading, for reading and writing, or created under a name that must not exist. */
export type FileAccess = "read" | "write" | "create";

/** Permissions and group of a new entry, whatever the umask. */
export interface NewEntry {
  readonly mode: number;
  /** Defaults to the group that the system assigns. */
  readonly gid?: number | undefined;
}

/**
 * System calls on the entries of one open directory. Names are single components and never `..`. No call follows a link
 * or blocks on a pipe. Errors carry the system's `code`.
 */
export interface Entries {
  /** Returns metadata of the directory itself; `undefined` if this program may not read it. */
  facts(): EntryFacts | undefined;
  /** Returns metadata of an entry; `undefined` if it does not exist, `unknown` if this program may not read it. */
  stat(name: string): EntryFacts | "unknown" | undefined;
  readLink(name: string): string;
  list(): readonly string[];
  /** Opens a subdirectory. Anything else is an error. */
  open(name: string): Entries;
  makeDirectory(name: string, how: NewEntry): void;
  openFile(name: string, access: FileAccess, how: NewEntry): EntryFile;
  rename(from: string, to: string): void;
  remove(name: string): void;
  removeDirectory(name: string): void;
  close(): void;
}

/** Open file with random access. */
export interface EntryFile extends Disposable {
  /** The system's descriptor; 0 if unknown. */
  readonly fd: number;
  facts(): EntryFacts;
  /** Fills `into`, or reads to the end of the file. Returns the number of bytes read. */
  read(into: Uint8Array, offset: number): number;
  write(bytes: Uint8Array, offset: number): void;
  truncate(size: number): void;
  touch(): void;
  /**
   * Tries to take the file's lock (flock(2)), exclusive or shared, without waiting. Closing the file releases it. On a
   * file system without locks, it always succeeds.
   */
  tryLock(isExclusive: boolean): boolean;
  unlock(): void;
  /**
   * Tries to take an exclusive lock on a byte range (fcntl(2), `F_OFD_SETLK`), without waiting. The range may lie
   * beyond the end. On a file system without such locks, it always succeeds.
   */
  tryLockRange(start: bigint, length: bigint): boolean;
  unlockRange(start: bigint, length: bigint): void;
  close(): void;
}
