/** Kind of entry under a name. */
export type EntryKind = "file" | "directory" | "symlink" | "other";

/** Meaning of a name that is a symbolic link: what it points to, or the link. */
export type Links = "follow" | "keep";

/** Facts of an entry that need not be opened. */
export interface EntryStat {
  readonly kind: EntryKind;
  /** Bytes. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtimeMs: number;
  /** Whether its permissions say that its owner, who asks, may read it; anyone else has to ask the system. */
  readonly isOwnersToRead: boolean;
}

/** Facts of an entry that tell whose it is, and which. */
export interface EntryFacts
  extends Pick<EntryStat, "kind" | "size" | "mtimeMs"> {
  readonly uid: number;
  readonly gid: number;
  /** Permissions, with the sticky bit and those beside it. */
  readonly mode: number;
  /** Number of its names. */
  readonly links: number;
  /** What it takes on the disk, in units of 512 bytes. */
  readonly blocks: number;
  /** What tells it from all others, with the inode. */
  readonly device: number;
  readonly inode: number;
}

/** The names in a directory. */
export interface Listing {
  /** Without `.` and `..`, in no order; bytes that are not UTF-8 are lone surrogates. */
  readonly names: string[];
  /** Those of them that may be something else than a regular file: no link is followed, and not all file systems say. */
  readonly notFiles: ReadonlySet<string>;
  /** Names that are not UTF-8 and can't be reached: what Deno shows of them. */
  readonly unreachable: readonly string[];
}

/** A file that is open for reading, or new and open for writing. */
export interface OpenFile {
  stat(): EntryStat;
  /** Has the system fetch its first megabyte from the disk, as soon as it can, without waiting for it; it may not. */
  startRead(): void;
  /** Reads on from where it stands; 0 at the end. */
  read(into: Uint8Array<ArrayBuffer>): number;
  /** Whether the byte at a place is in the system's memory; `true` where nobody can tell. */
  isInMemory(place: number): boolean;
  /**
   * Has all further reads go past the system's memory, which takes longer to fill than to do without, or as usual again.
   * Those past it must be of whole blocks (`BLOCK`), into memory of `blockMemory`.
   *
   * @returns Whether they go past it: not on all file systems.
   */
  setDirect(isDirect: boolean): boolean;
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array): void;
  /** Goes on behind so many zeros, which take no room on the disk; not where that cannot be asked for. */
  skip?(length: number): void;
  setModified(time: Date): void;
  /** Has the system bring to the disk what was written, as soon as it can, without waiting for it; it may not. */
  startSync(): void;
  /** Waits until what was written is on the disk. */
  sync(): void;
  close(): void;
}

/** A file that is open for writing and has no name yet. */
export interface UnnamedFile extends OpenFile {
  /** Gives it a name in its directory, which nothing may have; otherwise that is an `EEXIST`. */
  link(name: string): void;
}

/**
 * An open directory. Its entries are reached from it by name, one step at a time.
 *
 * Names are one component each and never `..`; the system's refusals are errors with its `code`.
 * All of it is synchronous: these calls answer from the kernel's cache nearly always, at a tenth of
 * what waiting costs.
 */
export interface Directory {
  /** For messages. */
  readonly path: string;
  /** The same for one directory, however it was reached; different for any other. It is first asked for while it is open. */
  readonly identity: string;
  /** By which any thread reaches it while it is open; `undefined` where it is reached by its path. */
  readonly descriptor: number | undefined;
  list(): Listing;
  /** `undefined` where there is nothing, or a link that leads to nothing. */
  stat(name: string, links: Links): EntryStat | undefined;
  /**
   * What `stat` says of several names, following links: of those from `start` on, `most` at most, up to a directory.
   *
   * @returns Nothing of the next where the system refuses to say it; `stat` says why.
   */
  statSeveral(
    names: readonly string[],
    start: number,
    most: number,
  ): EntryStat[];
  /** Tells whether a file may be opened, or a directory listed. */
  mayRead(name: string): boolean;
  /** Opens a directory in it; anything else is an error. */
  open(name: string, links: Links): Directory;
  /** Opens it once more. */
  openAgain(): Directory;
  /** Opens a file for reading, following links. It may turn out to be none, but never waits for a pipe. */
  openFile(name: string): OpenFile;
  /**
   * Reads all of a file, following links, if that is as long as `into` and was last modified when it is said to be.
   *
   * @param name Its bytes.
   * @returns Whether it did. If not, `openFile` and what follows say why.
   */
  readWhole(
    name: Uint8Array,
    into: Uint8Array<ArrayBuffer>,
    mtimeMs: number,
  ): boolean;
  /** Makes a file and opens it for writing; there must be nothing of its name. */
  createFile(name: string): OpenFile;
  /**
   * Makes a file without a name and opens it for writing: it goes with its last descriptor, unless it is given one.
   *
   * @returns `undefined` where the file system has no such files.
   */
  createUnnamed(): UnnamedFile | undefined;
  /**
   * Makes a file that appears under its name when it is complete, by way of one without a name.
   *
   * @param time When it was last modified.
   * @returns Whether it did. If not, nothing is left of it, and `createUnnamed` and what follows say why.
   */
  createWhole(name: string, content: Uint8Array, time: Date): boolean;
  makeDirectory(name: string): void;
  /** Makes a symbolic link; there must be nothing of its name. */
  makeLink(name: string, target: string): void;
  /** Sets when an entry of it was modified, and of a link when it was itself; `.` is the directory. */
  setModified(name: string, time: Date): void;
  /**
   * Gives an entry another name in it.
   *
   * @param mayReplace Whether it may take the place of what has that name; otherwise that is an `EEXIST`.
   */
  rename(from: string, to: string, mayReplace: boolean): void;
  remove(name: string): void;
  /** Removes a directory in it, which must be empty. */
  removeDirectory(name: string): void;
  /**
   * Waits until everything on its file system is on the disk.
   *
   * @returns `false` where that can't be asked for.
   */
  syncFileSystem(): Promise<boolean>;
  /** Closes it; once more does nothing. */
  close(): void;
}

/** @throws An `EEXIST` if there is something of that name. */
export function requireNothing(directory: Directory, name: string): void {
  if (directory.stat(name, "keep") === undefined) return;
  throw Object.assign(new Error("file exists"), { code: "EEXIST" });
}

/**
 * Fills `into` from where a file stands, or reads to its end.
 *
 * @returns How many bytes were read: fewer only at the end.
 */
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

/** No descriptor: the number of one that is closed is the next one's that anybody opens. */
export const CLOSED = -1;
