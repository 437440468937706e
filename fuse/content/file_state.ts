import { cString, lastErrno, libc } from "../libc.ts";
import { Errno } from "../wire/errno.ts";

/** `AT_FDCWD` and `AT_EMPTY_PATH` of `linux/fcntl.h`. */
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
/** `STATX_BASIC_STATS` of `linux/stat.h`. */
const BASIC_STATS = 0x7ff;
/** Bytes of `struct statx`. */
const STATX_SIZE = 256;

/**
 * Fields that identify one state of a file, as word indices into `struct statx`. The struct has the same
 * layout on every architecture.
 */
const FACTS = {
  device: [34, 35],
  inode: [8, 9],
  links: [4],
  size: [10, 11],
  modified: [28, 29, 30], // seconds, and nanoseconds
  changed: [24, 25, 26],
} as const;

export type FileFact = keyof typeof FACTS;

const WORDS = Object.values(FACTS).flat();
const STARTS = Object.fromEntries(
  Object.entries(FACTS).map((
    [name, [first]],
  ) => [name, WORDS.indexOf(first)]),
) as Record<FileFact, number>;

/** State of a file at one time, in words that threads may share. */
export class FileState {
  static readonly WORDS: number = WORDS.length;

  readonly #words: Uint32Array;

  constructor(words: Uint32Array = new Uint32Array(WORDS.length)) {
    this.#words = words;
  }

  get size(): number {
    const at = STARTS.size;
    return this.#words[at]! + this.#words[at + 1]! * 0x1_0000_0000;
  }

  /** Number of hard links. */
  get links(): number {
    return this.#words[STARTS.links]!;
  }

  /** Modification time of the content, in milliseconds since 1970. */
  get mtime(): number {
    const at = STARTS.modified;
    const seconds = this.#words[at]! +
      (this.#words[at + 1]! | 0) * 0x1_0000_0000;
    return seconds * 1000 + Math.floor(this.#words[at + 2]! / 1e6);
  }

  /** Whether a field is the same in another state. */
  shares(fact: FileFact, other: FileState): boolean {
    const start = STARTS[fact];
    return FACTS[fact].every((_, i) =>
      this.#words[start + i] === other.#words[start + i]
    );
  }

  equals(other: FileState): boolean {
    const words = this.#words;
    for (let i = 0; i < words.length; i++) {
      if (words[i] !== other.#words[i]) return false;
    }
    return true;
  }

  /** Makes this state differ from every real state of a file. */
  spoil(): void {
    this.#words.fill(0, STARTS.modified, STARTS.modified + 3);
  }

  copy(other: FileState): void {
    this.#words.set(other.#words);
  }

  /** Copies the fields from a `struct statx`. */
  take(statx: Uint32Array): void {
    const words = this.#words;
    for (let i = 0; i < words.length; i++) words[i] = statx[WORDS[i]!]!;
  }
}

/** Stats one file repeatedly through statx(2). */
export class StatFile {
  readonly #fd: number;
  readonly #path: Uint8Array<ArrayBuffer>;
  readonly #flags: number;
  readonly #words = new Uint32Array(STATX_SIZE / 4);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  /** @param fd Descriptor of the file, or -1 if only its path is known. */
  constructor(fd: number, path: string) {
    this.#fd = fd < 0 ? AT_FDCWD : fd;
    this.#path = cString(fd < 0 ? path : "");
    this.#flags = fd < 0 ? 0 : AT_EMPTY_PATH;
  }

  /**
   * Stats the file.
   *
   * @returns False if it does not exist. After any other error, returns true and leaves `into` unchanged.
   */
  look(into: FileState): boolean {
    const { statx } = libc();
    const result = statx(
      this.#fd,
      this.#path,
      this.#flags,
      BASIC_STATS,
      this.#bytes,
    );
    if (result === 0) {
      into.take(this.#words);
      return true;
    }
    const errno = lastErrno();
    return errno !== Errno.ENOENT && errno !== Errno.ENOTDIR;
  }
}
