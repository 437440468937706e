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
 * An open directory whose entries nobody else can have made or exchanged: it belongs to the user, and so does all that
 * is used below it, and others may neither write to these nor replace a directory above. Where it is shared, its owner
 * and its group are trusted as well, and everybody else is not.
 *
 * Nothing below it is reached through a link. A file is a regular one with one name: a symbolic link, a pipe, a device
 * or a socket in its place is a {@linkcode NotTrustedError}. What is made gets its permissions whatever the umask.
 *
 * Where the C library may be called, entries are reached by the directory's descriptor, so that what was checked is what
 * is used. Elsewhere they are looked at by their paths before, which is as good where nobody else can write: only a
 * shared directory is refused.
 */
export class TrustedDirectory implements Disposable {
  /** Absolute, and free of links. */
  readonly path: string;
  readonly #entries: Entries;
  readonly #trusted: Trusted;

  private constructor(path: string, entries: Entries, trusted: Trusted) {
    this.path = path;
    this.#entries = entries;
    this.#trusted = trusted;
  }

  /**
   * Opens a directory.
   *
   * @param isToMake Whether it is made where it is missing, with those above it.
   * @returns `undefined` where there is none.
   * @throws {NotTrustedError} If others could have made it, or could change what is in it.
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

  /** Names of all that is in it, whosever it is. */
  list(): readonly string[] {
    return this.#entries.list();
  }

  /**
   * Opens a directory in it.
   *
   * @returns `undefined` where nothing has the name.
   * @throws {NotTrustedError} If it is not of those who are trusted.
   */
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

  /** {@linkcode TrustedDirectory.open} of one that is made where it is missing. */
  make(name: string): TrustedDirectory {
    for (;;) {
      const found = this.open(name);
      if (found !== undefined) return found;
      makeUnlessThere(this.#entries, name, newDirectory(this.#trusted));
    }
  }

  /**
   * Facts of a file.
   *
   * @returns `undefined` where nothing has the name.
   * @throws {NotTrustedError} If it is not of those who are trusted, or no regular file.
   */
  stat(name: string): EntryFacts | undefined {
    const facts = this.#entries.stat(name);
    if (facts === undefined || facts === "unknown") return undefined;
    this.#check(name, facts, "file");
    return facts;
  }

  /** Opens a file that {@linkcode TrustedDirectory.stat} has nothing against. */
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

  /** {@linkcode TrustedDirectory.openFile} of one that is made where it is missing. */
  makeFile(name: string): EntryFile {
    for (;;) {
      const found = this.openFile(name, "write");
      if (found !== undefined) return found;
      try {
        return this.#openFile(name, "create");
      } catch (error) {
        // Another process has made it meanwhile.
        if (systemCode(error) !== "EEXIST") throw error;
      }
    }
  }

  /**
   * Writes a file that is never seen in part, in place of what has its name.
   *
   * @param temporary What it is called until it is whole; nothing may have that name.
   */
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

  /**
   * Removes what has a name, a link itself; a directory stays.
   *
   * @returns Whether nothing has that name any more.
   */
  remove(name: string): boolean {
    try {
      this.#entries.remove(name);
      return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT") return true;
      // Those are the words for a directory.
      if (code === "EISDIR" || code === "EPERM") return false;
      throw error;
    }
  }

  /**
   * Removes a directory in it that is empty; any other one stays.
   *
   * @returns Whether nothing has that name any more.
   */
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

/** Permissions and group of a directory that is made. */
function newDirectory({ isShared, gid }: Trusted): NewEntry {
  return isShared ? { mode: SHARED_DIRECTORY, gid } : { mode: OWN_DIRECTORY };
}

function newFile({ isShared, gid }: Trusted): NewEntry {
  return isShared ? { mode: SHARED_FILE, gid } : { mode: OWN_FILE };
}

/** What the system says of entries of another kind than they are opened as. */
const NOT_OPENED: Readonly<Record<string, string>> = {
  EISDIR: "is a directory",
  ELOOP: "is a symbolic link",
  ENOTDIR: "is not a directory, or it is a symbolic link",
  ENXIO: "is not a regular file",
};

const OWN_FILE = 0o600;
const SHARED_FILE = 0o660;
const OWN_DIRECTORY = 0o700;
/** What is made in it is of its group. */
const SHARED_DIRECTORY = 0o2770;
