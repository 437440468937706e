import * as fs from "node:fs";
import { type Libc, libcIfPermitted } from "../libc/libc.ts";
import { decodeName } from "../../names.ts";
import {
  CLOSED,
  type Directory,
  type EntryKind,
  type EntryStat,
  type Links,
  type Listing,
  type OpenFile,
  requireNothing,
  type UnnamedFile,
} from "./directory.ts";
import {
  At,
  call,
  cName,
  DIRENT,
  DIRENT_FILE,
  FADV_WILLNEED,
  Open,
  R_OK,
  STATX,
  SYNC_FILE_RANGE_WRITE,
  throwUnlessRepeated,
} from "../libc/libc_files.ts";
import { systemCode } from "../libc/system_error.ts";

/** A directory held by its descriptor: openat(2) and its like. */
class DescribedDirectory implements Directory {
  readonly path: string;
  readonly identity: string;
  #fd: number;

  constructor(path: string, fd: number, identity?: string) {
    this.path = path;
    this.#fd = fd;
    if (identity === undefined) statOf(fd, "", At.EMPTY_PATH);
    this.identity = identity ?? identityInStatx();
  }

  get descriptor(): number {
    return this.#fd;
  }

  list(): Listing {
    // Entries are reached by a descriptor that need not be readable; listing takes another.
    const fd = openAt(this.#fd, ".", Open.RDONLY | Open.DIRECTORY);
    const names: string[] = [];
    const notFiles = new Set<string>();
    try {
      listing ??= new Uint8Array(LISTING_BYTES);
      const bytes = listing;
      for (;;) {
        const length = answer((libc) =>
          libc.getdents64(fd, bytes, LISTING_BYTES)
        );
        if (length === 0) return { names, notFiles, unreachable: [] };
        for (let at = 0; at < length;) {
          const next = at + bytes[at + DIRENT.length]! +
            bytes[at + DIRENT.length + 1]! * 256;
          const start = at + DIRENT.name;
          const name = decodeName(bytes, start, bytes.indexOf(0, start));
          if (name !== "." && name !== "..") {
            names.push(name);
            if (bytes[at + DIRENT.type] !== DIRENT_FILE) notFiles.add(name);
          }
          at = next;
        }
      }
    } finally {
      close(fd);
    }
  }

  stat(name: string, links: Links): EntryStat | undefined {
    const flags = links === "keep" ? At.SYMLINK_NOFOLLOW : 0;
    try {
      return statOf(this.#fd, name, flags);
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  }

  mayRead(name: string): boolean {
    const { faccessat } = libcIfPermitted()!;
    return faccessat(this.#fd, cName(name), R_OK, At.EACCESS) === 0;
  }

  open(name: string, links: Links): Directory {
    const flags = links === "keep" ? Open.NOFOLLOW : 0;
    const fd = openAt(this.#fd, name, flags | DIRECTORY);
    return hold(`${this.path}/${name}`, fd);
  }

  openAgain(): Directory {
    const fd = answer((libc) => libc.fcntl(this.#fd, F_DUPFD_CLOEXEC, 0));
    return new DescribedDirectory(this.path, fd, this.identity);
  }

  openFile(name: string): OpenFile {
    return new DescribedFile(openAt(this.#fd, name, TO_READ));
  }

  createFile(name: string): OpenFile {
    const flags = Open.WRONLY | Open.CREAT | Open.EXCL;
    return new DescribedFile(openAt(this.#fd, name, flags));
  }

  createUnnamed(): UnnamedFile | undefined {
    hasUnnamed ??= fs.existsSync("/proc/self/fd"); // they may have to be linked by it
    if (!hasUnnamed) return undefined;
    try {
      const fd = openAt(this.#fd, ".", Open.WRONLY | Open.TMPFILE);
      return new UnnamedDescribedFile(fd, this.#fd);
    } catch (error) {
      if (!NO_UNNAMED.has(systemCode(error))) throw error;
      hasUnnamed = false;
      return undefined;
    }
  }

  makeDirectory(name: string): void {
    answer((libc) => libc.mkdirat(this.#fd, cName(name), 0o777));
  }

  rename(from: string, to: string, mayReplace: boolean): void {
    if (!mayReplace && tellsReplaced) {
      try {
        return this.#rename(from, to, RENAME_NOREPLACE);
      } catch (error) {
        const code = systemCode(error);
        if (code !== "EINVAL" && code !== "ENOSYS") throw error;
        tellsReplaced = false; // the kernel, or this file system
      }
    }
    if (!mayReplace) requireNothing(this, to);
    this.#rename(from, to, 0);
  }

  remove(name: string): void {
    answer((libc) => libc.unlinkat(this.#fd, cName(name), 0));
  }

  removeDirectory(name: string): void {
    answer((libc) => libc.unlinkat(this.#fd, cName(name), At.REMOVEDIR));
  }

  async syncFileSystem(): Promise<boolean> {
    // A descriptor that entries are reached by is none to be synced by.
    const fd = openAt(this.#fd, ".", Open.RDONLY | Open.DIRECTORY);
    try {
      const { syncfsElsewhere } = libcIfPermitted()!;
      if (await syncfsElsewhere(fd) === 0) return true;
    } finally {
      close(fd);
    }
    // What it said is lost, and only this disk can have kept it from it.
    throw Object.assign(new Error("input/output error"), { code: "EIO" });
  }

  close(): void {
    close(this.#fd);
    this.#fd = CLOSED;
  }

  #rename(from: string, to: string, flags: number): void {
    const libc = libcIfPermitted()!;
    const old = cName(from);
    const name = cName(to, 1);
    let attempt = 0;
    while (libc.renameat2(this.#fd, old, this.#fd, name, flags) < 0) {
      throwUnlessRepeated(libc, ++attempt);
    }
  }
}

class DescribedFile implements OpenFile {
  protected fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat(): EntryStat {
    return statOf(this.fd, "", At.EMPTY_PATH);
  }

  startRead(): void {
    libcIfPermitted()!.fileAdvise(this.fd, 0n, MEGABYTE, FADV_WILLNEED);
  }

  read(into: Uint8Array<ArrayBuffer>): number {
    const libc = libcIfPermitted()!;
    const length = Math.min(into.byteLength, LARGEST_MOVE);
    for (let attempt = 1;; attempt++) {
      const got = libc.read(this.fd, into, length);
      if (got >= 0) return got;
      throwUnlessRepeated(libc, attempt);
    }
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength;) {
      const piece = bytes.subarray(done, done + LARGEST_MOVE);
      done += this.#write(piece as Uint8Array<ArrayBuffer>); // FFI takes memory that threads share, too
    }
  }

  setModified(time: Date): void {
    const ms = time.getTime();
    if (ms !== timesOf) {
      const seconds = Math.floor(ms / 1000);
      times[0] = times[2] = BigInt(seconds);
      times[1] = times[3] = BigInt(Math.floor((ms - seconds * 1000) * 1e6));
      timesOf = ms;
    }
    const libc = libcIfPermitted()!;
    let attempt = 0;
    while (libc.futimens(this.fd, times) < 0) {
      throwUnlessRepeated(libc, ++attempt);
    }
  }

  startSync(): void {
    libcIfPermitted()!.syncFileRange(this.fd, 0n, 0n, SYNC_FILE_RANGE_WRITE);
  }

  sync(): void {
    answer((libc) => libc.fsync(this.fd));
  }

  close(): void {
    close(this.fd);
    this.fd = CLOSED;
  }

  #write(bytes: Uint8Array<ArrayBuffer>): number {
    const libc = libcIfPermitted()!;
    for (let attempt = 1;; attempt++) {
      const done = libc.write(this.fd, bytes, bytes.length);
      if (done >= 0) return done;
      throwUnlessRepeated(libc, attempt);
    }
  }
}

class UnnamedDescribedFile extends DescribedFile implements UnnamedFile {
  readonly #directory: number;

  /** @param directory Descriptor of its directory, which stays open as long as it. */
  constructor(fd: number, directory: number) {
    super(fd);
    this.#directory = directory;
  }

  link(name: string): void {
    const from = linksByDescriptor ? "" : `/proc/self/fd/${this.fd}`;
    const flags = linksByDescriptor ? At.EMPTY_PATH : At.SYMLINK_FOLLOW;
    const libc = libcIfPermitted()!;
    const link = () =>
      libc.linkat(this.fd, cName(from), this.#directory, cName(name, 1), flags);
    try {
      call(libc, link);
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || !linksByDescriptor) throw error;
      linksByDescriptor = false; // it takes a capability, or Linux 6.10
      this.link(name);
    }
  }
}

/** What a file system says that has no files without a name; old kernels take the flag for another. */
const NO_UNNAMED: ReadonlySet<string | undefined> = new Set(
  ["EOPNOTSUPP", "ENOTSUP", "EISDIR", "EINVAL", "ENOENT"],
);
let hasUnnamed: boolean | undefined;
let linksByDescriptor = true;

const TO_READ = Open.RDONLY | Open.NONBLOCK | Open.NOCTTY;
/** A directory's descriptor that serves to reach what is in it: being listed takes another. */
const DIRECTORY = Open.PATH | Open.DIRECTORY;
/** read(2) and write(2) move at most 0x7ffff000 bytes. */
const LARGEST_MOVE = 1 << 30;
const MEGABYTE = 1n << 20n;
const LISTING_BYTES = 1 << 16;
let listing: Uint8Array<ArrayBuffer> | undefined;

/** From `linux/fcntl.h`. */
const F_DUPFD_CLOEXEC = 1030;

/** From `linux/fs.h`. */
const RENAME_NOREPLACE = 1;
/** Whether a name that is there already is the kernel's to be found; some file systems don't look. */
let tellsReplaced = true;

/** `struct timespec[2]`, last access and last modification: most files of a container get the same. */
const times = new BigInt64Array(4);
/** What they are set to, in milliseconds. */
let timesOf: number | undefined;

/** Opens a file for reading by its path. */
export function openDescribedFile(path: string): OpenFile {
  return new DescribedFile(openAt(At.FDCWD, path, TO_READ));
}

/** A directory that is held open elsewhere, by its descriptor; it is not to be closed here. */
export function borrowedDirectory(descriptor: number, path = ""): Directory {
  return new DescribedDirectory(path, descriptor, "");
}

/** Opens a directory by its path. */
export function openDescribed(path: string): Directory {
  return hold(path, openAt(At.FDCWD, path || ".", DIRECTORY));
}

function hold(path: string, fd: number): Directory {
  try {
    return new DescribedDirectory(path, fd);
  } catch (error) {
    close(fd);
    throw error;
  }
}

function openAt(fd: number, name: string, flags: number): number {
  const all = flags | Open.CLOEXEC;
  const libc = libcIfPermitted()!;
  const path = cName(name);
  for (let attempt = 1;; attempt++) {
    const opened = libc.openat(fd, path, all, 0o666);
    if (opened >= 0) return opened;
    throwUnlessRepeated(libc, attempt);
  }
}

function close(fd: number): void {
  if (fd !== CLOSED) libcIfPermitted()!.close(fd);
}

/** What a function answers that was not refused: there are descriptors where the library is. */
function answer(act: (libc: Libc) => number): number {
  const libc = libcIfPermitted()!;
  return call(libc, () => act(libc));
}

const statx = new Uint8Array(STATX.SIZE);
const view = new DataView(statx.buffer);
let euid: number | undefined;

function statOf(fd: number, name: string, flags: number): EntryStat {
  const libc = libcIfPermitted()!;
  const path = cName(name);
  let attempt = 0;
  while (libc.statx(fd, path, flags, STATX.MASK, statx) < 0) {
    throwUnlessRepeated(libc, ++attempt);
  }
  const mode = view.getUint16(STATX.mode, true);
  const owner = view.getUint32(STATX.uid, true);
  euid ??= libcIfPermitted()!.geteuid();
  return {
    kind: KINDS[mode & S_IFMT] ?? "other",
    size: view.getUint32(STATX.size, true) +
      view.getUint32(STATX.size + 4, true) * 2 ** 32,
    mtimeMs: view.getUint32(STATX.mtimeSeconds, true) * 1000 +
      view.getInt32(STATX.mtimeSeconds + 4, true) * 2 ** 32 * 1000 +
      view.getUint32(STATX.mtimeNanoseconds, true) / 1e6,
    isOwnersToRead: owner === euid && (mode & S_IRUSR) !== 0,
  };
}

/** Of what was last looked at. */
function identityInStatx(): string {
  const major = view.getUint32(STATX.devMajor, true);
  const minor = view.getUint32(STATX.devMinor, true);
  return `${major}:${minor}:${view.getBigUint64(STATX.ino, true)}`;
}

/** `S_IFMT` and the types under it, from `linux/stat.h`. */
const S_IFMT = 0o170000;
const S_IRUSR = 0o400;
const KINDS: Record<number, EntryKind> = {
  0o040000: "directory",
  0o100000: "file",
  0o120000: "symlink",
};
