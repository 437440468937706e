import { RecordfsError } from "../../base/errors.ts";
import { changedFile } from "./changed_file.ts";
import type { ByteSource, WaitOptions } from "./byte_source.ts";
import type { OpenFileOptions } from "./storage.ts";
import { type Descriptor, descriptors, type Lease } from "./descriptor_pool.ts";
import { type LibcReads, libcReads, UNSUPPORTED } from "../libc/libc_reads.ts";
import { type Pace, paceOf } from "./pace.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { systemCode, whatIsWrong } from "../libc/system_error.ts";
import { workingDirectory } from "./local_path.ts";

/** Identity of one state of a file. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Direct reads of a file, which bypass the page cache. Faster for data that is not in it. */
export interface DirectReads {
  /**
   * Fills memory of whole blocks (`BLOCK`) from an offset that is a multiple of a block. Returns the number of bytes
   * read: fewer than requested at the end of the data; negative on error.
   */
  readAt(into: Uint8Array<ArrayBuffer>, offset: number): Promise<number>;
  /** Must be called after all reads have ended. */
  close(): void;
}

/** Bytes that must not change, and memory to read them into, which is compared by words. */
interface Guard {
  readonly offset: number;
  readonly room: Uint8Array;
  readonly words: Uint32Array;
  readonly expected: Uint32Array;
}

/** `read(2)` moves at most 0x7ffff000 bytes; longer reads are split into pieces of this size. */
const LARGEST_READ = 1 << 30;

/** A local file. Its descriptor is opened on demand and may be closed between reads, so that thousands can be open. */
export class FileSource implements ByteSource {
  readonly path: string;
  /** State of the file when it was opened. If it was replaced since then, reads fail. */
  readonly identity: FileIdentity;
  /** Read speed of its device, used if the system cannot report what is in the page cache. */
  readonly pace: Pace;
  readonly mayGrow: boolean;
  /** Reads through the C library; `undefined` without `--allow-ffi`. */
  readonly #libc: LibcReads | undefined = libcReads();
  #tellsCached: boolean = this.#libc !== undefined;
  /** Whether the file system lies in memory, so that all is cached although it cannot report that. */
  #isInMemory = false;
  /** Pool key of Node's descriptor. Only some files need one of each kind. */
  readonly #node = {};
  #guard: Guard | undefined;
  #closed = false;

  private constructor(path: string, identity: FileIdentity, mayGrow: boolean) {
    this.path = path;
    this.identity = identity;
    this.mayGrow = mayGrow;
    this.pace = paceOf(identity.dev);
  }

  /**
   * Opens a regular file. If `mayGrow`, a writer may still append to it, and what existed when it was opened stays
   * readable; otherwise any change is an error. Throws a {@linkcode RecordfsError} if it is a directory, a pipe or a
   * device, or cannot be opened.
   */
  static *open(
    path: string,
    { mayGrow = false }: OpenFileOptions = {},
  ): Steps<FileSource> {
    let stat: Deno.FileInfo;
    try {
      stat = yield* perform({
        sync: () => Deno.statSync(path),
        async: () => Deno.stat(path),
      });
    } catch (error) {
      throw openError(path, error);
    }
    // Checked before opening: opening a pipe would wait for a writer.
    if (!stat.isFile) {
      throw new RecordfsError(
        "not-a-file",
        `Cannot open ${path}: it is not a regular file`,
        { path },
      );
    }
    const source = new FileSource(path, identityOf(stat), mayGrow);
    source.useDescriptor(() => {}); // fails now, not at the first read
    return source;
  }

  get name(): string {
    return this.path;
  }

  get size(): number {
    return this.identity.size;
  }

  get mtime(): number {
    return this.identity.mtimeMs;
  }

  guard(offset: number, bytes: Uint8Array): void {
    const words = new Uint32Array(Math.ceil(bytes.length / 4));
    const room = new Uint8Array(words.buffer, 0, bytes.length);
    room.set(bytes);
    this.#guard = { offset, room, words, expected: words.slice() };
  }

