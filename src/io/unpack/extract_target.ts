import * as fs from "node:fs";
import { optionText, REPLACE } from "../../base/named_option.ts";
import { resolve } from "node:path";
import process from "node:process";
import type { Directory } from "../dirfd/directory.ts";
import { DirectoryChain } from "../dirfd/directory_chain.ts";
import { openDirectory } from "../dirfd/open_directory.ts";
import { systemCode } from "../libc/system_error.ts";
import { extractorOf } from "../write/temporaries.ts";
import {
  type Durability,
  placeWhole,
  type Placing,
  UnplacedFile,
} from "./unplaced_file.ts";
import {
  gone,
  inTheWay,
  isSafeName,
  notEntered,
  refusal,
  requireInside,
  safeNames,
} from "./refusals.ts";
import { workingDirectory } from "../storage/local_path.ts";

export interface ExtractTargetOptions {
  readonly replace: boolean;
  /** Modification time of files that have none of their own. */
  readonly mtime: Date;
  readonly sync: Durability;
  /** Name of the directory in errors, if not its path: it has a temporary name until everything is written. */
  readonly shownAs?: string | undefined;
}

/** Entry of a depth-first walk: it comes after its directory and the entries before it there. */
export interface WalkPlace {
  /** From the root of the extraction. */
  readonly path: string;
  readonly name: string;
  /** Depth below the start of the walk; 1 for its direct entries. */
  readonly depth: number;
}

/** A file that another thread writes. */
export interface PendingFiles {
  /** Must be closed when the file is written. */
  readonly directory: Directory;
  readonly name: string;
  /** From the root of the extraction. */
  readonly path: string;
  readonly number: number;
}

/** Target: a path, or an entry of the walk that {@linkcode ExtractTarget.start} began. */
export type Place = string | WalkPlace;

/**
 * A directory that files are extracted into, and never outside it: symbolic links in it are not followed, and paths
 * cannot escape it. With `--allow-ffi`, that holds whatever others rename in it meanwhile.
 *
 * A file appears under its name when it is complete. Until then it is unnamed. If that is unsupported, or an existing
 * file is replaced, it has a temporary name. That is removed on failure; after a kill, the next extraction that reaches
 * the directory removes it.
 */
export class ExtractTarget implements Disposable {
  readonly #root: string;
  readonly #options: ExtractTargetOptions;
  readonly #chain: DirectoryChain;
  readonly placing: Placing;
  readonly mtime: Date;
  #temporaries = 0;
  #start = 0;

  /** Creates the directory. Its own path may contain symbolic links. */
  constructor(directory: string, options: ExtractTargetOptions) {
    this.#options = options;
    const { replace, mtime, sync, shownAs } = options;
    const isHidden = shownAs !== undefined;
    this.placing = { replace, sync, isHidden };
    this.mtime = mtime;
    if (!directory.startsWith("/")) workingDirectory();
    this.#root = resolve(directory);
    try {
      fs.mkdirSync(directory, { recursive: true });
      this.#chain = new DirectoryChain(openDirectory(this.#root), "keep");
    } catch (error) {
      const code = systemCode(error);
      const reason = code === "EEXIST" || code === "ENOTDIR"
        ? "it is not a directory, or is below a file. Choose another"
        : undefined;
      throw refusal(options.shownAs ?? directory, directory, error, reason);
    }
    this.#removeLeftovers();
  }

  /**
   * Creates the directory that a walk starts in, and its parents. From then on, the walk's entries can be passed
   * instead of paths, in walk order. Each is reached from the one before, so a tree of any depth takes steps linear in
   * its entries.
   *
   * @throws {RecordfsError} If something other than a directory is in the way.
   */
  start(path: string): void {
    this.makeDirectory(path);
    this.#start = this.#chain.depth;
  }

