import {
  type Directory,
  type OpenFile,
  readFull,
} from "../../../io/directories/directory.ts";
import { DirectoryChain } from "../../../io/directories/directory_chain.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { BLOCK, blockMemory } from "../../../io/libc/new_memory.ts";
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
  /** Whether it is read past the system's memory, by the window. */
  isDirect: boolean;
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
/** Bytes that are read at a time past the system's memory; a file that has no more left is read through it. */
const WINDOW = 1 << 20;

/** Reads the files of a folder in the order in which they were listed. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  readonly #entries: Iterator<ListedEntry>;
  readonly #now: () => number;
  /** The one that is being read, and those that come next. */
  readonly #opened: OpenedFile[] = [];
  /** How many more files are opened before it is their turn, and asked for from the disk. */
  #fromDisk = 0;
  /** Where files are read that come past the system's memory, and what of it was not taken yet. */
  #window: Uint8Array<ArrayBuffer> | undefined;
  #inWindow: Uint8Array<ArrayBuffer> = NOTHING;

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
        return { listed, path, open, done: 0, crc: 0, isDirect: false };
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
    const room = block.room(listed.size - file.done);
    // A file that may come to be read past the system's memory stands at the start of a block of its own.
    const into = isLong(file) && room.length > BLOCK
      ? room.subarray(0, room.length - (file.done + room.length) % BLOCK)
      : room;
    if (file.done === 0) this.#goPast(file);
    // Files of /proc say that they are empty, and may have no end.
    const got = into.length === 0
      ? 0
      : file.isDirect
      ? this.#fillDirect(into, file)
      : this.#fill(into, file);
    if (got < into.length) throw changed(path);
    file.crc = crc32Of(into, file.crc);
    file.done += got;
    if (this.#fromDisk === REMEMBERED) this.#goPast(file);
    block.take(got);
    if (file.done < listed.size) return;
    const { kind, size, mtimeMs } = naming(path, () => open.stat());
    if (
      kind !== "file" || size !== listed.size || mtimeMs !== listed.mtimeMs
    ) throw changed(path);
    open.close();
    this.#opened.shift();
    this.#inWindow = NOTHING; // it may have grown
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

  /** Has a long file be read past the system's memory from the next block on, where it is not there. */
  #goPast(file: OpenedFile): void {
    if (file.isDirect || file.done % BLOCK !== 0 || !isLong(file)) return;
    // What comes next, the system may have read ahead.
    if (file.open.isInMemory(file.done + WINDOW)) return;
    file.isDirect = file.open.setDirect(true);
  }

  #fillDirect(into: Uint8Array<ArrayBuffer>, file: OpenedFile): number {
    const { path, open } = file;
    const window = this.#window ??= blockMemory(WINDOW);
    let done = 0;
    while (done < into.length) {
      if (this.#inWindow.length === 0) {
        if (isWindowInMemory(open, file.done + done)) {
          // It was a gap: of a file that is in memory, the system may have taken some.
          file.isDirect = open.setDirect(false);
          return done + this.#fill(into.subarray(done), file);
        }
        const got = naming(path, () => open.read(window));
        if (got === 0) break;
        this.#inWindow = window.subarray(0, got);
      }
      const part = this.#inWindow.subarray(0, into.length - done);
      into.set(part, done);
      this.#inWindow = this.#inWindow.subarray(part.length);
      done += part.length;
    }
    return done;
  }
}

function isWindowInMemory(open: OpenFile, start: number): boolean {
  return open.isInMemory(start) && open.isInMemory(start + WINDOW - 1);
}

/** Whether much of a file is left. */
function isLong({ listed, done }: OpenedFile): boolean {
  return listed.size - done > 2 * WINDOW;
}

const NOTHING = new Uint8Array(0);

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
