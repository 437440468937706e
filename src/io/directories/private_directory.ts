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

/** A directory or file that another user may have made, may read or may change. */
export class NotPrivateError extends RecordfsError<"not-private"> {
  /** What is wrong with it, such as `belongs to user 1000`. */
  readonly fault: string;
  override readonly path: string;

  constructor(path: string, fault: string, cause?: unknown) {
    super("not-private", `Cannot use ${path}: it ${fault}`, { path, cause });
    this.path = path;
    this.fault = fault;
  }
}

/** User whose permissions files are opened with. */
export function ownUid(): number {
  return libcIfPermitted()!.geteuid();
}

/**
 * An open directory that belongs to this user and that nobody else may enter, in a directory where nobody else can
 * replace it. It needs the C library (`--allow-ffi`).
 *
 * Its files are reached by its descriptor, so nothing that was checked can be exchanged before it is used. They are
 * regular files of this user with one name. A symbolic link, a pipe, a device or a socket in the place of one is a
 * {@linkcode NotPrivateError}: none is followed, and none is waited for.
 */
export class PrivateDirectory {
  /** For messages. */
  readonly path: string;
  readonly #fd: number;
  readonly #entries: Directory;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
    this.#entries = borrowedDirectory(fd, path);
  }

  /**
   * Opens a directory that is there, or makes it.
   *
   * @param path Absolute.
   * @throws {NotPrivateError} If others could read or replace what is in it.
   * @throws {SystemError} If the system refuses to open or to make it.
   */
  static open(path: string, isToMake = false): PrivateDirectory {
    const [, parent, name] = /^(.*?)\/+([^/]+)\/*$/.exec(path)!;
    const above = openChecked(
      At.FDCWD,
      // A slash behind the last name would have a link followed.
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
   * Opens the working directory, which a process inherits that was started in {@linkcode PrivateDirectory.location}.
   *
   * @throws {NotPrivateError} If others could read or replace what is in it.
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

  /** A path of this process that leads to the open directory, whatever has its name by now. */
  get location(): string {
    return `/proc/self/fd/${this.#fd}`;
  }

  /** Names of all that is in it. */
  list(): readonly string[] {
    return this.#entries.list().names;
  }

  /** What has a name in it, without following a link; `undefined` where nothing has. */
  stat(name: string): EntryStat | undefined {
    return this.#entries.stat(name, "keep");
  }

  /**
   * Reads a file.
   *
   * @param most Largest size, in bytes.
   * @returns `undefined` where there is none.
   * @throws {NotPrivateError} If it is not a regular file of this user, or larger.
   */
  read(name: string, most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#using(name, Open.RDONLY, (fd, size) => {
      if (size <= most) return bytesOf(fd, 0, size);
      throw this.#refusal(name, `has more than ${most} bytes`);
    });
  }

  /** Reads the end of a file as {@linkcode PrivateDirectory.read} does: the last `most` bytes. */
  readEnd(name: string, most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#using(
      name,
      Open.RDONLY,
      (fd, size) => bytesOf(fd, Math.max(0, size - most), size),
    );
  }

  /** Makes an empty file, which nothing may have the name of. */
  create(name: string): void {
    this.#createFile(name).close();
  }

  /** Writes a file, all at once: another process may be reading what had the name before. */
  write(name: string, content: Uint8Array): void {
    const part = `${name}.part`;
    this.remove(part); // of a process that was killed
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
   * Writes a file that is there in its place, which takes no more room on the disk than it has.
   *
   * @returns Whether it is there.
   * @throws {NotPrivateError} If it is not a regular file of this user.
   */
  overwrite(name: string, content: Uint8Array): boolean {
    return this.#using(name, Open.WRONLY, (fd) => {
      new DescribedFile(fd).write(content);
      const length = BigInt(content.length);
      answer((libc) => libc.ftruncate(fd, length));
      return true;
    }) ?? false;
  }

  /**
   * Gives a file another name, whatever had that.
   *
   * @returns Whether it is there.
   */
  rename(from: string, to: string): boolean {
    try {
      this.#entries.rename(from, to, true);
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Removes what has a name, a link itself, if anything has; a directory stays. */
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

  /** Opens a file that is there, checks it, and closes it behind `body`; `undefined` where there is none. */
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
        // Written anew between the two: it has lost its name to another file.
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
/** Permissions of a group and others to write. */
const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;
const STICKY = 0o1000;
const MOST_ATTEMPTS = 100;

/** Flags of opening what may be no file at all: it is neither followed nor waited for. */
const WITHOUT_WAITING = Open.NOFOLLOW | Open.NONBLOCK | Open.NOCTTY;

const NOT_REGULAR = "is not a regular file";
const IS_DIRECTORY = "is a directory";

/** What the system says of those that can't be opened so. */
const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: "is a symbolic link",
  ENXIO: NOT_REGULAR,
  EISDIR: IS_DIRECTORY,
};

/** Returns what keeps a file from being this user's alone. */
function faultOf({ kind, uid, links }: EntryFacts): string | undefined {
  if (kind === "directory") return IS_DIRECTORY;
  if (kind !== "file") return NOT_REGULAR;
  if (uid !== ownUid()) return `belongs to user ${uid}`;
  return links === 1 ? undefined : `has ${links} names (hard links)`;
}

/** Returns what keeps a directory from being this user's alone. */
function checkPrivate({ uid, mode }: EntryFacts): string | undefined {
  if (uid !== ownUid()) return `belongs to user ${uid}`;
  if ((mode & OTHERS) === 0) return undefined;
  return "may be entered by other users (chmod 700 forbids that)";
}

/** Returns why others could replace what is in a directory. */
function checkAbove({ uid, mode }: EntryFacts): string | undefined {
  if (uid !== ownUid() && uid !== 0) return `belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return undefined;
  return "may be changed by other users (chmod go-w forbids that)";
}

/** @throws {NotPrivateError} If it is no directory, or `check` finds a fault. */
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

/** Whether a directory has nothing of a name. To find that out by an error takes as long as all of a mount does. */
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
  // Whatever the umask; nobody else can have replaced it.
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
    if (got === 0) break; // it has become shorter
    done += got;
  }
  return bytes.subarray(0, done);
}
