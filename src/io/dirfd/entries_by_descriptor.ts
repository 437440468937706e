import { utf8Text } from "../../base/utf8.ts";
import { NO_LOCKS } from "../write/file_lock.ts";
import { lastError, libcIfPermitted } from "../libc/libc.ts";
import { At, cName, Open, throwUnlessRepeated } from "../libc/libc_files.ts";
import { systemCode } from "../libc/system_error.ts";
import { CLOSED, type EntryFacts } from "./directory.ts";
import { borrowedDirectory } from "./directory_by_descriptor.ts";
import type { Entries, EntryFile, FileAccess, NewEntry } from "./entries.ts";
import {
  answer,
  close,
  factsOf,
  openAt,
  procPath,
} from "./file_by_descriptor.ts";

/** {@linkcode Entries} by descriptor, through openat(2) and its relatives. */
class DescribedEntries implements Entries {
  #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  facts(): EntryFacts {
    return factsOf(this.#fd, "", At.EMPTY_PATH);
  }

  stat(name: string): EntryFacts | undefined {
    try {
      return factsOf(this.#fd, name, At.SYMLINK_NOFOLLOW);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  readLink(name: string): string {
    const target = new Uint8Array(LONGEST_PATH);
    const length = answer((libc) =>
      libc.readlinkat(this.#fd, cName(name), target, BigInt(LONGEST_PATH))
    );
    return utf8Text(target.subarray(0, length));
  }

  list(): readonly string[] {
    return borrowedDirectory(this.#fd).list().names;
  }

  open(name: string): Entries {
    return new DescribedEntries(openAt(this.#fd, name, DIRECTORY));
  }

  makeDirectory(name: string, { mode, gid }: NewEntry): void {
    answer((libc) => libc.mkdirat(this.#fd, cName(name), mode & 0o777));
    // Through a new descriptor, because the name may have been replaced.
    const fd = openAt(this.#fd, name, DIRECTORY);
    try {
      adjust(fd, { mode, gid });
    } finally {
      close(fd);
    }
  }

  openFile(name: string, access: FileAccess, how: NewEntry): EntryFile {
    const flags = FLAGS[access] | WITHOUT_WAITING;
    const fd = openAt(this.#fd, name, flags, how.mode);
    const file = new DescribedEntryFile(fd);
    try {
      if (access === "create") adjust(fd, how);
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  rename(from: string, to: string): void {
    const old = cName(from);
    const name = cName(to, 1);
    answer((libc) => libc.renameat2(this.#fd, old, this.#fd, name, 0));
  }

  remove(name: string): void {
    answer((libc) => libc.unlinkat(this.#fd, cName(name), 0));
  }

  removeDirectory(name: string): void {
    answer((libc) => libc.unlinkat(this.#fd, cName(name), At.REMOVEDIR));
  }

  close(): void {
    close(this.#fd);
    this.#fd = CLOSED;
  }
}

/** Sets the group and permissions of a new entry, overriding the umask and the file system. */
function adjust(fd: number, { mode, gid }: NewEntry): void {
  const made = factsOf(fd, "", At.EMPTY_PATH);
  const path = procPath(fd); // works for `O_PATH` descriptors, too
  if (gid !== undefined && made.gid !== gid) {
    // Fails for a group that the user is not in; the group then stays.
    libcIfPermitted()!.fchownat(At.FDCWD, path, SAME_OWNER, gid, 0);
  } else if (made.mode === mode) return;
  answer((libc) => libc.fchmodat(At.FDCWD, path, mode, 0));
}

/** {@linkcode EntryFile} by a descriptor that Deno does not know. */
class DescribedEntryFile implements EntryFile {
  #fd: number;
  #isLocked = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get fd(): number {
    return this.#fd;
  }

  facts(): EntryFacts {
    return factsOf(this.#fd, "", At.EMPTY_PATH);
  }

  read(into: Uint8Array, offset: number): number {
    for (let done = 0; done < into.byteLength;) {
      const piece = pieceOf(into, done);
      const got = answer((libc) =>
        libc.pread(this.#fd, piece, piece.byteLength, BigInt(offset + done))
      );
      if (got === 0) return done;
      done += got;
    }
    return into.byteLength;
  }

  write(bytes: Uint8Array, offset: number): void {
    for (let done = 0; done < bytes.byteLength;) {
      const piece = pieceOf(bytes, done);
      done += answer((libc) =>
        libc.pwrite(this.#fd, piece, piece.byteLength, BigInt(offset + done))
      );
    }
  }

  truncate(size: number): void {
    answer((libc) => libc.ftruncate(this.#fd, BigInt(size)));
  }

  touch(): void {
    // Setting the current time needs write permission only; setting any other needs ownership.
    answer((libc) => libc.futimens(this.#fd, null));
  }

  tryLock(isExclusive: boolean): boolean {
    const libc = libcIfPermitted()!;
    const how = (isExclusive ? LOCK.EX : LOCK.SH) | LOCK.NB;
    for (let attempt = 1; libc.flock(this.#fd, how) < 0; attempt++) {
      const { code } = lastError(libc);
      if (code === "EAGAIN" || code === "EWOULDBLOCK") return false;
      if (NO_LOCKS.includes(code)) return true;
      throwUnlessRepeated(libc, attempt);
    }
    return this.#isLocked = true;
  }

  tryLockRange(start: bigint, length: bigint): boolean {
    const libc = libcIfPermitted()!;
    const range = lockOf(F_WRLCK, start, length);
    if (libc.lockRange(this.#fd, F_OFD_SETLK, range) === 0) return true;
    return NO_LOCKS.includes(lastError(libc).code);
  }

  unlockRange(start: bigint, length: bigint): void {
    const range = lockOf(F_UNLCK, start, length);
    libcIfPermitted()!.lockRange(this.#fd, F_OFD_SETLK, range);
  }

  unlock(): void {
    if (this.#isLocked) libcIfPermitted()!.flock(this.#fd, LOCK.UN);
    this.#isLocked = false;
  }

  close(): void {
    // Closing is not enough: a child process that is being started holds a copy of the descriptor until it calls exec.
    this.unlock();
    close(this.#fd);
    this.#fd = CLOSED;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Returns `struct flock` of 64-bit machines, in memory that the next call reuses. */
function lockOf(
  type: number,
  start: bigint,
  length: bigint,
): BigInt64Array<ArrayBuffer> {
  flock[0] = BigInt(type); // `l_whence` is SEEK_SET (0)
  flock[1] = start;
  flock[2] = length;
  return flock;
}

const flock = new BigInt64Array(4);

function pieceOf(bytes: Uint8Array, start: number): Uint8Array<ArrayBuffer> {
  const piece = start === 0 && bytes.byteLength <= LARGEST_MOVE
    ? bytes
    : bytes.subarray(start, start + LARGEST_MOVE);
  return piece as Uint8Array<ArrayBuffer>; // FFI accepts shared memory, too
}

export function rootByDescriptor(): Entries {
  return new DescribedEntries(openAt(At.FDCWD, "/", DIRECTORY));
}

const DIRECTORY = Open.PATH | Open.DIRECTORY | Open.NOFOLLOW;
/** Flags to open an entry that may not be a file, without following or blocking. */
const WITHOUT_WAITING = Open.NOFOLLOW | Open.NONBLOCK | Open.NOCTTY;
const FLAGS: Readonly<Record<FileAccess, number>> = {
  read: Open.RDONLY,
  write: Open.RDWR,
  create: Open.RDWR | Open.CREAT | Open.EXCL,
};
/** From `sys/file.h`. */
const LOCK = { SH: 1, EX: 2, NB: 4, UN: 8 } as const;
/** From `asm-generic/fcntl.h`. These locks belong to the open file description, not to the process. */
const F_OFD_SETLK = 37;
const F_WRLCK = 1;
const F_UNLCK = 2;
/** For chown(2): leave the owner unchanged. */
const SAME_OWNER = 2 ** 32 - 1;
/** `PATH_MAX`. */
const LONGEST_PATH = 4096;
/** read(2) and write(2) move at most 0x7ffff000 bytes. */
const LARGEST_MOVE = 1 << 30;
