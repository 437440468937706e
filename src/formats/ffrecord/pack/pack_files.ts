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
  readonly path: string;
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

/** So many files are open where the disk is waited for, so that it has as many to fetch at a time. */
const AHEAD = 16;
/** After so many it is looked again whether it is waited for. */
const REMEMBERED = 256;
/** What takes longer than this, and than so many bytes a millisecond, was not in memory. */
const SLOW_MS = 0.08;
const FAST_PER_MS = 1.5e6;

/** Reads the files of a folder in the order in which they were listed. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  readonly #entries: Iterator<ListedEntry>;
  readonly #now: () => number;
  /** The one that is being read, and those that come next. */
  readonly #opened: OpenedFile[] = [];
  /** How many more files are opened before it is their turn, and asked for from the disk. */
  #fromDisk = 0;

  /**
   * @param entries What was listed of the folder; there may be more where there were none before.
   * @param now The time in milliseconds, by which it is seen whether the disk is waited for.
   */
  constructor(
    root: Directory,
    entries: Iterator<ListedEntry>,
    now: () => number = () => performance.now(),
  ) {
    this.#chain = new DirectoryChain(root, "follow");
    this.#entries = entries;
    this.#now = now;
  }

  /** Closes what is open below the root. */
  close(): void {
    for (const { open } of this.#opened.splice(0)) open.close();
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
      this.#openAhead();
      const [file] = this.#opened;
      if (file === undefined) return; // all that are listed were read
      this.#read(file, block);
    }
  }

  #openAhead(): void {
    const most = this.#fromDisk > 0 ? AHEAD : 1;
    while (this.#opened.length < most) {
      const next = this.#openNext();
      if (next === undefined) return;
      if (this.#fromDisk > 0) {
        next.open.startRead();
        this.#fromDisk--;
      }
      this.#opened.push(next);
    }
  }

  #openNext(): OpenedFile | undefined {
    for (;;) {
      const { value: listed, done } = this.#entries.next();
      if (done) return undefined;
      if (listed.kind === "file") {
        const path = `${this.#chain.last.path}/${listed.name}`;
        const open = naming(
          path,
          () => this.#chain.last.openFile(listed.name),
        );
        return { listed, path, open, done: 0, crc: 0 };
      }
      if (listed.kind === "folder") {
        const { path } = this.#chain.last;
        naming(
          `${path}/${listed.name}`,
          () => this.#chain.enter(listed.name),
        );
      } else {
        const depth = this.#chain.depth - 1;
        naming(this.#chain.last.path, () => this.#chain.leaveTo(depth));
      }
    }
  }

  /** Reads what there is room for, and closes the file after the last of it. */
  #read(file: OpenedFile, block: SampleBlock): void {
    const { listed, path, open } = file;
    const into = block.room(listed.size - file.done);
    // Files of /proc say that they are empty, and may have no end.
    const got = into.length === 0 ? 0 : this.#fill(into, file);
    if (got < into.length) throw changed(path);
    file.crc = crc32Of(into, file.crc);
    file.done += got;
    block.take(got);
    if (file.done < listed.size) return;
    const { kind, size, mtimeMs } = naming(path, () => open.stat());
    if (
      kind !== "file" || size !== listed.size || mtimeMs !== listed.mtimeMs
    ) throw changed(path);
    open.close();
    this.#opened.shift();
    block.end(size, file.crc);
  }

  /** Reads, and notes whether that had to wait for the disk: then so will what comes next. */
  #fill(into: Uint8Array<ArrayBuffer>, { path, open }: OpenedFile): number {
    const start = this.#now();
    const got = naming(path, () => readFull(open, into));
    const ms = this.#now() - start;
    if (ms > SLOW_MS + into.length / FAST_PER_MS) this.#fromDisk = REMEMBERED;
    return got;
  }
}

/** Does something with a file or directory; what the system refuses is said of it. */
function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = systemCode(error);
    if (GONE.has(code)) throw changed(path, error);
    if (code === undefined) throw error;
    const { reason } = refusal(error, path);
    throw new PackError(
      code,
      `Cannot pack ${path}: ${reason}; nothing was written`,
      { path, cause: error },
    );
  }
}

function changed(path: string, cause?: unknown): PackError {
  return new PackError(
    "changed",
    `Cannot pack ${path}: it changed while the folder was packed; nothing ` +
      `was written. Pack it again when nothing writes to it`,
    { path, cause },
  );
}
