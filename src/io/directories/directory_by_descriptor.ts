import { type Libc, libcIfPermitted } from "../libc/libc.ts";
import { decodeName } from "../../names.ts";
import {
  type Directory,
  type EntryKind,
  type EntryStat,
  type Links,
  type Listing,
  type OpenFile,
  requireNothing,
} from "./directory.ts";
import {
  At,
  call,
  cName,
  DIRENT,
  Open,
  R_OK,
  STATX,
} from "../libc/libc_files.ts";
import { systemCode } from "../libc/system_error.ts";

/** A directory held by its descriptor: openat(2) and its like. */
class DescribedDirectory implements Directory {
  readonly path: string;
  readonly identity: string;
  readonly #fd: number;

  constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
    statOf(fd, "", At.EMPTY_PATH);
    this.identity = identityInStatx();
  }

  list(): Listing {
    // Entries are reached by a descriptor that need not be readable; listing takes another.
    const fd = openAt(this.#fd, ".", Open.RDONLY | Open.DIRECTORY);
    const names: string[] = [];
    try {
      listing ??= new Uint8Array(LISTING_BYTES);
      const bytes = listing;
      for (;;) {
        const length = answer((libc) =>
          libc.getdents64(fd, bytes, BigInt(LISTING_BYTES))
        );
        if (length === 0) return { names, unreachable: [] };
        for (let at = 0; at < length;) {
          const next = at + bytes[at + DIRENT.length]! +
            bytes[at + DIRENT.length + 1]! * 256;
          const start = at + DIRENT.name;
          const name = decodeName(bytes, start, bytes.indexOf(0, start));
          if (name !== "." && name !== "..") names.push(name);
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

  openFile(name: string): OpenFile {
    const flags = Open.RDONLY | Open.NONBLOCK | Open.NOCTTY;
    return new DescribedFile(openAt(this.#fd, name, flags));
  }

  createFile(name: string): OpenFile {
    const flags = Open.WRONLY | Open.CREAT | Open.EXCL;
    return new DescribedFile(openAt(this.#fd, name, flags));
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

  link(from: string, to: string): void {
    answer((libc) =>
      libc.linkat(this.#fd, cName(from), this.#fd, cName(to, 1), 0)
    );
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
  }

  #rename(from: string, to: string, flags: number): void {
    answer((libc) =>
      libc.renameat2(this.#fd, cName(from), this.#fd, cName(to, 1), flags)
    );
  }
}

class DescribedFile implements OpenFile {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  stat(): EntryStat {
    return statOf(this.#fd, "", At.EMPTY_PATH);
  }

  read(into: Uint8Array<ArrayBuffer>): number {
    const length = BigInt(Math.min(into.byteLength, LARGEST_MOVE));
    return answer((libc) => libc.read(this.#fd, into, length));
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength;) {
      // What comes out of a container may lie in any memory; only what is ours can be lent.
      const piece = bytes.subarray(done, done + LARGEST_MOVE);
      const own = piece.buffer instanceof ArrayBuffer
        ? piece as Uint8Array<ArrayBuffer>
        : new Uint8Array(piece);
      done += answer((libc) => libc.write(this.#fd, own, own.length));
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
    answer((libc) => libc.futimens(this.#fd, times));
  }

  sync(): void {
    answer((libc) => libc.fsync(this.#fd));
  }

  close(): void {
    close(this.#fd);
  }
}

/** A directory's descriptor that serves to reach what is in it: being listed takes another. */
const DIRECTORY = Open.PATH | Open.DIRECTORY;
/** read(2) and write(2) move at most 0x7ffff000 bytes. */
const LARGEST_MOVE = 1 << 30;
const LISTING_BYTES = 1 << 16;
let listing: Uint8Array<ArrayBuffer> | undefined;

/** From `linux/fs.h`. */
const RENAME_NOREPLACE = 1;
/** Whether a name that is there already is the kernel's to be found; some file systems don't look. */
let tellsReplaced = true;

/** `struct timespec[2]`, last access and last modification: most files of a container get the same. */
const times = new BigInt64Array(4);
/** What they are set to, in milliseconds. */
let timesOf: number | undefined;

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
  return answer((libc) => libc.openat(fd, cName(name), all, 0o666));
}

function close(fd: number): void {
  libcIfPermitted()!.close(fd);
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
  answer((libc) => libc.statx(fd, cName(name), flags, STATX.MASK, statx));
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
