import * as fs from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { RecordfsError } from "../errors.ts";
import type { Directory, EntryKind, OpenFile } from "./directory.ts";
import { DirectoryChain } from "./directory_chain.ts";
import { openDirectory } from "./open_directory.ts";
import { systemCode } from "./system_error.ts";
import { extractorOf } from "./temporaries.ts";

/** How files are put into an {@linkcode ExtractTarget}. */
export interface ExtractTargetOptions {
  /** Whether files that are there already are replaced. */
  readonly replace: boolean;
  /** Last modification that the files get. */
  readonly mtime: Date;
}

/**
 * A directory that files are extracted into, and never beyond it: no symbolic link in it is
 * followed, and no path can lead out of it. Where `--allow-ffi` is given, that holds whatever others
 * rename in it meanwhile.
 *
 * A file appears under its name when it is complete. Until then it has a temporary name, which is
 * removed if anything goes wrong, and by the next one that comes to its directory if the process was
 * killed.
 */
export class ExtractTarget implements Disposable {
  readonly #root: string;
  readonly #options: ExtractTargetOptions;
  readonly #chain: DirectoryChain;
  #temporaries = 0;

  /** Makes the directory. It may itself be reached through symbolic links. */
  constructor(directory: string, options: ExtractTargetOptions) {
    fs.mkdirSync(directory, { recursive: true });
    this.#root = resolve(directory);
    this.#options = options;
    this.#chain = new DirectoryChain(openDirectory(this.#root), "keep");
    this.#removeLeftovers();
  }

  /**
   * Makes a directory, and those above it.
   *
   * @param path As in the container.
   * @throws {RecordfsError} If something that is no directory is in the way.
   */
  makeDirectory(path: string): void {
    this.#naming(path, () => this.#enter(safeNames(path)));
  }

  /**
   * Makes sure that a file can be put at `path`.
   *
   * @throws {RecordfsError} If there is something already that is not to be replaced.
   */
  checkFree(path: string): void {
    this.#naming(path, () => this.#checkFree(path));
  }

  /** Puts a file in place. */
  write(path: string, content: Uint8Array): void {
    this.#naming(path, () => {
      const temporary = this.#openTemporary(path);
      try {
        temporary.file.write(content);
        this.#finish(temporary, path);
      } finally {
        this.#discard(temporary);
      }
    });
  }

  /** Puts a file of any size in place. */
  async writeStream(
    path: string,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const temporary = this.#naming(path, () => this.#openTemporary(path));
    try {
      for await (const chunk of content) {
        this.#naming(path, () => temporary.file.write(chunk));
      }
      this.#naming(path, () => this.#finish(temporary, path));
    } finally {
      this.#discard(temporary);
    }
  }

  /** Closes the directory. */
  [Symbol.dispose](): void {
    this.#chain.close();
  }

  /** Has the system's refusals say what they are about; their codes stay. */
  #naming<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error);
      if (!(error instanceof Error) || code === undefined) throw error;
      const reason = error.message.replace(/ \(os error \d+\).*$/, "");
      throw new RecordfsError(
        code,
        `Cannot extract to ${this.#root}/${path}: ${reason}`,
        { path, cause: error },
      );
    }
  }

  #checkFree(path: string): void {
    const { directory, name } = this.#place(path);
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

  #openTemporary(path: string): Temporary {
    const { directory } = this.#place(path);
    const name = `.recordfs-${process.pid}-${++this.#temporaries}.part`;
    // Fails if there is something of that name, be it a symbolic link to nowhere.
    const file = directory.createFile(name);
    return { directory, file, name, placed: false };
  }

  #finish(temporary: Temporary, path: string): void {
    temporary.file.setModified(this.#options.mtime);
    this.#checkFree(path);
    const { directory, name } = this.#place(path);
    directory.rename(temporary.name, name);
    temporary.placed = true;
  }

  #discard({ directory, file, name, placed }: Temporary): void {
    file.close();
    if (!placed) directory.remove(name);
  }

  /** Where a file goes, with its directory made. */
  #place(path: string): { directory: Directory; name: string } {
    const names = safeNames(path);
    const name = names.pop() ?? "";
    this.#enter(names);
    return { directory: this.#chain.last, name };
  }

  /** Goes to a directory, and makes what is not there of the way. */
  #enter(names: readonly string[]): void {
    const chain = this.#chain;
    let known = 0;
    while (
      known < names.length && names[known] === chain.nameAt(known + 1)
    ) known++;
    if (known < chain.depth) chain.leaveTo(known);
    for (const name of names.slice(known)) {
      const { last } = chain;
      const kind = last.stat(name, "keep")?.kind;
      if (kind === undefined) last.makeDirectory(name);
      else if (kind !== "directory") {
        throw notEntered(`${last.path}/${name}`, kind);
      }
      chain.enter(name);
      if (kind === "directory") this.#removeLeftovers();
    }
  }

  /** Removes what processes that live no longer have left in the directory that was come to. */
  #removeLeftovers(): void {
    const { last } = this.#chain;
    try {
      for (const name of last.list().names) {
        const writer = extractorOf(name);
        if (writer === undefined || isAlive(writer)) continue;
        if (last.stat(name, "keep")?.kind === "file") last.remove(name);
      }
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      // Not to be listed or changed: what is wrong with it is said when a file is put there.
    }
  }
}

/** Whether there is a process of that number; where none can be seen, there may be. */
function isAlive(pid: number): boolean {
  return fs.existsSync(`/proc/${pid}`) || !fs.existsSync("/proc/self");
}

interface Temporary {
  readonly directory: Directory;
  readonly file: OpenFile;
  readonly name: string;
  placed: boolean;
}

/** The names of a path, none of which leads anywhere but down. */
function safeNames(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..") || path.includes("\0")) {
    throw new RecordfsError(
      "unsafe-name",
      `Cannot extract '${path}': the name could lead out of the directory`,
      { path },
    );
  }
  return names;
}

function notEntered(directory: string, kind: EntryKind): RecordfsError {
  return inTheWay(
    directory,
    kind === "symlink"
      ? "it is a symbolic link, and what it points to may lie outside"
      : "it is not a directory",
  );
}

function inTheWay(path: string, reason: string): RecordfsError {
  return new RecordfsError(
    "in-the-way",
    `Cannot extract to ${path}: ${reason}`,
    { path },
  );
}
