import {
  type Directory,
  type OpenFile,
  readFull,
} from "../../../io/directories/directory.ts";
import { DirectoryChain } from "../../../io/directories/directory_chain.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import type { SampleBlock } from "../write/sample_block.ts";
import type { ListedEntry } from "./pack_listing.ts";
import { PackError, refusal } from "./pack_problem.ts";

type ListedFile = Extract<ListedEntry, { readonly kind: "file" }>;

/** A file that is being read. */
interface OpenedFile {
  readonly listed: ListedFile;
  readonly open: OpenFile;
  /** How many bytes of it were read. */
  done: number;
  /** Their checksum. */
  crc: number;
}

/** What a file that was there says of being none any more; one that has become a pipe would have to be waited for. */
const GONE: ReadonlySet<string | undefined> = new Set(
  ["ENOENT", "ENOTDIR", "EISDIR", "EAGAIN"],
);

/** Reads the files of a folder in the order in which they were listed. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  readonly #entries: Iterator<ListedEntry>;
  #file: OpenedFile | undefined;

  /** @param entries What was listed of the folder; there may be more where there were none before. */
  constructor(root: Directory, entries: Iterator<ListedEntry>) {
    this.#chain = new DirectoryChain(root, "follow");
    this.#entries = entries;
  }

  /** Closes what is open below the root. */
  close(): void {
    this.#file?.open.close();
    this.#file = undefined;
    this.#chain.leaveTo(0);
  }

  /**
   * Fills a block with the next files, each a sample.
   *
   * @param most How many may end in it.
   * @throws {PackError} If one is not what it was when it was listed, or changes meanwhile.
   */
  fill(block: SampleBlock, most: number): void {
    while (block.count < most && !block.isFull) {
      this.#file ??= this.#openNext();
      if (this.#file === undefined) return; // all that are listed were read
      this.#read(this.#file, block);
    }
  }

  #openNext(): OpenedFile | undefined {
    for (;;) {
      const { value: listed, done } = this.#entries.next();
      if (done) return undefined;
      if (listed.kind === "file") {
        const open = this.#naming(
          listed.name,
          () => this.#chain.last.openFile(listed.name),
        );
        return { listed, open, done: 0, crc: 0 };
      }
      if (listed.kind === "folder") {
        this.#naming(listed.name, () => this.#chain.enter(listed.name));
      } else {
        const depth = this.#chain.depth - 1;
        this.#naming("", () => this.#chain.leaveTo(depth));
      }
    }
  }

  /** Reads what there is room for, and closes the file after the last of it. */
  #read(file: OpenedFile, block: SampleBlock): void {
    const { listed, open } = file;
    const into = block.room(listed.size - file.done);
    // Files of /proc say that they are empty, and may have no end.
    const got = into.length === 0
      ? 0
      : this.#naming(listed.name, () => readFull(open, into));
    if (got < into.length) throw this.#changed(listed.name);
    file.crc = crc32Of(into, file.crc);
    file.done += got;
    block.take(got);
    if (file.done < listed.size) return;
    const { kind, size, mtimeMs } = this.#naming(
      listed.name,
      () => open.stat(),
    );
    if (
      kind !== "file" || size !== listed.size || mtimeMs !== listed.mtimeMs
    ) throw this.#changed(listed.name);
    open.close();
    this.#file = undefined;
    block.end(size, file.crc);
  }

  #naming<T>(name: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error);
      if (GONE.has(code)) throw this.#changed(name, error);
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
