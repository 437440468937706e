import { RecordfsError } from "../../base/errors.ts";
import { errnoOf, libcIfPermitted } from "../libc/libc.ts";
import { At, cName, F_OK, Open } from "../libc/libc_files.ts";
import { systemCode } from "../libc/system_error.ts";
import type { Directory, EntryFacts, EntryStat } from "./directory.ts";
import { borrowedDirectory } from "./directory_by_descriptor.ts";
import {
  answer,
  close,
  DescribedFile,
  factsOf,
  openAt,
} from "./file_by_descriptor.ts";

/** A directory or file that another user may have created, or may read or change. */
export class NotPrivateError extends RecordfsError<"not-private"> {
  /** What is wrong, such as `belongs to user 1000`. */
  readonly fault: string;
  override readonly path: string;

  constructor(path: string, fault: string, cause?: unknown) {
    super("not-private", `Cannot use ${path}: it ${fault}`, { path, cause });
    this.path = path;
    this.fault = fault;
  }
}

export function ownUid(): number {
  return libcIfPermitted()!.geteuid();
}

/**
 * An open directory that belongs to this user and that nobody else may enter or replace. Needs the C library
 * (`--allow-ffi`). Files are reached by descriptor, so nothing can be exchanged between check and use. They must be
 * regular files of this user with one hard link. A symbolic link, pipe, device or socket instead of one is a
 * {@linkcode NotPrivateError}; it is never followed and never blocks.
 */
