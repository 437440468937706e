import {
  type Directory,
  type OpenFile,
  readFull,
} from "../../../io/dirfd/directory.ts";
import { DirectoryChain } from "../../../io/dirfd/directory_chain.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { blockMemory, MEMORY_PAGE } from "../../../io/libc/new_memory.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import type { SampleBlock } from "../write/sample_block.ts";
import type { ListedEntries } from "./pack_listing.ts";
import { PackError, refusal } from "./pack_problem.ts";

interface OpenedFile {
  /** Size when listed. */
  readonly size: number;
  /** Modification time when listed, in milliseconds. */
  readonly mtimeMs: number;
  readonly path: string;
  readonly open: OpenFile;
  /** Whether it was prefetched from the disk before its turn. */
  readonly isAsked: boolean;
  done: number;
  crc: number;
  /** Whether it is read with direct I/O, through the window. */
  isDirect: boolean;
}

/** Error codes of a listed file that is gone or no longer a file; one that has become a pipe would block. */
const GONE: ReadonlySet<string | undefined> = new Set(
  ["ENOENT", "ENOTDIR", "EISDIR", "EAGAIN"],
);

/** Number of files open while the disk is slow, so that it can fetch as many at a time. */
const AHEAD = 16;
/** Number of files prefetched after a slow read; then the speed is measured again. */
const REMEMBERED = 256;
/** A read that takes longer than this plus 1 ms per this many bytes was not in the page cache. */
const SLOW_MS = 0.08;
const FAST_PER_MS = 1.5e6;
/** Slow reads in a row until the disk counts as slow: another program may have used the CPU during one. */
const PATIENCE = 2;
/** Bytes per direct read. Files with at most twice as many left start through the page cache. */
const WINDOW = 1 << 20;

/** Reads the files of a folder in listing order. */
export class PackFiles {
  readonly #chain: DirectoryChain;
  readonly #entries: ListedEntries;
  readonly #now: () => number;
  /** The file being read, and the next ones. */
  readonly #opened: OpenedFile[] = [];
  /** How many more files to open and prefetch before their turn. */
  #fromDisk = 0;
  /** Slow reads in a row that are still missing until the disk counts as slow. */
  #patience = PATIENCE;
  /** Buffer for direct reads, and its part that is not consumed yet. */
  #window: Uint8Array<ArrayBuffer> | undefined;
  #inWindow: Uint8Array<ArrayBuffer> = NOTHING;

  /** @param now Clock in milliseconds, to detect waiting for the disk. */
  constructor(
    root: Directory,
    entries: ListedEntries,
    now: () => number = () => performance.now(),
  ) {
    this.#chain = new DirectoryChain(root, "follow");
    this.#entries = entries;
    this.#now = now;
  }

  close(): void {
    for (const { open } of this.#opened.splice(0)) open.close();
    this.#chain.leaveTo(0);
  }

  /**
   * Fills a block with the next files, each a sample, of which at most `most` end in it.
   *
   * @throws {PackError} If a file has changed since it was listed, or changes meanwhile.
   */
  fill(block: SampleBlock, most: number): void {
    while (block.count < most && !block.isFull) {
      if (this.#opened.length === 0) {
        if (!this.#advance()) return; // everything listed has been read
        if (this.#fromDisk === 0 && this.#readWhole(block)) continue;
        this.#open();
      }
      this.#openAhead();
      this.#read(this.#opened[0]!, block);
    }
  }

  /** Moves to the next file, entering and leaving folders on the way. */
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

  /** Reads the current file if there is room for all of it; returns `false` if it must be opened and checked. */
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

  #openAhead(): void {
    while (
      this.#fromDisk > 0 && this.#opened.length < AHEAD && this.#advance()
    ) {
      this.#open();
    }
  }

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

  #read(file: OpenedFile, block: SampleBlock): void {
    const { path, open } = file;
    const room = block.room(file.size - file.done);
    // A long file is read up to a block boundary, from which direct I/O can continue.
    const into = isLong(file) && room.length > MEMORY_PAGE
      ? room.subarray(0, room.length - (file.done + room.length) % MEMORY_PAGE)
      : room;
    if (file.done === 0) this.#goPast(file);
    // Files of /proc claim to be empty, and may be endless.
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
    this.#inWindow = NOTHING; // the file may have grown
    block.end(size, file.crc);
  }

  /** Reads, and notes whether that waited for the disk, as the next reads then will. */
  #fill(into: Uint8Array<ArrayBuffer>, file: OpenedFile): number {
    const { path, open, isAsked } = file;
    const start = this.#now();
    const got = naming(path, () => readFull(open, into));
    this.#notePace(this.#now() - start, into.length, !isAsked);
    return got;
  }

  /** Updates the estimate of the disk's speed. A fast read is evidence of a fast disk only if `tells` is set. */
  #notePace(ms: number, bytes: number, tells = true): void {
    if (ms > SLOW_MS + bytes / FAST_PER_MS) {
      if (--this.#patience <= 0) this.#fromDisk = REMEMBERED;
    } else if (tells) this.#patience = PATIENCE;
  }

  /** Switches a long file to direct I/O from this block on, unless it is in the page cache. */
  #goPast(file: OpenedFile): void {
    if (file.isDirect || file.done % MEMORY_PAGE !== 0 || !isLong(file)) return;
    // Tests a window ahead: the system may have read ahead what comes next.
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
          // It was a gap: the system may have evicted part of a cached file.
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

/** Whether much of a file is left to read. */
function isLong({ size, done }: OpenedFile): boolean {
  return size - done > 2 * WINDOW;
}

const NOTHING = new Uint8Array(0);

/** Runs `work`, and attributes the system's errors to a path. */
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
