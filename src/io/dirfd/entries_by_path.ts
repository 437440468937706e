import * as fs from "node:fs";
import { NO_LOCKS } from "../write/file_lock.ts";
import { systemCode } from "../libc/system_error.ts";
import type { EntryFacts } from "./directory.ts";
import type { Entries, EntryFile, FileAccess, NewEntry } from "./entries.ts";

/**
 * {@linkcode Entries} by path, within the limits of Deno's own functions: each name is checked before it is used. That
 * is safe only if nobody else can replace an entry in between.
 */
class NamedEntries implements Entries {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  facts(): EntryFacts | undefined {
    const facts = lookAt(this.#path || "/");
    return facts === "unknown" ? undefined : facts;
  }

  stat(name: string): EntryFacts | "unknown" | undefined {
    return lookAt(this.#at(name));
  }

  readLink(name: string): string {
    return fs.readlinkSync(this.#at(name));
  }

  list(): readonly string[] {
    return fs.readdirSync(this.#path || "/");
  }

  open(name: string): Entries {
    const found = this.stat(name);
    if (found === undefined) throw refusal("ENOENT", "no such directory");
    if (found !== "unknown" && found.kind !== "directory") {
      throw refusal("ENOTDIR", "not a directory");
    }
    return new NamedEntries(this.#at(name));
  }

  makeDirectory(name: string, { mode }: NewEntry): void {
    fs.mkdirSync(this.#at(name), { mode });
    fs.chmodSync(this.#at(name), mode); // whatever the umask
  }

  openFile(name: string, access: FileAccess, { mode }: NewEntry): EntryFile {
    const path = this.#at(name);
    if (access === "create") {
      const options = { read: true, write: true, createNew: true, mode };
      const file = new NamedEntryFile(Deno.openSync(path, options));
      fs.chmodSync(path, mode); // whatever the umask
      return file;
    }
    const found = lookAt(path);
    if (found === undefined) throw refusal("ENOENT", "no such file");
    // Opening a pipe would block.
    if (found !== "unknown" && found.kind !== "file") {
      throw refusal(NO_FILE[found.kind] ?? "ENXIO", "not a regular file");
    }
    const options = { read: true, write: access === "write" };
    return new NamedEntryFile(Deno.openSync(path, options));
  }

  rename(from: string, to: string): void {
    fs.renameSync(this.#at(from), this.#at(to));
  }

  remove(name: string): void {
    fs.unlinkSync(this.#at(name));
  }

  removeDirectory(name: string): void {
    fs.rmdirSync(this.#at(name));
  }

  close(): void {}

  #at(name: string): string {
    return `${this.#path}/${name}`;
  }
}

class NamedEntryFile implements EntryFile {
  /** Deno does not expose it. */
  readonly fd = 0;
  readonly #file: Deno.FsFile;
  #isLocked = false;
  #isClosed = false;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  facts(): EntryFacts {
    return factsIn(this.#file.statSync());
  }

  read(into: Uint8Array, offset: number): number {
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    for (let done = 0; done < into.byteLength;) {
      const got = this.#file.readSync(into.subarray(done) as Bytes);
      if (got === null) return done;
      done += got;
    }
    return into.byteLength;
  }

  write(bytes: Uint8Array, offset: number): void {
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.byteLength;) {
      done += this.#file.writeSync(bytes.subarray(done) as Bytes);
    }
  }

  truncate(size: number): void {
    this.#file.truncateSync(size);
  }

  touch(): void {
    const now = new Date();
    this.#file.utimeSync(now, now);
  }

  tryLock(isExclusive: boolean): boolean {
    try {
      return this.#isLocked = this.#file.tryLockSync(isExclusive);
    } catch (error) {
      if (!NO_LOCKS.includes(systemCode(error) ?? "")) throw error;
      return true;
    }
  }

  unlock(): void {
    if (this.#isLocked) this.#file.unlockSync();
    this.#isLocked = false;
  }

  tryLockRange(): boolean {
    return true; // Deno has no range locks
  }

  unlockRange(): void {}

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Closing is not enough: a child process that is being started holds a copy of the descriptor until it calls exec.
    this.unlock();
    this.#file.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Type that Deno declares; it accepts shared memory as well. */
type Bytes = Uint8Array<ArrayBuffer>;

const NO_FILE: Partial<Record<EntryFacts["kind"], string>> = {
  directory: "EISDIR",
  symlink: "ELOOP",
};

function lookAt(path: string): EntryFacts | "unknown" | undefined {
  const { state } = Deno.permissions.querySync({ name: "read", path });
  if (state !== "granted") return "unknown"; // Deno would prompt for it
  try {
    return factsIn(Deno.lstatSync(path));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function factsIn(stat: Deno.FileInfo): EntryFacts {
  return {
    kind: stat.isFile
      ? "file"
      : stat.isDirectory
      ? "directory"
      : stat.isSymlink
      ? "symlink"
      : "other",
    size: stat.size,
    mtimeMs: stat.mtime?.getTime() ?? 0,
    uid: stat.uid ?? 0,
    gid: stat.gid ?? 0,
    mode: (stat.mode ?? 0) & 0o7777,
    links: stat.nlink ?? 1,
    blocks: stat.blocks ?? Math.ceil(stat.size / 512),
    device: stat.dev,
    inode: stat.ino ?? 0,
  };
}

function refusal(code: string, text: string): Error {
  return Object.assign(new Error(text), { code });
}

export function rootByPath(): Entries {
  return new NamedEntries("");
}
