import { libcIfPermitted, neededForLibc } from "../libc/libc.ts";
import { systemCode } from "../libc/system_error.ts";
import { absoluteLocalPath } from "../storage/local_path.ts";
import type { EntryFacts } from "./directory.ts";
import type { Entries, EntryFile, FileAccess, NewEntry } from "./entries.ts";
import { rootByDescriptor } from "./entries_by_descriptor.ts";
import { rootByPath } from "./entries_by_path.ts";
import {
  NotTrustedError,
  ownUid,
  type Trust,
  type Trusted,
  whyNotEntry,
  whyNotOwn,
} from "./trust.ts";
import { makeUnlessThere, TrustedWalk } from "./trusted_walk.ts";

/**
 * An open directory whose entries nobody else can have created or exchanged. It and all entries used below it belong to
 * the user; others may not write to them or replace a directory above. If shared, its owner and group are trusted too.
 *
 * Nothing below it is reached through a link. Files must be regular with one hard link: a symbolic link, pipe, device
 * or socket instead of one is a {@linkcode NotTrustedError}. New entries get their permissions whatever the umask.
 *
 * If the C library may be called, entries are reached by the directory's descriptor, so what was checked is what is
 * used. Otherwise they are checked by path first, which is as safe if nobody else can write. Shared directories are
 * refused then.
 */
export class TrustedDirectory implements Disposable {
  readonly path: string;
  readonly #entries: Entries;
  readonly #trusted: Trusted;

  private constructor(path: string, entries: Entries, trusted: Trusted) {
    this.path = path;
    this.#entries = entries;
    this.#trusted = trusted;
  }

  /**
   * Opens a directory; `undefined` if it does not exist. If `isToMake`, creates it and its parents.
   *
   * @throws {NotTrustedError} If others could have created it, or could change its contents.
   */
  static open(
    path: string,
    trust: Trust,
    isToMake: boolean,
  ): TrustedDirectory | undefined {
    const hasLibc = libcIfPermitted() !== undefined;
    if (trust.isShared && !hasLibc) {
      const why = `cannot be shared without ${neededForLibc()}`;
      throw new NotTrustedError(path, why);
    }
    const root = hasLibc ? rootByDescriptor() : rootByPath();
    const trusted = { ...trust, uid: ownUid(), system: root.facts()?.uid };
    const making = isToMake ? newDirectory(trusted) : undefined;
    const walk = new TrustedWalk(root, trusted, making);
    const found = walk.to(absoluteLocalPath(path));
    if (found === undefined) return undefined;
    try {
      const facts = found.entries.facts();
      const { uid = ownUid(found.path) } = trusted;
      const own = { ...trusted, uid, owner: facts?.uid, gid: facts?.gid };
      walk.recheck(own);
      const reason = facts && whyNotOwn(facts, own, found.isInOpen);
      if (reason !== undefined) throw new NotTrustedError(found.path, reason);
      return new TrustedDirectory(found.path, found.entries, own);
    } catch (error) {
      found.entries.close();
      throw error;
    }
  }

  list(): readonly string[] {
    return this.#entries.list();
  }

  /** Opens a subdirectory; `undefined` if missing. Throws a {@linkcode NotTrustedError} if it is not trusted. */
  open(name: string): TrustedDirectory | undefined {
    const entries = this.#unlessMissing(name, () => this.#entries.open(name));
    if (entries === undefined) return undefined;
    try {
      this.#check(name, entries.facts(), "directory");
    } catch (error) {
      entries.close();
      throw error;
    }
    return new TrustedDirectory(`${this.path}/${name}`, entries, this.#trusted);
  }

  /** {@linkcode TrustedDirectory.open}, creating the directory if it is missing. */
  make(name: string): TrustedDirectory {
    for (;;) {
      const found = this.open(name);
      if (found !== undefined) return found;
      makeUnlessThere(this.#entries, name, newDirectory(this.#trusted));
    }
  }

  /**
   * Returns a file's metadata; `undefined` if it does not exist. Throws a {@linkcode NotTrustedError} if it is not
   * trusted, or not a regular file.
   */
  stat(name: string): EntryFacts | undefined {
    const facts = this.#entries.stat(name);
    if (facts === undefined || facts === "unknown") return undefined;
    this.#check(name, facts, "file");
    return facts;
  }

  /** Opens a file with the checks of {@linkcode TrustedDirectory.stat}. */
  openFile(
    name: string,
    access: Exclude<FileAccess, "create">,
  ): EntryFile | undefined {
    const file = this.#unlessMissing(name, () => this.#openFile(name, access));
    if (file === undefined) return undefined;
    try {
      this.#check(name, file.facts(), "file");
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** {@linkcode TrustedDirectory.openFile}, creating the file if it is missing. */
  makeFile(name: string): EntryFile {
    for (;;) {
      const found = this.openFile(name, "write");
      if (found !== undefined) return found;
      try {
        return this.#openFile(name, "create");
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      }
    }
  }

  /** Replaces a file atomically. `temporary` is its name while it is incomplete, and must not exist. */
  replaceFile(
    name: string,
    temporary: string,
    parts: readonly Uint8Array[],
  ): void {
    try {
      using file = this.#openFile(temporary, "create");
      let offset = 0;
      for (const part of parts) {
        file.write(part, offset);
        offset += part.byteLength;
      }
      this.#entries.rename(temporary, name);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") this.remove(temporary);
      throw error;
    }
  }

  /** Removes an entry, without following links. Directories stay. Returns whether the name no longer exists. */
  remove(name: string): boolean {
    try {
      this.#entries.remove(name);
      return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT") return true;
      if (code === "EISDIR" || code === "EPERM") return false;
      throw error;
    }
  }

  /** Removes an empty subdirectory. Any other stays. Returns whether the name no longer exists. */
  removeDirectory(name: string): boolean {
    try {
      this.#entries.removeDirectory(name);
      return true;
    } catch (error) {
      return systemCode(error) === "ENOENT";
    }
  }

  [Symbol.dispose](): void {
    this.#entries.close();
  }

  #openFile(name: string, access: FileAccess): EntryFile {
    return this.#entries.openFile(name, access, newFile(this.#trusted));
  }

  #check(
    name: string,
    facts: EntryFacts | undefined,
    kind: "file" | "directory",
  ): void {
    const reason = facts && whyNotEntry(facts, kind, this.#trusted);
    if (reason === undefined) return;
    throw new NotTrustedError(`${this.path}/${name}`, reason);
  }

  #unlessMissing<T>(name: string, open: () => T): T | undefined {
    try {
      return open();
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT") return undefined;
      const reason = NOT_OPENED[code ?? ""];
      if (reason === undefined) throw error;
      throw new NotTrustedError(`${this.path}/${name}`, reason, error);
    }
  }
}

function newDirectory({ isShared, gid }: Trusted): NewEntry {
  return isShared ? { mode: SHARED_DIRECTORY, gid } : { mode: OWN_DIRECTORY };
}

function newFile({ isShared, gid }: Trusted): NewEntry {
  return isShared ? { mode: SHARED_FILE, gid } : { mode: OWN_FILE };
}

/** The system's errors for entries of another kind than requested. */
const NOT_OPENED: Readonly<Record<string, string>> = {
  EISDIR: "is a directory",
  ELOOP: "is a symbolic link",
  ENOTDIR: "is not a directory, or it is a symbolic link",
  ENXIO: "is not a regular file",
};

const OWN_FILE = 0o600;
const SHARED_FILE = 0o660;
const OWN_DIRECTORY = 0o700;
/** setgid: new entries inherit the group */
const SHARED_DIRECTORY = 0o2770;