  /** The bytes that {@linkcode FileSource.guard} has set. */
  get guarded(): {
    readonly offset: number;
    readonly bytes: Uint8Array;
  } | undefined {
    if (this.#guard === undefined) return undefined;
    const { offset, room, expected } = this.#guard;
    return { offset, bytes: new Uint8Array(expected.buffer, 0, room.length) };
  }

  readAtSync(into: Uint8Array, offset: number): number {
    const done = this.#readNow(into, offset);
    this.#requireGuarded();
    return done;
  }

  #readNow(into: Uint8Array, offset: number): number {
    const done = this.#libc === undefined
      ? -1
      : readNow(this.#libc, this.#borrow(), into, offset);
    // If the C library fails, Node repeats the read and reports the error.
    return done >= 0
      ? done
      : readNow(NODE_READS, this.#borrowOfNode(), into, offset);
  }

  readCached(into: Uint8Array, offset: number): number {
    const got = this.#readCached(into, offset);
    if (got > 0) this.#requireGuarded();
    return got;
  }

  #readCached(into: Uint8Array, offset: number): number {
    if (this.#tellsCached) {
      const lease = this.#borrow();
      try {
        const { fd } = lease.descriptor;
        const got = this.#libc!.cached(fd, into, offset);
        if (got !== UNSUPPORTED) return got;
        this.#isInMemory = this.#libc!.isInMemory(fd);
      } finally {
        descriptors.release(lease);
      }
      this.#tellsCached = false;
    }
    if (this.#isInMemory) return this.#readNow(into, offset);
    if (!this.pace.allows()) return 0;
    const start = performance.now();
    const got = this.#readNow(into, offset);
    this.pace.took(performance.now() - start, into.byteLength);
    return got;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    while (descriptors.isBusy) {
      await descriptors.calm();
      options.signal?.throwIfAborted();
    }
    let lease: Lease;
    try {
      lease = this.#borrowOfNode();
    } catch (error) {
      if (this.#libc === undefined) throw error;
      // The path was replaced. The libc descriptor still has the opened file, for synchronous reads only.
      return this.readAtSync(into, offset);
    }
    try {
      let done = 0;
      while (done < into.byteLength) {
        const want = Math.min(into.byteLength - done, LARGEST_READ);
        const { fd } = lease.descriptor;
        const got = await readByNode(fd, into, done, want, offset + done);
        options.signal?.throwIfAborted();
        if (got === 0) break;
        done += got;
      }
      this.#requireGuarded();
      return done;
    } finally {
      descriptors.release(lease);
    }
  }

  openDirect(): DirectReads | undefined {
    const libc = this.#libc;
    if (libc === undefined) return undefined;
    const { fd, close } = this.#open(() => {
      const fd = libc.openDirect(this.path);
      return { fd, close: () => fd < 0 || libc.close(fd) };
    });
    return fd < 0
      ? undefined
      : { readAt: (into, offset) => libc.direct(fd, into, offset), close };
  }

  useDescriptor<T>(use: (fd: number) => T): T {
    const lease = this.#borrow();
    try {
      return use(lease.descriptor.fd);
    } finally {
      descriptors.release(lease);
    }
  }

  /** Whether a file of the given current size may still be the one that was opened. */
  isStill(size: number): boolean {
    return this.mayGrow ? size >= this.size : size === this.size;
  }

  /** Closes the descriptor until it is needed again. */
  rest(): void {
    descriptors.drop(this);
  }

  close(): void {
    this.#closed = true;
    descriptors.drop(this);
    descriptors.drop(this.#node);
  }

  /** Borrows the C library's descriptor if possible, which is ready at once; otherwise Node's. */
  #borrow(): Lease {
    return this.#libc === undefined
      ? this.#borrowOfNode()
      : descriptors.borrow(this, this.#openByLibc);
  }

  #borrowOfNode(): Lease {
    return descriptors.borrow(this.#node, this.#openByNode);
  }

  #requireGuarded(): void {
    if (this.#guard === undefined) return;
    const { offset, room, words, expected } = this.#guard;
    this.#readNow(room, offset);
    for (let i = 0; i < words.length; i++) {
      if (words[i] !== expected[i]) throw changedFile(this.path);
    }
  }

  readonly #openByLibc = (): Descriptor => {
    const libc = this.#libc!;
    return this.#open(() => {
      const fd = libc.open(this.path);
      // Node fails as well, and reports why.
      return fd < 0
        ? nodeDescriptor(this.path)
        : { fd, close: () => libc.close(fd) };
    });
  };

  readonly #openByNode = (): Descriptor =>
    this.#open(() => nodeDescriptor(this.path));

  #open(open: () => Descriptor): Descriptor {
    if (this.#closed) {
      throw new RecordfsError(
        "closed",
        `Cannot read ${this.path}: it has been closed`,
        {
          path: this.path,
        },
      );
    }
    let descriptor: Descriptor | undefined;
    try {
      descriptor = open();
      this.#refuseChanged();
      return descriptor;
    } catch (error) {
      descriptor?.close();
      throw openError(this.path, error);
    }
  }

  /** Checks the file just opened by its path, so that Deno also checks the permission. */
  #refuseChanged(): void {
    const now = identityOf(Deno.statSync(this.path));
    const { dev, ino, mtimeMs } = this.identity;
    const isSame = now.dev === dev && now.ino === ino &&
      this.isStill(now.size) && (this.mayGrow || now.mtimeMs === mtimeMs);
    if (isSame) return;
    throw changedFile(this.path, this.identity, now);
  }
}