  /** Creates a directory and its parents. Throws a RecordfsError if something else is in the way. */
  makeDirectory(place: Place): void {
    this.#naming(place, () => {
      const names = this.#namesFrom(place);
      this.#enter(names.known, names.below);
    });
  }

  /** Throws a RecordfsError if something exists that must not be replaced. */
  checkFree(place: Place): void {
    this.#naming(place, () => this.#checkFree(place));
  }

  /** Sets a directory's modification time. Must be called after everything in and below the directory is written. */
  setModified(place: Place, mtime: Date): void {
    this.makeDirectory(place);
    this.#naming(place, () => this.#chain.last.setModified(".", mtime));
  }

  write(place: Place, content: Uint8Array, mtime = this.mtime): void {
    try { // inline, because a closure per file costs too much
      const { directory, name } = this.#place(place);
      if (placeWhole(directory, name, this.placing, content, mtime)) return;
      using file = this.#newFile(directory, name);
      file.write(content);
      this.#finish(file, mtime);
    } catch (error) {
      throw this.#named(place, error);
    }
  }

  /**
   * Creates a symbolic link. Extraction itself never follows one. `target` may go up to the root of the extraction, and
   * then only down; otherwise it throws a RecordfsError.
   */
  makeLink(place: Place, target: string, mtime = this.mtime): void {
    this.#naming(place, () => {
      const { directory, name } = this.#place(place);
      requireInside(
        typeof place === "string" ? place : place.path,
        target,
        this.#chain.depth,
      );
      const { replace } = this.#options;
      const number = ++this.#temporaries;
      const first = replace ? `.recordfs-${process.pid}-${number}.part` : name;
      try {
        directory.makeLink(first, target);
      } catch (error) {
        if (systemCode(error) === "EEXIST") this.#requireFree(directory, name);
        throw error;
      }
      directory.setModified(first, mtime);
      if (first === name) return;
      try {
        directory.rename(first, name, true);
      } catch (error) {
        directory.remove(first);
        this.#requireFree(directory, name);
        throw error;
      }
    });
  }

  /** Writes a file of any size. If `hasHoles`, zeros become holes, which take no disk space. */
  async writeStream(
    place: Place,
    content: AsyncIterable<Uint8Array>,
    mtime = this.mtime,
    hasHoles = false,
  ): Promise<void> {
    using file = this.#naming(place, () => {
      const { directory, name } = this.#place(place);
      return this.#newFile(directory, name);
    });
    for await (const chunk of content) {
      this.#naming(
        place,
        () => hasHoles ? file.writeSparse(chunk) : file.write(chunk),
      );
    }
    this.#naming(place, () => this.#finish(file, mtime));
  }

  /**
   * Prepares a file for another thread to write. The caller closes its directory. `before` is a file whose directory is
   * reused if it is the same. Returns `undefined` if only this thread can write the file.
   */
  handOver(place: WalkPlace, before?: PendingFiles): PendingFiles | undefined {
    try {
      const { directory, name } = this.#place(place);
      if (directory.descriptor === undefined) return undefined;
      const number = ++this.#temporaries;
      const { path } = place;
      const isSame = before?.directory.identity === directory.identity;
      return isSame
        ? { directory: before.directory, name, path, number }
        : { directory: directory.openAgain(), name, path, number };
    } catch (error) {
      throw this.#named(place, error);
    }
  }

  /** Returns the error of a file that another thread could not write, with its cause named. */
  refused({ directory, name, path }: PendingFiles, error: unknown): unknown {
    try {
      return this.#naming(path, () => {
        this.#requireFree(directory, name);
        throw error;
      });
    } catch (named) {
      return named;
    }
  }

  /** Waits until everything is on disk, unless `sync` is `none`. Returns `false` without `--allow-ffi`. */
  async complete(): Promise<boolean> {
    if (this.#options.sync === "none") return true;
    try {
      return await this.#chain.last.syncFileSystem();
    } catch (error) {
      throw refusal(this.#options.shownAs ?? this.#root, "", error);
    }
  }

  [Symbol.dispose](): void {
    this.#chain.close();
  }

  /** Adds the path to system errors, and keeps their codes. */
  #naming<T>(place: Place, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#named(place, error);
    }
  }

  #named(place: Place, error: unknown): unknown {
    const path = typeof place === "string" ? place : place.path;
    const directory = this.#options.shownAs ?? this.#root;
    return refusal(`${directory}/${path}`, path, error);
  }

  #checkFree(place: Place): void {
    const { directory, name } = this.#place(place);
    this.#requireFree(directory, name);
  }

  #requireFree(directory: Directory, name: string): void {
    const stat = directory.stat(name, "keep");
    if (
      stat === undefined || stat.kind !== "directory" && this.#options.replace
    ) return;
    const path = `${directory.path}/${name}`;
    throw stat.kind === "directory"
      ? inTheWay(path, "it is a directory")
      : inTheWay(
        path,
        `it exists. Replace it with ${optionText(REPLACE)}`,
        [REPLACE],
      );
  }

  #newFile(directory: Directory, name: string): UnplacedFile {
    const number = ++this.#temporaries;
    try {
      return new UnplacedFile(directory, name, number, this.placing);
    } catch (error) {
      if (systemCode(error) === "EEXIST") this.#requireFree(directory, name);
      throw error;
    }
  }

  #finish(file: UnplacedFile, mtime: Date): void {
    try {
      file.place(mtime);
    } catch (error) {
      this.#requireFree(file.directory, file.name); // names what exists there
      throw error;
    }
  }

  /** Returns a file's directory, created if missing, and its name. */
  #place(place: Place): { directory: Directory; name: string } {
    const { depth, last } = this.#chain;
    // Fast path: same directory as the previous file, as for nearly all files. Avoids lists of names.
    const isThere = typeof place !== "string" && isSafeName(place.name) &&
      this.#start + place.depth - 1 === depth;
    if (isThere) return { directory: last, name: place.name };
    const { known, below } = this.#namesFrom(place);
    const name = below.pop() ?? "";
    this.#enter(known, below);
    return { directory: this.#chain.last, name };
  }

  /** Number of directories of the chain that lead to a place, and the remaining names, including its own. */
  #namesFrom(place: Place): { known: number; below: string[] } {
    const chain = this.#chain;
    if (typeof place === "string") {
      const names = safeNames(place);
      let known = 0;
      while (
        known < names.length - 1 && names[known] === chain.nameAt(known + 1)
      ) known++;
      return { known, below: names.slice(known) };
    }
    const known = this.#start + place.depth - 1;
    if (known > chain.depth) throw gone(place.path);
    const below = safeNames(place.name);
    if (below.length === 1) return { known, below };
    throw new TypeError(`'${place.name}' is not one name`);
  }

  #enter(known: number, names: readonly string[]): void {
    const chain = this.#chain;
    const isIn = names.length > 0 && names[0] === chain.nameAt(known + 1);
    const depth = isIn ? known + 1 : known;
    if (depth < chain.depth) chain.leaveTo(depth);
    for (const name of isIn ? names.slice(1) : names) {
      const { last } = chain;
      const isNew = this.#make(last, name);
      chain.enter(name);
      if (!isNew) this.#removeLeftovers();
    }
  }

  /** Creates a directory. Returns `false` if it exists. */
  #make(directory: Directory, name: string): boolean {
    try {
      directory.makeDirectory(name);
      return true;
    } catch (error) {
      // Some file systems report another error before EEXIST.
      const kind = directory.stat(name, "keep")?.kind;
      if (kind === "directory") return false;
      if (kind === undefined) throw error;
      throw notEntered(`${directory.path}/${name}`, kind);
    }
  }

  /** Removes what dead processes left in the directory just entered. */
  #removeLeftovers(): void {
    const { last } = this.#chain;
    try {
      for (const name of last.list().names) {
        const writer = extractorOf(name);
        if (writer === undefined || isAlive(writer)) continue;
        const kind = last.stat(name, "keep")?.kind;
        if (kind === "file" || kind === "symlink") last.remove(name);
      }
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      // Cannot be listed or changed. Writing a file there reports why.
    }
  }
}

/** Whether a process may exist; `true` if processes cannot be seen. */
function isAlive(pid: number): boolean {
  return fs.existsSync(`/proc/${pid}`) || !fs.existsSync("/proc/self");
}
