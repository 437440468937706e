import { RecordfsError } from "../../base/errors.ts";
import { changedFile } from "./changed_file.ts";
import type {
  ByteSource,
  OpenFileOptions,
  WaitOptions,
} from "./byte_source.ts";
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

/** A way to a file's bytes past the system's memory: quicker where they are not there. */
export interface DirectReads {
  /**
   * Fills memory of whole blocks (`BLOCK`) from such a place on.
   *
   * @returns How many bytes were read: fewer than asked for at the end of the data, a negative number where that
   * was refused.
   */
  readAt(into: Uint8Array<ArrayBuffer>, offset: number): Promise<number>;
  /** To be called when nothing is read any more. */
  close(): void;
}

/** `read(2)` moves at most 0x7ffff000 bytes; larger reads go in pieces of this size. */
const LARGEST_READ = 1 << 30;

/**
 * A local file. Its descriptor is opened when it is needed and may be closed between reads, so
 * that thousands of parts can be open at once.
 */
export class FileSource implements ByteSource {
  readonly path: string;
  /** The file's state when it was opened; a file replaced since then is an error, not other data. */
  readonly identity: FileIdentity;
  /** Speed of its device; judged by where the system cannot tell what is in its memory. */
  readonly pace: Pace;
  /** True if a writer may still append to it. */
  readonly mayGrow: boolean;
  /** Reads what the C library can read; there is none without `--allow-ffi`. */
  readonly #libc: LibcReads | undefined = libcReads();
  #tellsCached: boolean = this.#libc !== undefined;
  /** Whether it can't but be cached, though its file system does not tell. */
  #isInMemory = false;
  /** Borrower of the descriptor that Node knows: only some files need one of each kind. */
  readonly #node = {};
  #closed = false;

  private constructor(path: string, identity: FileIdentity, mayGrow: boolean) {
    this.path = path;
    this.identity = identity;
    this.mayGrow = mayGrow;
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
    // Looked at before it is opened: opening a pipe would wait for a writer.
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

  readAtSync(into: Uint8Array, offset: number): number {
    const done = this.#libc === undefined
      ? -1
      : readNow(this.#libc, this.#borrow(), into, offset);
    // Where the C library is refused, Node is left to say why, in its own errors.
    return done >= 0
      ? done
      : readNow(NODE_READS, this.#borrowOfNode(), into, offset);
  }

  readCached(into: Uint8Array, offset: number): number {
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
    if (this.#isInMemory) return this.readAtSync(into, offset);
    if (!this.pace.allows()) return 0;
    const start = performance.now();
    const got = this.readAtSync(into, offset);
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
      // Its path leads elsewhere by now; what was opened is still there, if only without waiting.
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
      return done;
    } finally {
      descriptors.release(lease);
    }
  }

  /** A way past the system's memory, if there is one. */
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

  /** Lends the file's descriptor for a call. */
  useDescriptor<T>(use: (fd: number) => T): T {
    const lease = this.#borrow();
    try {
      return use(lease.descriptor.fd);
    } finally {
      descriptors.release(lease);
    }
  }

  /** Tells whether a file that now has so many bytes may be the one that was opened. */
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

  /** The C library's descriptor where there is one, which is there at once; else Node's. */
  #borrow(): Lease {
    return this.#libc === undefined
      ? this.#borrowOfNode()
      : descriptors.borrow(this, this.#openByLibc);
  }

  #borrowOfNode(): Lease {
    return descriptors.borrow(this.#node, this.#openByNode);
  }

  readonly #openByLibc = (): Descriptor => {
    const libc = this.#libc!;
    return this.#open(() => {
      const fd = libc.open(this.path);
      // Node will be refused as well, and say why.
      return fd < 0
        ? nodeDescriptor(this.path)
        : { fd, close: () => libc.close(fd) };
    });
  };

  readonly #openByNode = (): Descriptor =>
    this.#open(() => nodeDescriptor(this.path));

  #open(open: () => Descriptor): Descriptor {
    if (this.#closed) {
      throw new RecordfsError("closed", `${this.path} has been closed`, {
        path: this.path,
      });
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

  /** Looks at what has just been opened by its path, so that Deno says whether that is permitted. */
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

/**
 * `node:fs`, loaded when it is first needed: that takes Deno 20 ms, in which a mount of files that the
 * C library opens and reads can answer already.
 */
function nodeFs(): NodeFs {
  return loadedFs ??= process.getBuiltinModule("node:fs");
}

function identityOf(stat: Deno.FileInfo): FileIdentity {
  const { dev, ino, size, mtime } = stat;
  return { dev, ino: ino ?? 0, size, mtimeMs: mtime?.getTime() ?? 0 };
}

/** The last file that Node has opened. */
let opened: string | undefined;

/** A file that Deno has permitted to open, if there was one. */
export function permittedFile(): string | undefined {
  return opened;
}

/**
 * Opens a file by Node, which tells why that is refused.
 *
 * @throws {Error} With the system's `code`.
 */
export function nodeDescriptor(path: string): Descriptor {
  const { O_RDONLY, O_NONBLOCK } = nodeFs().constants;
  // What has taken a regular file's place may be a pipe, which is not waited for.
  const fd = nodeFs().openSync(path, O_RDONLY | (O_NONBLOCK ?? 0));
  opened = path;
  return { fd, close: () => nodeFs().closeSync(fd) };
}

/** What reads at a place of an open file; a negative answer is a refusal. */
type Reads = Pick<LibcReads, "read">;

const NODE_READS: Reads = {
  read: (fd, into, offset) =>
    nodeFs().readSync(fd, into, 0, into.byteLength, offset),
};

/** Fills `into` as far as the file goes, and gives the descriptor back; -1 where that is refused. */
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
        ? into // nothing is made for most reads
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

/** Turns the system's refusal into one sentence; a missing Deno permission stays what it is. */
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
