export type EntryKind = "file" | "directory" | "symlink" | "other";

/** Whether a symbolic link stands for its target or for itself. */
export type Links = "follow" | "keep";

/** Metadata available without opening the entry. */
export interface EntryStat {
  readonly kind: EntryKind;
  readonly size: number;
  readonly mtimeMs: number;
  /** Whether this user owns the entry and has owner read permission. If `false`, only the system can tell. */
  readonly isOwnersToRead: boolean;
}

/** Metadata that identifies an entry and its owner. */
export interface EntryFacts
  extends Pick<EntryStat, "kind" | "size" | "mtimeMs"> {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits, including setuid, setgid and sticky. */
  readonly mode: number;
  readonly links: number;
  /** Disk usage in units of 512 bytes. */
  readonly blocks: number;
  /** Together with the inode, identifies the entry. */
  readonly device: number;
  readonly inode: number;
}

export interface Listing {
  /** Without `.` and `..`, unordered. Bytes that are not UTF-8 are lone surrogates. */
  readonly names: string[];
  /** Names that may not be regular files. Links are not followed, and some file systems do not report types. */
  readonly notFiles: ReadonlySet<string>;
  /** Names that are not UTF-8 and cannot be reached, as Deno shows them. */
  readonly unreachable: readonly string[];
}

/** File open for reading, or newly created and open for writing. */
export interface OpenFile {
  stat(): EntryStat;
  /** Hints that the first megabyte will be read soon, without waiting. May do nothing. */
  startRead(): void;
  /** Reads from the current position. Returns 0 at the end. */
  read(into: Uint8Array<ArrayBuffer>): number;
  /** Whether the byte at an offset is in the page cache; `true` if unknown. */
  isInMemory(place: number): boolean;
  /**
   * Switches direct I/O for further reads on or off. Direct reads bypass the page cache, which takes longer to fill
   * than to do without. They must be whole blocks (`BLOCK`) into memory of `blockMemory`. Returns whether direct I/O is
   * on now; not all file systems support it.
   */
  setDirect(isDirect: boolean): boolean;
  write(bytes: Uint8Array): void;
  /** Appends a hole of `length` zero bytes, which takes no disk space. Absent if unsupported. */
  skip?(length: number): void;
  setModified(time: Date): void;
  /** Starts writing dirty pages to disk, without waiting. May do nothing. */
  startSync(): void;
  sync(): void;
  close(): void;
}

/** File that is open for writing and has no name yet. */
export interface UnnamedFile extends OpenFile {
  /** Links the file into its directory. Fails with `EEXIST` if the name exists. */
  link(name: string): void;
}

/**
 * An open directory. Its entries are reached from it by name, one component at a time, never `..`. System errors carry
 * their `code`. All calls are synchronous, because the kernel's cache nearly always answers them, at a tenth of the
 * cost of waiting.
 */
export interface Directory {
  readonly path: string;
  /** Unique, and equal however the directory was reached. The first read must be while it is open. */
  readonly identity: string;
  /** Descriptor that any thread may use while the directory is open; `undefined` if it is reached by path. */
  readonly descriptor: number | undefined;
  list(): Listing;
  /** Returns `undefined` if the name does not exist or is a dangling link. */
  stat(name: string, links: Links): EntryStat | undefined;
  /**
   * Stats names from index `start` on, following links: at most `most`, up to and including the first directory.
   * Returns fewer if the system refuses one; `stat` then reports the error.
   */
  statSeveral(
    names: readonly string[],
    start: number,
    most: number,
  ): EntryStat[];
  mayRead(name: string): boolean;
  /** Opens a subdirectory. Anything else is an error. */
  open(name: string, links: Links): Directory;
  openAgain(): Directory;
  /** Opens an entry for reading, following links. It may turn out not to be a file; opening a pipe never blocks. */
  openFile(name: string): OpenFile;
  /**
   * Reads a whole file, following links, if its size is that of `into` and its modification time is `mtimeMs`. Returns
   * whether it was read. If not, `openFile` and the calls after it report the reason.
   */
  readWhole(
    name: Uint8Array,
    into: Uint8Array<ArrayBuffer>,
    mtimeMs: number,
  ): boolean;
  /** Creates a file and opens it for writing. The name must not exist. */
  createFile(name: string): OpenFile;
  /** Creates an unnamed file that disappears with its last descriptor unless linked; `undefined` if unsupported. */
  createUnnamed(): UnnamedFile | undefined;
  /**
   * Creates a file that appears under its name only when complete, by linking an unnamed one. Returns whether it was
   * created. If not, nothing is left of it, and `createUnnamed` and the calls after it report the reason.
   */
  createWhole(name: string, content: Uint8Array, time: Date): boolean;
  makeDirectory(name: string): void;
  /** Creates a symbolic link. The name must not exist. */
  makeLink(name: string, target: string): void;
  /** Sets an entry's modification time, without following links; `.` is this directory. */
  setModified(name: string, time: Date): void;
  /** Renames an entry within this directory. Unless `mayReplace`, an existing target is an `EEXIST`. */
  rename(from: string, to: string, mayReplace: boolean): void;
  remove(name: string): void;
  /** Removes an empty subdirectory. */
  removeDirectory(name: string): void;
  /** Waits until everything on the file system is on disk. Returns `false` if unsupported. */
  syncFileSystem(): Promise<boolean>;
  /** Closes the directory. Idempotent. */
  close(): void;
}

/** @throws An `EEXIST` if the name exists. */
export function requireNothing(directory: Directory, name: string): void {
  if (directory.stat(name, "keep") === undefined) return;
  throw Object.assign(new Error("file exists"), { code: "EEXIST" });
}

/** Fills `into` from the current position. Returns the number of bytes read, less only at the end of the file. */
export function readFull(
  file: OpenFile,
  into: Uint8Array<ArrayBuffer>,
): number {
  let done = 0;
  while (done < into.byteLength) {
    const got = file.read(done === 0 ? into : into.subarray(done));
    if (got === 0) break;
    done += got;
  }
  return done;
}

/** Marks a closed descriptor, since the system reuses the numbers of closed ones. */
export const CLOSED = -1;
