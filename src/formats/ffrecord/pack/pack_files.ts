import type {
  Directory,
  EntryStat,
  OpenFile,
} from "../../../io/directories/directory.ts";
import { DirectoryChain } from "../../../io/directories/directory_chain.ts";
import { readFull } from "../../../io/directories/directory.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import type { ListedEntry } from "./pack_listing.ts";
import { PackError, refusal } from "./pack_problem.ts";

/** How much of a file is read at once. */
const PIECE = 1 << 20;

/** Reads the files of a folder in the order in which they were listed. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  /** Of the file that was read last, and of the one before. One byte more shows whether a file is larger than it says. */
  readonly #buffers = [new Uint8Array(PIECE + 1), new Uint8Array(PIECE + 1)];
  #bytesRead = 0;

  constructor(root: Directory) {
    this.#chain = new DirectoryChain(root, "follow");
  }

  /** How many bytes have been read so far. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Closes the folders. */
  close(): void {
    this.#chain.leaveTo(0);
  }

  /** Goes into or out of a folder. */
  move(entry: ListedEntry): void {
    if (entry.kind === "end") {
      const depth = this.#chain.depth - 1;
      this.#naming("", () => this.#chain.leaveTo(depth));
    } else if (entry.kind === "folder") {
      this.#naming(entry.name, () => this.#chain.enter(entry.name));
    }
  }

  /**
   * Reads a file of the folder.
   *
   * @returns Its content, in memory that is used again for the file after the next; piece by piece if it is large.
   * @throws {PackError} If it is not what it was when it was listed, or changes meanwhile.
   */
  read(name: string, size: number): Uint8Array | Iterable<Uint8Array> {
    if (size > PIECE) return this.#pieces(name, size);
    const file = this.#open(name, size);
    try {
      // Files of /proc say that they are empty, and may have no end.
      const into = this.#nextBuffer().subarray(0, size + 1);
      const got = size === 0 ? 0 : this.#fill(file.open, name, into, size);
      this.#compare(file, name, got);
      return into.subarray(0, got);
    } finally {
      file.open.close();
    }
  }

  *#pieces(name: string, size: number): Generator<Uint8Array> {
    const file = this.#open(name, size); // now, when the stream is sure to be ended
    const into = this.#nextBuffer().subarray(0, PIECE);
    try {
      let total = 0;
      for (;;) {
        const got = this.#fill(file.open, name, into);
        total += got;
        if (got === 0 || total > size) break;
        yield into.subarray(0, got);
      }
      this.#compare(file, name, total);
    } finally {
      file.open.close();
    }
  }

  #open(name: string, size: number): OpenedFile {
    return this.#naming(name, () => {
      const open = this.#chain.last.openFile(name);
      try {
        const before = open.stat();
        if (before.kind === "file" && before.size === size) {
          return { open, before };
        }
        throw this.#changed(name);
      } catch (error) {
        open.close();
        throw error;
      }
    });
  }

  #nextBuffer(): Uint8Array<ArrayBuffer> {
    this.#buffers.reverse();
    return this.#buffers[0]!;
  }

  /** Fills memory, of which so much is enough; less is read only at the end. */
  #fill(
    file: OpenFile,
    name: string,
    into: Uint8Array<ArrayBuffer>,
    enough = into.length,
  ): number {
    return this.#naming(name, () => {
      const got = readFull(file, into, enough);
      this.#bytesRead += got;
      return got;
    });
  }

  #compare({ open, before }: OpenedFile, name: string, got: number): void {
    const after = this.#naming(name, () => open.stat());
    if (
      got !== before.size || after.size !== before.size ||
      after.mtimeMs !== before.mtimeMs
    ) throw this.#changed(name);
  }

  #naming<T>(name: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") {
        throw this.#changed(name, error);
      }
      if (code === undefined) throw error;
      const path = this.#path(name);
      const { reason } = refusal(error, path);
      throw new PackError(
        code,
        `Cannot pack ${path}: ${reason}; nothing was written`,
        { path, cause: error },
      );
    }
  }

  #changed(name: string, cause?: unknown): PackError {
    const path = this.#path(name);
    return new PackError(
      "changed",
      `Cannot pack ${path}: it changed while the folder was packed; nothing ` +
        `was written. Pack it again when nothing writes to it`,
      { path, cause },
    );
  }

  #path(name: string): string {
    const { path } = this.#chain.last;
    return name === "" ? path : `${path}/${name}`;
  }
}

interface OpenedFile {
  readonly open: OpenFile;
  readonly before: EntryStat;
}
