import * as fs from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import type { Directory } from "../directories/directory.ts";
import { DirectoryChain } from "../directories/directory_chain.ts";
import { openDirectory } from "../directories/open_directory.ts";
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

/** Options of an {@linkcode ExtractTarget}. */
export interface ExtractTargetOptions {
  /** True if files that are there already are replaced. */
  readonly replace: boolean;
  /** Last modification that the files get, unless each has its own. */
  readonly mtime: Date;
  /** What {@linkcode ExtractTarget.complete} makes sure of. */
  readonly sync: Durability;
  /** Name of the directory in errors, where that is not its path: it has another until all is written. */
  readonly shownAs?: string | undefined;
}

/** An entry of a walk, which comes after the directory that it lies in and what that held before it. */
export interface WalkPlace {
  /** From the root of what is extracted. */
  readonly path: string;
  readonly name: string;
  /** Depth in names below where the walk started: 1 for the entries there. */
  readonly depth: number;
}

/** Where another thread puts a file. */
export interface HandedOver {
  /** To be closed when it is done. */
  readonly directory: Directory;
  readonly name: string;
  /** From the root of what is extracted. */
  readonly path: string;
  /** Different for each file that is written. */
  readonly number: number;
}

/** Where something is put: its path, or an entry of the walk that {@linkcode ExtractTarget.start} began. */
export type Place = string | WalkPlace;

/**
 * A directory that files are extracted into, and never beyond it: no symbolic link in it is
 * followed, and no path can lead out of it. Where `--allow-ffi` is given, that holds whatever others
 * rename in it meanwhile.
 *
 * A file appears under its name when it is complete. Until then it has none; or where that can't be, or
 * what is there is replaced, a temporary name, which is removed if anything goes wrong, and by the next one that
 * comes to its directory if the process was killed.
 */
export class ExtractTarget implements Disposable {
  readonly #root: string;
  readonly #options: ExtractTargetOptions;
  readonly #chain: DirectoryChain;
  /** How files get their places. */
  readonly placing: Placing;
  /** Last modification of files that have none of their own. */
  readonly mtime: Date;
  #temporaries = 0;
  /** Depth of the directory that a walk started in. */
  #start = 0;

  /** Makes the directory. It may itself be reached through symbolic links. */
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
        ? "it is not a directory, or lies below something that is none; choose another"
        : undefined;
      throw refusal(options.shownAs ?? directory, directory, error, reason);
    }
    this.#removeLeftovers();
  }

  /**
   * Makes the directory that a walk starts in, and those above it. From then on the entries of that walk can be
   * given instead of paths, in its order: they are put in place from where the one before is, so that a
   * tree of any depth takes no more than its number of entries.
   *
   * @param path As in the container.
   * @throws {RecordfsError} If something that is no directory is in the way.
   */
  start(path: string): void {
    this.makeDirectory(path);
    this.#start = this.#chain.depth;
  }

  /**
   * Makes a directory, and those above it.
   *
   * @throws {RecordfsError} If something that is no directory is in the way.
   */
  makeDirectory(place: Place): void {
    this.#naming(place, () => {
      const names = this.#namesFrom(place);
      this.#enter(names.known, names.below);
    });
  }

  /**
   * Makes sure that a file can be put somewhere.
   *
   * @throws {RecordfsError} If there is something already that is not to be replaced.
   */
  checkFree(place: Place): void {
    this.#naming(place, () => this.#checkFree(place));
  }

  /**
   * Sets when a directory was modified: when all is in it, and in those below.
   *
   * @throws {RecordfsError} If it is not there.
   */
  setModified(place: Place, mtime: Date): void {
    this.makeDirectory(place);
    this.#naming(place, () => this.#chain.last.setModified(".", mtime));
  }

  /** Puts a file in place. */
  write(place: Place, content: Uint8Array, mtime = this.mtime): void {
    try { // not by a function, of which each of many files would have its own
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
   * Makes a symbolic link. Nothing is ever put in place by way of one.
   *
   * @param target Where it leads to: up as far as the directory that is extracted to, and then down.
   * @throws {RecordfsError} If it would lead out of that, or something is in the way.
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

  /** Puts a file of any size in place; zeros of one that `hasHoles` take no room on the disk. */
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
   * Says where another thread is to put a file: see {@linkcode HandedOver}. Its directory stays open until it is
   * closed; `before` is a file whose directory may be the same.
   *
   * @returns `undefined` where only this thread can put it.
   */
  handOver(place: WalkPlace, before?: HandedOver): HandedOver | undefined {
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

  /** Why a file that was handed over is not in place, in words of what it was refused for. */
  refused({ directory, name, path }: HandedOver, error: unknown): unknown {
    try {
      return this.#naming(path, () => {
        this.#requireFree(directory, name);
        throw error;
      });
    } catch (named) {
      return named;
    }
  }

  /**
   * Waits until all of it is on the disk, unless that is not to be waited for.
   *
   * @returns `false` where the system can't be asked to: without `--allow-ffi`.
   */
  async complete(): Promise<boolean> {
    if (this.#options.sync === "none") return true;
    try {
      return await this.#chain.last.syncFileSystem();
    } catch (error) {
      throw refusal(this.#options.shownAs ?? this.#root, "", error);
    }
  }

  /** Closes the directory. */
  [Symbol.dispose](): void {
    this.#chain.close();
  }

  /** Has the system's refusals say what they are about; their codes stay. */
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
    throw inTheWay(
      `${directory.path}/${name}`,
      stat.kind === "directory"
        ? "there is a directory of that name"
        : "it exists already; the option `replace` replaces it",
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
      this.#requireFree(file.directory, file.name); // says what it is that is there
      throw error;
    }
  }

  /** Where a file goes, with its directory made. */
  #place(place: Place): { directory: Directory; name: string } {
    const { depth, last } = this.#chain;
    // Where the one before is, as nearly all files are: without lists of names.
    const isThere = typeof place !== "string" && isSafeName(place.name) &&
      this.#start + place.depth - 1 === depth;
    if (isThere) return { directory: last, name: place.name };
    const { known, below } = this.#namesFrom(place);
    const name = below.pop() ?? "";
    this.#enter(known, below);
    return { directory: this.#chain.last, name };
  }

  /** Number of directories of the chain that lead to a place, and the names from there on: its own at least. */
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

  /** Goes to a directory, and makes what is not there of the way. */
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

  /** Makes a directory, unless there is one: then the answer is `false`. */
  #make(directory: Directory, name: string): boolean {
    try {
      directory.makeDirectory(name);
      return true;
    } catch (error) {
      // Not all file systems look first whether it is there.
      const kind = directory.stat(name, "keep")?.kind;
      if (kind === "directory") return false;
      if (kind === undefined) throw error;
      throw notEntered(`${directory.path}/${name}`, kind);
    }
  }

  /** Removes what processes that live no longer have left in the directory that was come to. */
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
      // Not to be listed or changed: what is wrong with it is said when a file is put there.
    }
  }
}

/** Tells whether there is a process of that number; where none can be seen, there may be. */
function isAlive(pid: number): boolean {
  return fs.existsSync(`/proc/${pid}`) || !fs.existsSync("/proc/self");
}