type NodeFs = typeof import("node:fs");
let loadedFs: NodeFs | undefined;

/** Loads `node:fs` on first use. That takes Deno 20 ms, in which a mount can already answer through libc. */
function nodeFs(): NodeFs {
  return loadedFs ??= process.getBuiltinModule("node:fs");
}

function identityOf(stat: Deno.FileInfo): FileIdentity {
  const { dev, ino, size, mtime } = stat;
  return { dev, ino: ino ?? 0, size, mtimeMs: mtime?.getTime() ?? 0 };
}

let opened: string | undefined;

/** Returns a file that Deno permitted to open, if any. */
export function permittedFile(): string | undefined {
  return opened;
}

/** Opens a file through Node, which reports why it fails. */
export function nodeDescriptor(path: string): Descriptor {
  const { O_RDONLY, O_NONBLOCK } = nodeFs().constants;
  // A pipe may have replaced the regular file; do not block on it.
  const fd = nodeFs().openSync(path, O_RDONLY | (O_NONBLOCK ?? 0));
  opened = path;
  return { fd, close: () => nodeFs().closeSync(fd) };
}

/** Positional reads of an open file. A negative result is an error. */
type Reads = Pick<LibcReads, "read">;

const NODE_READS: Reads = {
  read: (fd, into, offset) =>
    nodeFs().readSync(fd, into, 0, into.byteLength, offset),
};

/** Fills `into` as far as the file goes, and returns the lease; -1 on error. */
function readNow(
  reads: Reads,
  lease: Lease,
  into: Uint8Array,
  offset: number,
): number {
  try {
    let done = 0;
    while (done < into.byteLength) {
      const isWhole = done === 0 && into.byteLength <= LARGEST_READ;
      const piece = isWhole
        ? into // no allocation for most reads
        : into.subarray(done, done + LARGEST_READ);
      const got = reads.read(lease.descriptor.fd, piece, offset + done);
      if (got < 0) return -1;
      if (got === 0) break;
      done += got;
    }
    return done;
  } finally {
    descriptors.release(lease);
  }
}

function readByNode(
  fd: number,
  into: Uint8Array,
  start: number,
  length: number,
  offset: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    nodeFs().read(fd, into, start, length, offset, (error, got) => {
      if (error === null) resolve(got);
      else reject(error);
    });
  });
}

/** Turns a system error into one sentence. A missing Deno permission stays unchanged. */
export function openError(path: string, error: unknown): unknown {
  if (error instanceof RecordfsError) return error;
  const code = systemCode(error);
  if (code === "ENOENT" && !path.startsWith("/")) workingDirectory();
  if (code === undefined) return error;
  return new RecordfsError(
    code,
    `Cannot open ${path}: ${whatIsWrong(error)}`,
    { path, cause: error },
  );
}
