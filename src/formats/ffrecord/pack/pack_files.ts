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
import type { ListedEntries } from "./pack_listing.ts";
import { PackError, refusal } from "./pack_problem.ts";

/** A file that is being read. */
interface OpenedFile {
  /** How many bytes it had when it was listed. */
  readonly size: number;
  /** When it was last modified then. */
  readonly mtimeMs: number;
  readonly path: string;
  readonly open: OpenFile;
  /** Whether it was asked for from the disk before it was its turn. */
  readonly isAsked: boolean;
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
/** After so many files it is looked again whether it is waited for. */
const REMEMBERED = 256;
/** What takes longer than this, and than so many bytes a millisecond, was not in memory. */
const SLOW_MS = 0.08;
const FAST_PER_MS = 1.5e6;
/** Another program may have had the processor: so many have to take long one after the other the first time. */
const PATIENCE = 2;
/** Bytes that are read at a time past the system's memory; a file that has no more left is read through it. */
const WINDOW = 1 << 20;

/** Reads the files of a folder in the order in which they were listed. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  readonly #entries: ListedEntries;
  readonly #now: () => number;
  /** The one that is being read, and those that come next. */
  readonly #opened: OpenedFile[] = [];
  /** How many more files are opened before it is their turn, and asked for from the disk. */
  #fromDisk = 0;
  /** How many more files that take long, one after the other, say that the disk is waited for. */
  #patience = PATIENCE;
  /** Where files are read that come past the system's memory, and what of it was not taken yet. */
  #window: Uint8Array<ArrayBuffer> | undefined;
  #inWindow: Uint8Array<ArrayBuffer> = NOTHING;

  /**
   * @param entries What was listed of the folder; there may be more where there were none before.
   * @param now The time in milliseconds, by which it is seen whether the disk is waited for.
   */
  constructor(
    root: Directory,
    entries: ListedEntries,
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
      if (this.#opened.length === 0) {
        if (!this.#advance()) return; // all that are listed were read
        if (this.#fromDisk === 0 && this.#readWhole(block)) continue;
        this.#open();
      }
      this.#openAhead();
      this.#read(this.#opened[0]!, block);
    }
  }

  /** Comes to the next file, by way of the folders before it. */
  #advance(): boolean {
    const entries = this.#entries;
    while (entries.advance()) {
      const { kind } = entries;
      if (kind === "file") return true;
      const { path } = this.#chain.last;
      if (kind === "folder") {
        const { name } = entries;
        naming(`${path}/${name}`, () => this.#chain.enter(name));
      } else {
        naming(path, () => this.#chain.leaveTo(this.#chain.depth - 1));
      }
    }
    return false;
  }

  /** Reads the file that was come to if there is room for all of it; `false` where it is to be opened, and looked at. */
  #readWhole(block: SampleBlock): boolean {
    const { size, mtimeMs, nameBytes } = this.#entries;
    const into = block.room(size);
    if (into.length < size) return false;
    const start = this.#now();
    if (!this.#chain.last.readWhole(nameBytes, into, mtimeMs)) return false;
    this.#notePace(this.#now() - start, size);
    block.take(size);
    block.end(size, crc32Of(into));
    return true;
  }

  /** Opens the files that come next where the disk is waited for. */
  #openAhead(): void {
    while (
      this.#fromDisk > 0 && this.#opened.length < AHEAD && this.#advance()
    ) {
      this.#open();
    }
  }

  /** Opens the file that was come to, and asks for it where the disk is waited for. */
  #open(): void {
    const { name, size, mtimeMs } = this.#entries;
    const path = `${this.#chain.last.path}/${name}`;
    const open = naming(path, () => this.#chain.last.openFile(name));
    const isAsked = this.#fromDisk > 0;
    this.#opened.push({
      ...{ size, mtimeMs, path, open, isAsked },
      ...{ done: 0, crc: 0, isDirect: false },
    });
    if (!isAsked) return;
    open.startRead();
    this.#fromDisk--;
  }

  /** Reads what there is room for, and closes the file after the last of it. */
  #read(file: OpenedFile, block: SampleBlock): void {
    const { path, open } = file;
    const room = block.room(file.size - file.done);
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
    if (file.done < file.size) return;
    const { kind, size, mtimeMs } = naming(path, () => open.stat());
    if (
      kind !== "file" || size !== file.size || mtimeMs !== file.mtimeMs
    ) throw changed(path);
    open.close();
    this.#opened.shift();
    this.#inWindow = NOTHING; // it may have grown
    block.end(size, file.crc);
  }

  /** Reads, and notes whether that had to wait for the disk: then so will what comes next. */
  #fill(into: Uint8Array<ArrayBuffer>, file: OpenedFile): number {
    const { path, open, isAsked } = file;
    const start = this.#now();
    const got = naming(path, () => readFull(open, into));
    this.#notePace(this.#now() - start, into.length, !isAsked);
    return got;
  }

  /**
   * Notes how long it took to read.
   *
   * @param tells Whether to be quick says something of the disk.
   */
  #notePace(ms: number, bytes: number, tells = true): void {
    if (ms > SLOW_MS + bytes / FAST_PER_MS) {
      if (--this.#patience <= 0) this.#fromDisk = REMEMBERED;
    } else if (tells) this.#patience = PATIENCE;
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
function isLong({ size, done }: OpenedFile): boolean {
  return size - done > 2 * WINDOW;
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