export class PrivateDirectory {
  readonly path: string;
  readonly #fd: number;
  readonly #entries: Directory;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
    this.#entries = borrowedDirectory(fd, path);
  }

  /**
   * Opens an existing directory, or creates it.
   *
   * @param path Absolute.
   * @throws {NotPrivateError} If others could read or replace its contents.
   */
  static open(path: string, isToMake = false): PrivateDirectory {
    const [, parent, name] = /^(.*?)\/+([^/]+)\/*$/.exec(path)!;
    const above = openChecked(
      At.FDCWD,
      // With a trailing slash, a link would be followed.
      parent!.replace(/(?<=[^/])\/+$/, "") || "/",
      parent || "/",
      checkAbove,
    );
    try {
      if (isToMake && isMissing(above, name!)) makeIn(above, name!);
      const fd = openChecked(above, name!, path, checkPrivate);
      return new PrivateDirectory(path, fd);
    } finally {
      close(above);
    }
  }

  /**
   * Opens the working directory, which a process started in {@linkcode PrivateDirectory.location} inherits. Checks it
   * like {@linkcode PrivateDirectory.open}.
   */
  static openWorking(): PrivateDirectory {
    const path = Deno.cwd();
    const fd = openChecked(At.FDCWD, ".", path, checkPrivate);
    try {
      close(openChecked(fd, "..", `${path}/..`, checkAbove));
    } catch (error) {
      close(fd);
      throw error;
    }
    return new PrivateDirectory(path, fd);
  }

  /** Path in this process of the open directory, valid even if it is renamed. */
  get location(): string {
    return `/proc/self/fd/${this.#fd}`;
  }

  list(): readonly string[] {
    return this.#entries.list().names;
  }

  stat(name: string): EntryStat | undefined {
    return this.#entries.stat(name, "keep");
  }

  /**
   * Reads a file; `undefined` if it does not exist. Throws a {@linkcode NotPrivateError} if it is not a regular file of
   * this user, or has more than `most` bytes.
   */
  read(name: string, most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#using(name, Open.RDONLY, (fd, size) => {
      if (size <= most) return bytesOf(fd, 0, size);
      throw this.#refusal(name, `has more than ${most} bytes`);
    });
  }

  /** Reads the last `most` bytes of a file, like {@linkcode PrivateDirectory.read}. */
  readEnd(name: string, most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#using(
      name,
      Open.RDONLY,
      (fd, size) => bytesOf(fd, Math.max(0, size - most), size),
    );
  }

  create(name: string): void {
    this.#createFile(name).close();
  }

  /** Replaces a file atomically, because another process may be reading the previous one. */
  write(name: string, content: Uint8Array): void {
    const part = `${name}.part`;
    this.remove(part); // left by a killed process
    try {
      const file = this.#createFile(part);
      try {
        file.write(content);
      } finally {
        file.close();
      }
      this.rename(part, name);
    } catch (error) {
      this.remove(part);
      throw error;
    }
  }

  /**
   * Overwrites a file in place, which needs no more disk space than it already has. Returns whether the file exists.
   * Throws a {@linkcode NotPrivateError} if it is not a regular file of this user.
   */
  overwrite(name: string, content: Uint8Array): boolean {
    return this.#using(name, Open.WRONLY, (fd) => {
      new DescribedFile(fd).write(content);
      const length = BigInt(content.length);
      answer((libc) => libc.ftruncate(fd, length));
      return true;
    }) ?? false;
  }

  /** Renames a file, replacing any target. Returns whether the file exists. */
  rename(from: string, to: string): boolean {
    try {
      this.#entries.rename(from, to, true);
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Removes an entry if it exists, without following links. Directories stay. */
  remove(name: string): void {
    if (isMissing(this.#fd, name)) return;
    try {
      this.#entries.remove(name);
    } catch (error) {
      const code = systemCode(error);
      if (code !== "ENOENT" && code !== "EISDIR") throw error;
    }
  }

  close(): void {
    close(this.#fd);
  }

  #createFile(name: string): DescribedFile {
    const flags = Open.WRONLY | Open.CREAT | Open.EXCL | Open.NOFOLLOW;
    const fd = openAt(this.#fd, name, flags, PRIVATE_FILE);
    answer((libc) => libc.fchmod(fd, PRIVATE_FILE)); // whatever the umask
    return new DescribedFile(fd);
  }

  /** Opens an existing file, checks it, and closes it after `body`; `undefined` if it does not exist. */
  #using<T>(
    name: string,
    flags: number,
    body: (fd: number, size: number) => T,
  ): T | undefined {
    for (let attempt = 1;; attempt++) {
      if (isMissing(this.#fd, name)) return undefined;
      let fd: number;
      try {
        fd = openAt(this.#fd, name, flags | WITHOUT_WAITING);
      } catch (error) {
        const code = systemCode(error);
        if (code === "ENOENT") return undefined;
        const fault = FAULTS[code!];
        throw fault === undefined ? error : this.#refusal(name, fault, error);
      }
      try {
        const facts = factsOf(fd, "", At.EMPTY_PATH);
        // Replaced between open and stat: the opened file has lost its name.
        if (facts.links === 0 && attempt < MOST_ATTEMPTS) continue;
        const fault = faultOf(facts);
        if (fault !== undefined) throw this.#refusal(name, fault);
        return body(fd, facts.size);
      } finally {
        close(fd);
      }
    }
  }

  #refusal(name: string, fault: string, cause?: unknown): NotPrivateError {
    return new NotPrivateError(`${this.path}/${name}`, fault, cause);
  }
}

/** From `asm-generic/errno-base.h`. */
const ENOENT = 2;

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;
const STICKY = 0o1000;
const MOST_ATTEMPTS = 100;

/** Flags to open an entry that may not be a file, without following or blocking. */
const WITHOUT_WAITING = Open.NOFOLLOW | Open.NONBLOCK | Open.NOCTTY;

const NOT_REGULAR = "is not a regular file";
const IS_DIRECTORY = "is a directory";

/** The system's errors for entries that cannot be opened that way. */
const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: "is a symbolic link",
  ENXIO: NOT_REGULAR,
  EISDIR: IS_DIRECTORY,
};

/** Returns why a file is not this user's alone. */
function faultOf({ kind, uid, links }: EntryFacts): string | undefined {
  if (kind === "directory") return IS_DIRECTORY;
  if (kind !== "file") return NOT_REGULAR;
  if (uid !== ownUid()) return `belongs to user ${uid}`;
  return links === 1 ? undefined : `has ${links} names (hard links)`;
}

/** Returns why a directory is not this user's alone. */
function checkPrivate({ uid, mode }: EntryFacts): string | undefined {
  if (uid !== ownUid()) return `belongs to user ${uid}`;
  if ((mode & OTHERS) === 0) return undefined;
  return "may be entered by other users (chmod 700 forbids that)";
}

/** Returns why others could replace a directory's contents. */
function checkAbove({ uid, mode }: EntryFacts): string | undefined {
  if (uid !== ownUid() && uid !== 0) return `belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return undefined;
  return "may be changed by other users (chmod go-w forbids that)";
}

/** @throws {NotPrivateError} If it is not a directory, or `check` finds a fault. */
function openChecked(
  parent: number,
  name: string,
  path: string,
  check: (facts: EntryFacts) => string | undefined,
): number {
  let fd: number;
  try {
    fd = openAt(parent, name, Open.PATH | Open.DIRECTORY | Open.NOFOLLOW);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR") throw error;
    const fault = "is not a directory, or is a symbolic link";
    throw new NotPrivateError(path, fault, error);
  }
  const fault = check(factsOf(fd, "", At.EMPTY_PATH));
  if (fault === undefined) return fd;
  close(fd);
  throw new NotPrivateError(path, fault);
}

/** Whether a name does not exist. Learning that from an error takes as long as a whole mount. */
function isMissing(parent: number, name: string): boolean {
  const libc = libcIfPermitted()!;
  const { faccessat } = libc;
  const result = faccessat(parent, cName(name), F_OK, At.SYMLINK_NOFOLLOW);
  return result !== 0 && errnoOf(libc) === ENOENT;
}

function makeIn(parent: number, name: string): void {
  try {
    answer((libc) => libc.mkdirat(parent, cName(name), PRIVATE_DIRECTORY));
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    throw error;
  }
  // Whatever the umask. Nobody else can have replaced it.
  answer((libc) => libc.fchmodat(parent, cName(name), PRIVATE_DIRECTORY, 0));
}

function bytesOf(
  fd: number,
  start: number,
  end: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(end - start);
  let done = 0;
  while (done < bytes.length) {
    const rest = bytes.subarray(done);
    const place = BigInt(start + done);
    const got = answer((libc) => libc.pread(fd, rest, rest.length, place));
    if (got === 0) break; // the file was truncated
    done += got;
  }
  return bytes.subarray(0, done);
}
