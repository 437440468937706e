import * as fs from "node:fs";
import { promisify } from "node:util";
import { WriteError } from "../../base/errors.ts";
import { libcIfPermitted } from "../libc/libc.ts";
import { SYNC_FILE_RANGE_WRITE } from "../libc/libc_files.ts";
import { shouldYield, yieldToEventLoop } from "../concurrency/event_loop.ts";
import { type Effect, perform, type Steps } from "../concurrency/steps.ts";
import { writeError } from "./write_error.ts";

/** `write(2)` moves at most 0x7ffff000 bytes; larger runs go in pieces of this size. */
const LARGEST_WRITE = 1 << 30;

/** `open(2)`: for reading and writing, with the permissions that the umask leaves where it is new. */
const NEW_FILE = "wx+";
const THERE = "r+";
const THERE_OR_NEW = fs.constants.O_RDWR | fs.constants.O_CREAT;
const PERMISSIONS = 0o666;

const open = promisify(fs.open);
const read = promisify(fs.read);
const truncate = promisify(fs.ftruncate);
const sync = promisify(fs.fsync);
const stat: (fd: number) => Promise<fs.Stats> = promisify(fs.fstat);

/** What is done with an open file. */
interface Act<T> {
  sync(fd: number): T;
  async(fd: number): Promise<T>;
}

/** Writes of so many bytes are worth waking another thread. */
const LONG_WRITE = 128 * 1024;

/** Writes a part of `bytes`, and tells how much of it was. */
type WritePart = (
  fd: number,
  bytes: Uint8Array,
  start: number,
  length: number,
  offset: number,
) => Promise<number>;

/** In this thread, as Deno's `fs.write` does as well, only that it answers later (2.9.6). */
const writeHere: WritePart = async (fd, bytes, start, length, offset) => {
  while (shouldYield()) await yieldToEventLoop();
  return fs.writeSync(fd, bytes, start, length, offset);
};

/** By another thread where there can be one, so that this one reads or compresses what comes next. */
const writeElsewhere: WritePart = async (fd, bytes, start, length, offset) => {
  const piece = bytes.subarray(start, start + length);
  const own = piece as Uint8Array<ArrayBuffer>;
  const done = await libcIfPermitted()
    ?.pwriteElsewhere(fd, own, length, BigInt(offset)) ?? -1;
  // What it was refused for is lost: here it is refused again.
  return done > 0 ? done : await writeHere(fd, bytes, start, length, offset);
};

const STAT: Act<fs.Stats> = { sync: (fd) => fs.fstatSync(fd), async: stat };

/** A file that is written, open for reading and writing at any place. */
export class WritableFile {
  /** Name in errors: the file that it is written for. */
  readonly name: string;
  #fd = -1;
  #busy = 0;
  #closed = false;
  #onClosed: (() => void) | undefined;

  private constructor(name: string) {
    this.name = name;
  }

  /**
   * Makes a file; one that exists already is an error.
   *
   * @param path Where.
   * @param name What errors call it.
   */
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

  /**
   * Opens a file that is there, to change it in its place.
   *
   * @param flags Of open(2), where it is opened for something else.
   * @param name What errors call it.
   */
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

  /** Opens a file to change it in its place; where there is none, an empty one is made. */
  static openOrCreate(path: string): Steps<WritableFile> {
    return WritableFile.open(path, THERE_OR_NEW);
  }

  /** Size of the file in bytes. */
  *size(): Steps<number> {
    return (yield* this.#act(STAT)).size;
  }

  /** The same for one file, however it was opened; different for any other. */
  *identity(): Steps<string> {
    const { dev, ino } = yield* this.#act(STAT);
    return `${dev}:${ino}`;
  }

  /** True if it was closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Writes all of `bytes` at `offset`.
   *
   * @param isOwn Whether nobody else can let go of the memory meanwhile, so that another thread may write it.
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

  /** Reads back what was written: exactly `into.length` bytes. */
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
          `Cannot write ${this.name}: the file that is written was cut meanwhile`,
          { path: this.name, offset },
        );
      }
      done += got;
    }
  }

  /** Cuts the file, or extends it by zeros, to `size` bytes. */
  *truncate(size: number): Steps<void> {
    yield* this.#act({
      sync: (fd) => fs.ftruncateSync(fd, size),
      async: (fd) => truncate(fd, size),
    });
  }

  /**
   * Has the system bring to the disk what was written, as soon as it can, without waiting for it: then
   * {@linkcode WritableFile.sync} has less to wait for. It may not.
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

  /** Waits until what was written is on the disk. */
  *sync(): Steps<void> {
    yield* this.#act({
      sync: (fd) => fs.fsyncSync(fd),
      async: (fd) => sync(fd),
    });
  }

  /**
   * Closes the file, as soon as nothing is under way: another file may get its number at once.
   *
   * @param onClosed Called then: nothing changes the file any more.
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

  /** The descriptor is kept from inside: a wait that is aborted just now must not lose it. */
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
        `Cannot write ${this.name}: writing it was given up`,
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
