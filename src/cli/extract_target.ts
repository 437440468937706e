import * as fs from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { RecordfsError } from "../errors.ts";
import {
  type EntryKind,
  kindOf,
  makeDirectory,
  rename,
} from "./exact_names.ts";

/** How files are put into an {@linkcode ExtractTarget}. */
export interface ExtractTargetOptions {
  /** Whether files that are there already are replaced. */
  readonly replace: boolean;
  /** Last modification that the files get. */
  readonly mtime: Date;
}

/**
 * A directory that files are extracted into, and never beyond it: no symbolic link in it is
 * followed, and no path can lead out of it.
 *
 * A file appears under its name when it is complete. Until then it has a temporary name, which is
 * removed if anything goes wrong.
 */
export class ExtractTarget {
  readonly #root: string;
  readonly #options: ExtractTargetOptions;
  /** Names of the directories, from the root on, that were last found to be directories. */
  #entered: readonly string[] = [];
  #temporaries = 0;

  /** Makes the directory. It may itself be reached through symbolic links. */
  constructor(directory: string, options: ExtractTargetOptions) {
    fs.mkdirSync(directory, { recursive: true });
    this.#root = resolve(directory);
    this.#options = options;
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
        writeAll(temporary.file, content);
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
        this.#naming(path, () => writeAll(temporary.file, chunk));
      }
      this.#naming(path, () => this.#finish(temporary, path));
    } finally {
      this.#discard(temporary);
    }
  }

  /** Has the system's refusals say what they are about; their codes stay. */
  #naming<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const code = (error as { code?: unknown } | null)?.code;
      if (
        error instanceof RecordfsError || !(error instanceof Error) ||
        typeof code !== "string"
      ) throw error;
      const reason = error.message.replace(/ \(os error \d+\).*$/, "");
      throw new RecordfsError(
        code,
        `Cannot extract to ${this.#root}/${path}: ${reason}`,
        { path, cause: error },
      );
    }
  }

  #checkFree(path: string): void {
    const target = this.#place(path);
    const kind = kindOf(target);
    if (kind === "none" || kind !== "directory" && this.#options.replace) {
      return;
    }
    throw inTheWay(
      target,
      kind === "directory"
        ? "there is a directory of that name"
        : "it exists already; --force replaces it",
    );
  }

  #openTemporary(path: string): Temporary {
    this.#place(path);
    // Deno opens files by UTF-8 names only; what has another name gets it by being renamed.
    const end = this.#entered.findIndex((name) => !name.isWellFormed());
    const parents = this.#entered.slice(0, end < 0 ? undefined : end);
    const name = `.recordfs-${process.pid}-${++this.#temporaries}.part`;
    const temporary = [this.#root, ...parents, name].join("/");
    // Fails if there is something of that name, be it a symbolic link to nowhere.
    const file = Deno.openSync(temporary, { write: true, createNew: true });
    return { file, path: temporary, placed: false };
  }

  #finish(temporary: Temporary, path: string): void {
    const { mtime } = this.#options;
    temporary.file.utimeSync(mtime, mtime);
    this.#checkFree(path);
    rename(temporary.path, this.#place(path));
    temporary.placed = true;
  }

  #discard({ file, path, placed }: Temporary): void {
    file.close();
    if (!placed) fs.rmSync(path, { force: true });
  }

  /** Where a file goes, with its directory made. */
  #place(path: string): string {
    const names = safeNames(path);
    this.#enter(names.slice(0, -1));
    return [this.#root, ...names].join("/");
  }

  #enter(names: readonly string[]): void {
    let known = 0;
    while (known < names.length && names[known] === this.#entered[known]) {
      known++;
    }
    for (let depth = known + 1; depth <= names.length; depth++) {
      const directory = [this.#root, ...names.slice(0, depth)].join("/");
      let kind = kindOf(directory);
      if (kind === "none") {
        makeDirectory(directory);
        kind = "directory";
      }
      if (kind !== "directory") throw notEntered(directory, kind);
      this.#entered = names.slice(0, depth);
    }
    this.#entered = names;
  }
}

interface Temporary {
  readonly file: Deno.FsFile;
  readonly path: string;
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

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += file.writeSync(bytes.subarray(done));
  }
}
