import { libcIfPermitted } from "../libc/libc.ts";
import {
  At,
  cName,
  DIRENT,
  DIRENT_FILE,
  F_OK,
  Open,
  R_OK,
  throwUnlessRepeated,
} from "../libc/libc_files.ts";
import { systemCode } from "../libc/system_error.ts";
import { decodeName } from "../../base/names.ts";
import {
  CLOSED,
  type Directory,
  type EntryStat,
  type Links,
  type Listing,
  type OpenFile,
  requireNothing,
  type UnnamedFile,
} from "./directory.ts";
import {
  answer,
  close,
  createWhole,
  DescribedFile,
  identityInStatx,
  openAt,
  readWhole,
  statOf,
  statsOf,
  timesOf,
  TO_CREATE_UNNAMED,
  TO_READ,
  UnnamedDescribedFile,
} from "./file_by_descriptor.ts";

/** {@linkcode Directory} by descriptor, through openat(2) and its relatives. */
class DescribedDirectory implements Directory {
  readonly path: string;
  #fd: number;
  #identity: string | undefined;
  /** Whether the descriptor is readable and has not been listed yet. */
  #isToList: boolean;

  constructor(path: string, fd: number, identity?: string, isToList = false) {
    this.path = path;
    this.#fd = fd;
    this.#identity = identity;
    this.#isToList = isToList;
  }

  get identity(): string {
    if (this.#identity === undefined) {
      statOf(this.#fd, "", At.EMPTY_PATH);
      this.#identity = identityInStatx();
    }
    return this.#identity;
  }

  get descriptor(): number {
    return this.#fd;
  }

  list(): Listing {
    // The descriptor may be open with `O_PATH` only; listing needs a readable one.
    const fd = this.#isToList ? this.#fd : openAt(this.#fd, ".", TO_LIST);
    this.#isToList = false; // read to its end
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
      if (fd !== this.#fd) close(fd);
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

  statSeveral(
    names: readonly string[],
    start: number,
    most: number,
  ): EntryStat[] {
    return statsOf(this.#fd, names, start, most);
  }

  mayRead(name: string): boolean {
    const { faccessat } = libcIfPermitted()!;
    return faccessat(this.#fd, cName(name), R_OK, At.EACCESS) === 0;
  }

  open(name: string, links: Links): Directory {
    const flags = links === "keep" ? Open.NOFOLLOW : 0;
    const fd = openAt(this.#fd, name, flags | DIRECTORY);
    return new DescribedDirectory(`${this.path}/${name}`, fd);
  }

  openAgain(): Directory {
    const fd = answer((libc) => libc.fcntl(this.#fd, F_DUPFD_CLOEXEC, 0));
    return new DescribedDirectory(this.path, fd, this.identity);
  }

  openFile(name: string): OpenFile {
    return new DescribedFile(openAt(this.#fd, name, TO_READ));
  }

  readWhole(
    name: Uint8Array,
    into: Uint8Array<ArrayBuffer>,
    mtimeMs: number,
  ): boolean {
    return readWhole(this.#fd, name, into, mtimeMs);
  }

  createFile(name: string): OpenFile {
    const flags = Open.WRONLY | Open.CREAT | Open.EXCL;
    return new DescribedFile(openAt(this.#fd, name, flags));
  }

  createUnnamed(): UnnamedFile | undefined {
    hasUnnamed ??= isThere("/proc/self/fd"); // linking may go through it
    if (!hasUnnamed) return undefined;
    try {
      const fd = openAt(this.#fd, ".", TO_CREATE_UNNAMED);
      return new UnnamedDescribedFile(fd, this.#fd);
    } catch (error) {
      if (!NO_UNNAMED.has(systemCode(error))) throw error;
      hasUnnamed = false;
      return undefined;
    }
  }

  createWhole(name: string, content: Uint8Array, time: Date): boolean {
    return hasUnnamed === true && createWhole(this.#fd, name, content, time);
  }

  makeDirectory(name: string): void {
    answer((libc) => libc.mkdirat(this.#fd, cName(name), 0o777));
  }

  makeLink(name: string, target: string): void {
    answer((libc) => libc.symlinkat(cName(target, 1), this.#fd, cName(name)));
  }

  setModified(name: string, time: Date): void {
    const times = timesOf(time);
    const flags = At.SYMLINK_NOFOLLOW;
    answer((libc) => libc.utimensat(this.#fd, cName(name), times, flags));
  }

  rename(from: string, to: string, mayReplace: boolean): void {
    if (!mayReplace && tellsReplaced) {
      try {
        return this.#rename(from, to, RENAME_NOREPLACE);
      } catch (error) {
        const code = systemCode(error);
        if (code !== "EINVAL" && code !== "ENOSYS") throw error;
        tellsReplaced = false; // unsupported by the kernel or this file system
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
    // A descriptor opened with `O_PATH` cannot be synced.
    const fd = openAt(this.#fd, ".", Open.RDONLY | Open.DIRECTORY);
    try {
      const { syncfsElsewhere } = libcIfPermitted()!;
      if (await syncfsElsewhere(fd) === 0) return true;
    } finally {
      close(fd);
    }
    // The call's own error is lost; only the disk can have caused it.
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

/** Whether a path exists. Loading `node:fs` would take longer than making a mount. */
function isThere(path: string): boolean {
  const { faccessat } = libcIfPermitted()!;
  return faccessat(At.FDCWD, cName(path), F_OK, 0) === 0;
}

/** Errors of file systems without unnamed files. Old kernels take the flag for another. */
const NO_UNNAMED: ReadonlySet<string | undefined> = new Set(
  ["EOPNOTSUPP", "ENOTSUP", "EISDIR", "EINVAL", "ENOENT"],
);
let hasUnnamed: boolean | undefined;

/** Flags of a descriptor to reach entries by. Listing needs another one. */
const DIRECTORY = Open.PATH | Open.DIRECTORY;
const TO_LIST = Open.RDONLY | Open.DIRECTORY;
const LISTING_BYTES = 1 << 16;
let listing: Uint8Array<ArrayBuffer> | undefined;

/** From `linux/fcntl.h`. */
const F_DUPFD_CLOEXEC = 1030;

/** From `linux/fs.h`. */
const RENAME_NOREPLACE = 1;
/** Whether renameat2(2) detects an existing target; some file systems do not support that. */
let tellsReplaced = true;

/** Returns a {@linkcode Directory} over a descriptor that its owner closes. */
export function borrowedDirectory(descriptor: number, path = ""): Directory {
  return new DescribedDirectory(path, descriptor, "");
}

/** Opens a directory by its path. If `isToList`, it is listed first, through the same descriptor. */
export function openDescribed(path: string, isToList: boolean): Directory {
  const flags = isToList ? TO_LIST : DIRECTORY;
  const fd = openAt(At.FDCWD, path || ".", flags);
  return new DescribedDirectory(path, fd, undefined, isToList);
}
