import {
  errnoOf,
  lastError,
  type Libc,
  libcIfPermitted,
} from "../libc/libc.ts";
import {
  At,
  call,
  cName,
  FADV_WILLNEED,
  Open,
  STATX,
  SYNC_FILE_RANGE_WRITE,
  throwUnlessRepeated,
} from "../libc/libc_files.ts";
import { libcReads } from "../libc/libc_reads.ts";
import { systemCode } from "../libc/system_error.ts";
import {
  CLOSED,
  type EntryFacts,
  type EntryKind,
  type EntryStat,
  type OpenFile,
  type UnnamedFile,
} from "./directory.ts";

/** From `unistd.h`. */
const SEEK_CUR = 1;

/** {@linkcode OpenFile} by descriptor, through read(2) and its relatives. */
export class DescribedFile implements OpenFile {
  protected fd: number;
  #isDirect = false;

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
      // Some file systems refuse direct I/O only on read.
      if (this.#isDirect && errnoOf(libc) === EINVAL) this.setDirect(false);
      else throwUnlessRepeated(libc, attempt);
    }
  }

  isInMemory(place: number): boolean {
    return libcReads()!.cached(this.fd, probe, place) !== 0;
  }

  setDirect(isDirect: boolean): boolean {
    const flags = isDirect ? Open.DIRECT : 0;
    const isSet = libcIfPermitted()!.fcntl(this.fd, F_SETFL, flags) === 0;
    return this.#isDirect = isDirect && isSet;
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength;) {
      const piece = bytes.subarray(done, done + LARGEST_MOVE);
      done += this.#write(piece as Uint8Array<ArrayBuffer>); // FFI accepts shared memory, too
    }
  }

  skip(length: number): void {
    const libc = libcIfPermitted()!;
    const end = libc.lseek(this.fd, BigInt(length), SEEK_CUR);
    // The length must be set even if no data follows.
    if (end < 0n || libc.ftruncate(this.fd, end) < 0) {
      throw lastError(libc);
    }
  }

  setModified(time: Date): void {
    const times = timesOf(time);
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

export class UnnamedDescribedFile extends DescribedFile implements UnnamedFile {
  readonly #directory: number;

  /** @param directory Descriptor of its directory, which must stay open as long as the file. */
  constructor(fd: number, directory: number) {
    super(fd);
    this.#directory = directory;
  }

  link(name: string): void {
    const from = linksByDescriptor ? EMPTY_PATH : procPath(this.fd);
    const flags = linksByDescriptor ? At.EMPTY_PATH : At.SYMLINK_FOLLOW;
    const libc = libcIfPermitted()!;
    const link = () =>
      libc.linkat(this.fd, from, this.#directory, cName(name), flags);
    try {
      call(libc, link);
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || !linksByDescriptor) throw error;
      linksByDescriptor = false; // it needs a capability, or Linux 6.10
      this.link(name);
    }
  }
}

let linksByDescriptor = true;

/** Returns the `/proc` path of an open file, valid until the next call. */
export function procPath(fd: number): Uint8Array<ArrayBuffer> {
  return cName(`/proc/self/fd/${fd}`, 1);
}

/** Flags to create an unnamed file in a directory. */
export const TO_CREATE_UNNAMED = Open.WRONLY | Open.TMPFILE;
/** Flags to open a file for reading without blocking on a pipe. */
export const TO_READ = Open.RDONLY | Open.NONBLOCK | Open.NOCTTY;
/** read(2) and write(2) move at most 0x7ffff000 bytes. */
const LARGEST_MOVE = 1 << 30;
const MEGABYTE = 1n << 20n;
/** From `asm-generic/fcntl.h`. */
const F_SETFL = 4;
/** From `asm-generic/errno-base.h`. */
const EINVAL = 22;
const probe = new Uint8Array(1);

/** Access and modification time, cached because most files of a container share theirs. */
const times = new BigInt64Array(4);
/** What `times` is set to, in milliseconds. */
let lastTime: number | undefined;

/** Returns a time as `struct timespec[2]`, in memory that the next call reuses. */
export function timesOf(time: Date): BigInt64Array<ArrayBuffer> {
  const ms = time.getTime();
  if (ms !== lastTime) {
    const seconds = Math.floor(ms / 1000);
    times[0] = times[2] = BigInt(seconds);
    times[1] = times[3] = BigInt(Math.floor((ms - seconds * 1000) * 1e6));
    lastTime = ms;
  }
  return times;
}

export function openDescribedFile(path: string): OpenFile {
  return new DescribedFile(openAt(At.FDCWD, path, TO_READ));
}

/** Calls openat(2) with `O_CLOEXEC`, so that child processes do not inherit the descriptor. */
export function openAt(
  fd: number,
  name: string,
  flags: number,
  mode = 0o666,
): number {
  const all = flags | Open.CLOEXEC;
  const libc = libcIfPermitted()!;
  const path = cName(name);
  for (let attempt = 1;; attempt++) {
    const opened = libc.openat(fd, path, all, mode);
    if (opened >= 0) return opened;
    throwUnlessRepeated(libc, attempt);
  }
}

export function close(fd: number): void {
  if (fd !== CLOSED) libcIfPermitted()!.close(fd);
}

/** Calls a libc function and throws on error. Descriptors exist only where libc does. */
export function answer(act: (libc: Libc) => number): number {
  const libc = libcIfPermitted()!;
  return call(libc, () => act(libc));
}

const statx = new Uint8Array(STATX.SIZE);
const view = new DataView(statx.buffer);
let euid: number | undefined;

/** Calls statx(2) on a name in a directory. */
export function statOf(fd: number, name: string, flags: number): EntryStat {
  const libc = libcIfPermitted()!;
  const path = cName(name);
  let attempt = 0;
  while (libc.statx(fd, path, flags, STATX.MASK, statx) < 0) {
    throwUnlessRepeated(libc, ++attempt);
  }
  return statInStatx(libc);
}

/** {@linkcode Directory.statSeveral} by descriptor, in one loop, which V8 compiles before thousands are done. */
export function statsOf(
  fd: number,
  names: readonly string[],
  start: number,
  most: number,
): EntryStat[] {
  const libc = libcIfPermitted()!;
  const stats: EntryStat[] = [];
  const end = Math.min(names.length, start + most);
  for (let i = start; i < end; i++) {
    if (libc.statx(fd, cName(names[i]!), 0, STATX.MASK, statx) < 0) break;
    const stat = statInStatx(libc);
    stats.push(stat);
    if (stat.kind === "directory") break;
  }
  return stats;
}

function statInStatx(libc: Libc): EntryStat {
  const mode = view.getUint16(STATX.mode, true);
  const owner = view.getUint32(STATX.uid, true);
  euid ??= libc.geteuid();
  return {
    kind: KINDS[mode & S_IFMT] ?? "other",
    size: sizeInStatx(),
    mtimeMs: mtimeInStatx(),
    isOwnersToRead: owner === euid && (mode & S_IRUSR) !== 0,
  };
}

function sizeInStatx(): number {
  return view.getUint32(STATX.size, true) +
    view.getUint32(STATX.size + 4, true) * 2 ** 32;
}

function mtimeInStatx(): number {
  return view.getUint32(STATX.mtimeSeconds, true) * 1000 +
    view.getInt32(STATX.mtimeSeconds + 4, true) * 2 ** 32 * 1000 +
    view.getUint32(STATX.mtimeNanoseconds, true) / 1e6;
}

/** {@linkcode Directory.readWhole} by descriptor, optimized for many small files like {@linkcode statsOf}. */
export function readWhole(
  directory: number,
  name: Uint8Array,
  into: Uint8Array<ArrayBuffer>,
  mtimeMs: number,
): boolean {
  const libc = libcIfPermitted()!;
  if (name.length >= wholeName.length) return false;
  for (let i = 0; i < name.length; i++) wholeName[i] = name[i]!;
  wholeName[name.length] = 0;
  const fd = libc.openat(directory, wholeName, TO_READ | Open.CLOEXEC, 0);
  if (fd < 0) return false;
  const { length } = into;
  const isWhole = (length === 0 || libc.read(fd, into, length) === length) &&
    libc.statx(fd, EMPTY_PATH, At.EMPTY_PATH, STATX.MASK, statx) === 0 &&
    sizeInStatx() === length && mtimeInStatx() === mtimeMs &&
    (view.getUint16(STATX.mode, true) & S_IFMT) === S_IFREG;
  libc.close(fd);
  return isWhole;
}

/** {@linkcode Directory.createWhole} by descriptor, optimized for many small files like {@linkcode statsOf}. */
export function createWhole(
  directory: number,
  name: string,
  content: Uint8Array,
  time: Date,
): boolean {
  const libc = libcIfPermitted()!;
  const { length } = content;
  if (length > LARGEST_MOVE) return false;
  const to = cName(name);
  const flags = TO_CREATE_UNNAMED | Open.CLOEXEC;
  const fd = libc.openat(directory, HERE, flags, 0o666);
  if (fd < 0) return false;
  const bytes = content as Uint8Array<ArrayBuffer>; // FFI accepts shared memory, too
  const isWhole = (length === 0 || libc.write(fd, bytes, length) === length) &&
    libc.futimens(fd, timesOf(time)) === 0 &&
    (linksByDescriptor
      ? libc.linkat(fd, EMPTY_PATH, directory, to, At.EMPTY_PATH) === 0
      : libc.linkat(fd, procPath(fd), directory, to, At.SYMLINK_FOLLOW) === 0);
  libc.close(fd); // also removes the file if it has no name
  return isWhole;
}

const HERE = new Uint8Array([0x2e, 0]);
const EMPTY_PATH = new Uint8Array(1);
/** Longest name of any file system, and its NUL. */
const wholeName = new Uint8Array(256);

/** {@linkcode statOf} with owner and identity. */
export function factsOf(fd: number, name: string, flags: number): EntryFacts {
  const { kind, size, mtimeMs } = statOf(fd, name, flags);
  const major = view.getUint32(STATX.devMajor, true);
  const minor = view.getUint32(STATX.devMinor, true);
  return {
    kind,
    size,
    mtimeMs,
    uid: view.getUint32(STATX.uid, true),
    gid: view.getUint32(STATX.gid, true),
    mode: view.getUint16(STATX.mode, true) & ~S_IFMT,
    links: view.getUint32(STATX.links, true),
    blocks: Number(view.getBigUint64(STATX.blocks, true)),
    device: deviceOf(major, minor),
    inode: Number(view.getBigUint64(STATX.ino, true)),
  };
}

/** Returns a device number as stat(2) encodes it: the C library's `makedev`. */
function deviceOf(major: number, minor: number): number {
  return (major >>> 12) * 2 ** 44 + (minor >>> 8) * 2 ** 20 +
    (major & 0xfff) * 2 ** 8 + (minor & 0xff);
}

/** Returns the identity of the last entry of statx(2). */
export function identityInStatx(): string {
  const major = view.getUint32(STATX.devMajor, true);
  const minor = view.getUint32(STATX.devMinor, true);
  return `${major}:${minor}:${view.getBigUint64(STATX.ino, true)}`;
}

/** From `linux/stat.h`. */
const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const S_IRUSR = 0o400;
const KINDS: Record<number, EntryKind> = {
  0o040000: "directory",
  0o100000: "file",
  0o120000: "symlink",
};
