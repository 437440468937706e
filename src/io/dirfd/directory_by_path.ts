import * as fs from "node:fs";
import { RecordfsError } from "../../base/errors.ts";
import {
  CLOSED,
  type Directory,
  type EntryStat,
  type Links,
  type Listing,
  type OpenFile,
  requireNothing,
} from "./directory.ts";
import { systemCode } from "../libc/system_error.ts";

/** Deno's replacement for bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** `node:fs` does not define `O_NONBLOCK` on every system. */
const NONBLOCK = fs.constants.O_NONBLOCK ?? 0;

/** {@linkcode Directory} by path, within the limits of Deno's own functions. */
class NamedDirectory implements Directory {
  readonly path: string;
  readonly identity: string;
  readonly descriptor = undefined;

  constructor(path: string) {
    this.path = path;
    const stat = fs.statSync(path, { bigint: true });
    if (!stat.isDirectory()) throw notADirectory();
    this.identity = `${stat.dev}:${stat.ino}`;
  }

  list(): Listing {
    const names: string[] = [];
    const notFiles = new Set<string>();
    const unreachable: string[] = [];
    const seen = new Set<string>();
    for (const entry of fs.readdirSync(this.path, { withFileTypes: true })) {
      const { name } = entry;
      // Two names may look the same here, and one of them may really contain the replacement character.
      const inexact = name.includes(REPLACEMENT) &&
        (seen.has(name) || !this.#isThere(name));
      if (name.includes(REPLACEMENT)) seen.add(name);
      if (inexact) unreachable.push(name);
      else names.push(name);
      if (!entry.isFile()) notFiles.add(name);
    }
    return { names, notFiles, unreachable };
  }

  stat(name: string, links: Links): EntryStat | undefined {
    const path = this.#at(name);
    try {
      return entryStat(
        links === "keep" ? fs.lstatSync(path) : fs.statSync(path),
      );
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  }

  statSeveral(): EntryStat[] {
    return []; // no gain here
  }

  mayRead(name: string): boolean {
    try {
      // Deno's access() needs --allow-sys to learn the user.
      this.openFile(name).close();
      return true;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return false;
    }
  }

  open(name: string, links: Links): Directory {
    const path = this.#at(name);
    if (links === "keep" && !fs.lstatSync(path).isDirectory()) {
      throw notADirectory();
    }
    return new NamedDirectory(path);
  }

  openAgain(): Directory {
    return new NamedDirectory(this.path);
  }

  openFile(name: string): OpenFile {
    return openNamedFile(`${this.path}/${name}`);
  }

  readWhole(): boolean {
    return false; // no gain here
  }

  createFile(name: string): OpenFile {
    return new NamedFile(fs.openSync(this.#at(name), "wx"));
  }

  createUnnamed(): undefined {}

  createWhole(): boolean {
    return false;
  }

  makeDirectory(name: string): void {
    fs.mkdirSync(this.#at(name));
  }

  makeLink(name: string, target: string): void {
    fs.symlinkSync(reachable(target), this.#at(name));
  }

  setModified(name: string, time: Date): void {
    const seconds = secondsOf(time);
    fs.lutimesSync(this.#at(name), seconds, seconds);
  }

  rename(from: string, to: string, mayReplace: boolean): void {
    if (!mayReplace) requireNothing(this, to);
    fs.renameSync(this.#at(from), this.#at(to));
  }

  remove(name: string): void {
    fs.unlinkSync(this.#at(name));
  }

  removeDirectory(name: string): void {
    fs.rmdirSync(this.#at(name));
  }

  syncFileSystem(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {}

  #isThere(name: string): boolean {
    try {
      return this.stat(name, "keep") !== undefined;
    } catch (error) {
      // The replacement takes three bytes for one, so the name may be too long.
      if (systemCode(error) === "ENAMETOOLONG") return false;
      throw error;
    }
  }

  #at(name: string): string {
    return reachable(`${this.path}/${name}`);
  }
}

/** Why some names cannot be reached. */
export const NAME_NEEDS_FFI =
  "its name is not UTF-8, which needs Deno's --allow-ffi, on Linux with the " +
  "GNU C library";

function reachable(path: string): string {
  if (path.isWellFormed()) return path;
  throw new RecordfsError(
    "name-needs-ffi",
    `Cannot reach ${path}: ${NAME_NEEDS_FFI}`,
    { path },
  );
}

class NamedFile implements OpenFile {
  #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  stat(): EntryStat {
    return entryStat(fs.fstatSync(this.#fd));
  }

  startRead(): void {}

  read(into: Uint8Array): number {
    return fs.readSync(this.#fd, into, 0, into.byteLength, null);
  }

  isInMemory(): boolean {
    return true;
  }

  setDirect(): boolean {
    return false;
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength;) {
      done += fs.writeSync(this.#fd, bytes, done, bytes.byteLength - done);
    }
  }

  setModified(time: Date): void {
    const seconds = secondsOf(time);
    fs.futimesSync(this.#fd, seconds, seconds);
  }

  startSync(): void {}

  sync(): void {
    fs.fsyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== CLOSED) fs.closeSync(this.#fd);
    this.#fd = CLOSED;
  }
}

/** Seconds as a float. The system truncates to nanoseconds, so 0.123 would become 0.122999999. */
function secondsOf(time: Date): number {
  return time.getTime() / 1000 + 5e-7;
}

export function openNamed(path: string): Directory {
  return new NamedDirectory(reachable(path));
}

export function openNamedFile(path: string): OpenFile {
  const flags = fs.constants.O_RDONLY | NONBLOCK;
  return new NamedFile(fs.openSync(reachable(path), flags));
}

function notADirectory(): Error {
  return Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
}

function entryStat(stat: fs.Stats): EntryStat {
  return {
    kind: stat.isFile()
      ? "file"
      : stat.isDirectory()
      ? "directory"
      : stat.isSymbolicLink()
      ? "symlink"
      : "other",
    size: stat.size,
    mtimeMs: stat.mtimeMs,
    isOwnersToRead: false, // learning the user needs --allow-sys
  };
}
