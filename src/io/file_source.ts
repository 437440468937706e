import * as fs from "node:fs";
import { promisify } from "node:util";
import { FormatError, RecordfsError } from "../errors.ts";
import type { ByteSource, WaitOptions } from "./byte_source.ts";
import { mostIdleDescriptors } from "./descriptor_limit.ts";
import { DescriptorPool, type Lease } from "./descriptor_pool.ts";
import { type LibcReads, libcReads, UNSUPPORTED } from "./libc_reads.ts";
import { type Pace, paceOf } from "./pace.ts";
import { type Effect, perform, type Steps } from "./steps.ts";

/** What tells one state of a file from another. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** `read(2)` moves at most 0x7ffff000 bytes; larger reads go in pieces of this size. */
const LARGEST_READ = 1 << 30;

const read = promisify(fs.read);

/**
 * A local file. Its descriptor is opened when it is needed and may be closed between reads, so
 * that thousands of parts can be open at once.
 */
export class FileSource implements ByteSource {
  readonly path: string;
  /** The file's state when it was opened; a file replaced since then is an error, not other data. */
  readonly identity: FileIdentity;
  /** How quick its device is; judged by where the system cannot tell what is in its memory. */
  readonly pace: Pace;
  readonly #mayGrow: boolean;
  #libc: LibcReads | undefined;
  #tellsCached = false;
  #closed = false;

  private constructor(path: string, identity: FileIdentity, mayGrow: boolean) {
    this.path = path;
    this.identity = identity;
    this.#mayGrow = mayGrow;
    this.pace = paceOf(identity.dev);
  }

  /**
   * Opens a regular file.
   *
   * @param options `mayGrow`: whether a writer may still append to it. What was there when it was
   * opened then stays readable; otherwise any change is an error.
   * @throws {RecordfsError} If it is a directory, a pipe or a device, or cannot be opened.
   */
  static *open(
    path: string,
    { mayGrow = false }: { readonly mayGrow?: boolean } = {},
  ): Steps<FileSource> {
    let stat: fs.Stats;
    try {
      stat = yield* perform(statEffect(path));
    } catch (error) {
      throw openError(path, error);
    }
    // Looked at before it is opened: opening a pipe would wait for a writer.
    if (!stat.isFile()) {
      throw new RecordfsError(
        "not-a-file",
        `Cannot open ${path}: it is not a regular file`,
        { path },
      );
    }
    const source = new FileSource(path, identityOf(stat), mayGrow);
    source.useDescriptor((fd) => source.#useLibc(fd)); // fails now, not at the first read
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

  readAtSync(into: Uint8Array, offset: number): number {
    const lease = this.#borrow();
    try {
      let done = this.#readByLibc(lease.fd, into, offset);
      while (done < into.length) {
        const want = Math.min(into.length - done, LARGEST_READ);
        const got = fs.readSync(lease.fd, into, done, want, offset + done);
        if (got === 0) break;
        done += got;
      }
      return done;
    } finally {
      pool.release(lease);
    }
  }

  readCached(into: Uint8Array, offset: number): number {
    if (this.#tellsCached && isOwn(into)) {
      const lease = this.#borrow();
      const got = this.#libc!.cached(lease.fd, into, offset);
      pool.release(lease);
      if (got !== UNSUPPORTED) return got;
      this.#tellsCached = false;
    }
    if (!this.pace.allows()) return 0;
    const start = performance.now();
    const got = this.readAtSync(into, offset);
    this.pace.took(performance.now() - start, into.length);
    return got;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    while (pool.isBusy) {
      await pool.calm();
      options.signal?.throwIfAborted();
    }
    const lease = this.#borrow();
    try {
      let done = 0;
      while (done < into.length) {
        const want = Math.min(into.length - done, LARGEST_READ);
        const got = await read(lease.fd, into, done, want, offset + done);
        options.signal?.throwIfAborted();
        if (got.bytesRead === 0) break;
        done += got.bytesRead;
      }
      return done;
    } finally {
      pool.release(lease);
    }
  }

  /** Lends the file's descriptor for a call. */
  useDescriptor<T>(use: (fd: number) => T): T {
    const lease = this.#borrow();
    try {
      return use(lease.fd);
    } finally {
      pool.release(lease);
    }
  }

  /** Whether a file that now has so many bytes may be the one that was opened. */
  isStill(size: number): boolean {
    return this.#mayGrow ? size >= this.size : size === this.size;
  }

  /** Closes the descriptor until it is needed again. */
  rest(): void {
    pool.drop(this);
  }

  close(): void {
    this.#closed = true;
    pool.drop(this);
  }

  /** Has the C library read, where it may be asked and knows Deno's descriptors. */
  #useLibc(fd: number): void {
    const libc = libcReads();
    if (libc?.sizeOf(fd) !== this.size) return;
    this.#libc = libc;
    this.#tellsCached = true;
  }

  /** Reads a first piece; what goes wrong is left to Deno, which says it in its own errors. */
  #readByLibc(fd: number, into: Uint8Array, offset: number): number {
    if (this.#libc === undefined || !isOwn(into)) return 0;
    if (into.length > LARGEST_READ) return 0;
    return Math.max(0, this.#libc.read(fd, into, offset));
  }

  #borrow(): Lease {
    return pool.borrow(this, this.#openDescriptor);
  }

  readonly #openDescriptor = (): number => {
    if (this.#closed) {
      throw new RecordfsError("closed", `${this.path} has been closed`, {
        path: this.path,
      });
    }
    let fd: number;
    try {
      fd = fs.openSync(this.path, "r");
    } catch (error) {
      throw openError(this.path, error);
    }
    const now = identityOf(fs.fstatSync(fd));
    const same = this.#mayGrow ? grownFrom : sameFile;
    if (same(now, this.identity)) return fd;
    fs.closeSync(fd);
    throw new FormatError(
      "changed",
      `${this.path} was replaced or changed after it was opened; open it again`,
      { path: this.path, expected: this.identity, actual: now },
    );
  };
}

const pool = new DescriptorPool<FileSource>(mostIdleDescriptors);

/** Whether no other thread has the memory, which FFI expects. */
function isOwn(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}

function identityOf(stat: fs.Stats): FileIdentity {
  const { dev, ino, size, mtimeMs } = stat;
  return { dev, ino, size, mtimeMs };
}

/** Whether `now` is the file that was `before`, with perhaps more at its end. */
function grownFrom(now: FileIdentity, before: FileIdentity): boolean {
  return now.dev === before.dev && now.ino === before.ino &&
    now.size >= before.size;
}

function sameFile(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size &&
    a.mtimeMs === b.mtimeMs;
}

function statEffect(path: string): Effect<fs.Stats> {
  return {
    sync: () => fs.statSync(path),
    async: () => fs.promises.stat(path),
  };
}

/** Turns the system's refusal into one sentence; a missing Deno permission stays what it is. */
export function openError(path: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  const reason = {
    ENOENT: "there is no such file or directory",
    ENOTDIR: "a part of the path is not a directory",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EMFILE: "too many files are open (raise `ulimit -n`)",
    ELOOP: "too many symbolic links",
    ENAMETOOLONG: "the name is too long",
  }[String(code)];
  if (reason === undefined) return error;
  return new RecordfsError(
    String(code),
    `Cannot open ${path}: ${reason}`,
    { path, cause: error },
  );
}
