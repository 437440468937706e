import * as fs from "node:fs";
import { promisify } from "node:util";
import { WriteError } from "../../base/errors.ts";
import { libcIfPermitted } from "../libc/libc.ts";
import { SYNC_FILE_RANGE_WRITE } from "../libc/libc_files.ts";
import { shouldYield, yieldToEventLoop } from "../concurrency/event_loop.ts";
import { type Effect, perform, type Steps } from "../concurrency/steps.ts";
import { writeError } from "./write_error.ts";

/** `write(2)` moves at most 0x7ffff000 bytes; longer writes are split into pieces of this size. */
const LARGEST_WRITE = 1 << 30;

/** Modes of `open(2)`, all for reading and writing. New files get the permissions that the umask leaves. */
const NEW_FILE = "wx+";
const THERE = "r+";
const THERE_OR_NEW = fs.constants.O_RDWR | fs.constants.O_CREAT;
const PERMISSIONS = 0o666;

const open = promisify(fs.open);
const read = promisify(fs.read);
const truncate = promisify(fs.ftruncate);
const sync = promisify(fs.fsync);
const stat: (fd: number) => Promise<fs.Stats> = promisify(fs.fstat);

interface Act<T> {
  sync(fd: number): T;
  async(fd: number): Promise<T>;
}

/** Writes from this size on are worth waking another thread. */
const LONG_WRITE = 128 * 1024;

type WritePart = (
  fd: number,
  bytes: Uint8Array,
  start: number,
  length: number,
  offset: number,
) => Promise<number>;

/** In this thread. Deno's `fs.write` does so as well, only that it resolves later (2.9.6). */
const writeHere: WritePart = async (fd, bytes, start, length, offset) => {
  while (shouldYield()) await yieldToEventLoop();
  return fs.writeSync(fd, bytes, start, length, offset);
};

/** In another thread if possible, so that this one can read or compress what comes next. */
const writeElsewhere: WritePart = async (fd, bytes, start, length, offset) => {
  const piece = bytes.subarray(start, start + length);
  const own = piece as Uint8Array<ArrayBuffer>;
  const done = await libcIfPermitted()
    ?.pwriteElsewhere(fd, own, length, BigInt(offset)) ?? -1;
  // The error is lost; the write here fails again with it.
  return done > 0 ? done : await writeHere(fd, bytes, start, length, offset);
};

const STAT: Act<fs.Stats> = { sync: (fd) => fs.fstatSync(fd), async: stat };

/** A file open for reading and writing at any offset. */
export class WritableFile {
  readonly name: string;
  #fd = -1;
  #busy = 0;
  #closed = false;
  #onClosed: (() => void) | undefined;

  private constructor(name: string) {
    this.name = name;
  }

  /** Creates a file. An existing one is an error. `name` is used in errors. */
  static *create(path: string, name: string): Steps<WritableFile> {
    const file = new WritableFile(name);
    try {
      yield* file.#open(path, NEW_FILE);
      return file;
    } catch (error) {
      if (file.#fd >= 0) {
        file.close();
        fs.unlinkSync(path);
      }
      throw error;
    }
  }

  /** Opens an existing file to change it in place. `name` is used in errors. */
  static *open(
    path: string,
    flags: string | number = THERE,
    name = path,
  ): Steps<WritableFile> {
    const file = new WritableFile(name);
    try {
      yield* file.#open(path, flags);
      return file;
    } catch (error) {
      if (file.#fd >= 0) file.close();
      throw writeError(name, error);
    }
  }

  /** Opens a file to change it in place, or creates an empty one. */
  static openOrCreate(path: string): Steps<WritableFile> {
    return WritableFile.open(path, THERE_OR_NEW);
  }

  *size(): Steps<number> {
    return (yield* this.#act(STAT)).size;
  }

  /** Returns a unique string, equal for the same file however it was opened. */
  *identity(): Steps<string> {
    const { dev, ino } = yield* this.#act(STAT);
    return `${dev}:${ino}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Writes all of `bytes` at `offset`. If `isOwn`, nobody else can release the memory meanwhile, so that another thread
   * may write it.
   */
  *writeAt(bytes: Uint8Array, offset: number, isOwn = false): Steps<void> {
    const length = bytes.byteLength;
    const writing = isOwn && length >= LONG_WRITE ? writeElsewhere : writeHere;
    for (let done = 0; done < length;) {
      const want = Math.min(length - done, LARGEST_WRITE);
      done += yield* this.#act({
        sync: (fd) => fs.writeSync(fd, bytes, done, want, offset + done),
        async: (fd) => writing(fd, bytes, done, want, offset + done),
      });
    }
  }

  /** Reads back exactly `into.length` written bytes. */
  *readAt(into: Uint8Array, offset: number): Steps<void> {
    for (let done = 0; done < into.byteLength;) {
      const want = into.byteLength - done;
      const got = yield* this.#act({
        sync: (fd) => fs.readSync(fd, into, done, want, offset + done),
        async: async (fd) =>
          (await read(fd, into, done, want, offset + done)).bytesRead,
      });
      if (got === 0) {
        throw new WriteError(
          "changed",
          `Cannot write ${this.name}: the file was truncated meanwhile`,
          { path: this.name, offset },
        );
      }
      done += got;
    }
  }

  /** Truncates the file, or extends it with zeros, to `size` bytes. */
  *truncate(size: number): Steps<void> {
    yield* this.#act({
      sync: (fd) => fs.ftruncateSync(fd, size),
      async: (fd) => truncate(fd, size),
    });
  }

  /**
   * Starts writing dirty pages to disk without waiting, so that {@linkcode WritableFile.sync} waits less. May do
   * nothing.
   */
  startSync(offset: number, length: number): void {
    if (this.#closed) return;
    this.#busy++;
    const started = libcIfPermitted()?.syncFileRangeElsewhere(
      this.#fd,
      BigInt(offset),
      BigInt(length),
      SYNC_FILE_RANGE_WRITE,
    );
    Promise.resolve(started).finally(() => this.#letGo());
  }

  /** Waits until the written data is on disk. */
  *sync(): Steps<void> {
    yield* this.#act({
      sync: (fd) => fs.fsyncSync(fd),
      async: (fd) => sync(fd),
    });
  }

  /**
   * Closes the file as soon as no call is in flight, because its descriptor may be reused at once. Then calls
   * `onClosed`: nothing changes the file any more.
   */
  close(onClosed?: () => void): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClosed = onClosed;
    if (this.#busy === 0) this.#end();
  }

  #letGo(): void {
    this.#busy--;
    if (this.#closed && this.#busy === 0) this.#end();
  }

  #end(): void {
    fs.closeSync(this.#fd);
    this.#onClosed?.();
  }

  /** Stores the descriptor inside the effect, so that an abort cannot lose it. */
  *#open(path: string, flags: string | number): Steps<void> {
    yield* perform({
      sync: () => void (this.#fd = fs.openSync(path, flags, PERMISSIONS)),
      async: async () => void (this.#fd = await open(path, flags, PERMISSIONS)),
    });
  }

  *#act<T>(act: Act<T>): Steps<T> {
    if (this.#closed) {
      throw new WriteError(
        "closed",
        `Cannot write ${this.name}: writing it was aborted`,
        { path: this.name },
      );
    }
    const effect: Effect<T> = {
      sync: () => act.sync(this.#fd),
      async: async () => {
        this.#busy++;
        try {
          return await act.async(this.#fd);
        } finally {
          this.#letGo();
        }
      },
    };
    try {
      return yield* perform(effect);
    } catch (error) {
      throw writeError(this.name, error);
    }
  }
}
