import * as fs from "node:fs";
import { promisify } from "node:util";
import { FormatError, RecordfsError } from "../errors.ts";
import type { ByteSource, WaitOptions } from "./byte_source.ts";
import { DescriptorPool, type Lease } from "./descriptor_pool.ts";
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
  #closed = false;

  private constructor(path: string, identity: FileIdentity) {
    this.path = path;
    this.identity = identity;
  }

  /**
   * Opens a regular file.
   *
   * @throws {RecordfsError} If it is a directory, a pipe or a device, or cannot be opened.
   */
  static *open(path: string): Steps<FileSource> {
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
    const source = new FileSource(path, identityOf(stat));
    pool.release(source.#borrow()); // fails now, not at the first read
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
      let done = 0;
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

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
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

  close(): void {
    this.#closed = true;
    pool.drop(this);
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
    if (sameFile(now, this.identity)) return fd;
    fs.closeSync(fd);
    throw new FormatError(
      "changed",
      `${this.path} was replaced or changed after it was opened; open it again`,
      { path: this.path, expected: this.identity, actual: now },
    );
  };
}

const pool = new DescriptorPool<FileSource>(128);

function identityOf(stat: fs.Stats): FileIdentity {
  const { dev, ino, size, mtimeMs } = stat;
  return { dev, ino, size, mtimeMs };
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
