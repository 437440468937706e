import * as path from "node:path";
import { RecordfsError } from "../../errors.ts";
import type { FFRecordWriter } from "../../formats/ffrecord/mod.ts";
import type {
  Directory,
  EntryStat,
  OpenFile,
} from "../../io/directories/directory.ts";
import { openError } from "../../io/storage/file_source.ts";
import { requireLocal } from "../../io/storage/local_path.ts";
import { openDirectory } from "../../io/directories/open_directory.ts";
import { readFull } from "../../io/directories/directory.ts";
import { systemCode } from "../../io/libc/system_error.ts";

/** Files are read in pieces of this size; most samples are one. */
const PIECE = 1 << 20;

/** Reads files that become samples; names may have any bytes where `--allow-ffi` is given. */
export class SampleFiles implements Disposable {
  readonly #buffer = new Uint8Array(PIECE);
  /** That of the last file: lists name the files of a directory one after the other. */
  #directory: Directory | undefined;

  /**
   * The size of a file in bytes.
   *
   * @throws {RecordfsError} If it can't be read, or is no regular file.
   */
  sizeOf(file: string): number {
    const opened = this.#open(file);
    try {
      return regularFile(file, opened).size;
    } finally {
      opened.close();
    }
  }

  /**
   * Writes a file's content as one sample.
   *
   * @param onPiece Told how many more bytes are read.
   * @throws {RecordfsError} If it can't be read, or changes meanwhile.
   */
  async write(
    file: string,
    writer: FFRecordWriter,
    signal: AbortSignal,
    onPiece: (bytes: number) => void,
  ): Promise<void> {
    const opened = this.#open(file);
    try {
      const read = this.#reader(file, opened, onPiece);
      const length = read(0);
      const first = this.#buffer.subarray(0, length);
      const sample = length < PIECE ? first : this.#stream(first, read);
      await writer.write(sample, { signal });
    } finally {
      opened.close();
    }
  }

  /**
   * A file's content, which is opened when it is asked for. A piece is valid until another one is asked
   * for, of this or another file.
   *
   * @throws {RecordfsError} When it is read: if it can't be, or changes meanwhile.
   */
  async *pieces(file: string): AsyncGenerator<Uint8Array> {
    const opened = this.#open(file);
    try {
      const read = this.#reader(file, opened, () => {});
      const length = read(0);
      const first = this.#buffer.subarray(0, length);
      if (length < PIECE) yield first;
      else yield* this.#stream(first, read);
    } finally {
      opened.close();
    }
  }

  /** Closes what is open. */
  [Symbol.dispose](): void {
    this.#directory?.close();
    this.#directory = undefined;
  }

  /** Reads the next piece of a file into the buffer, and answers its length: less at the end. */
  #reader(
    file: string,
    opened: OpenFile,
    onPiece: (bytes: number) => void,
  ): (at: number) => number {
    const before = regularFile(file, opened);
    return (at) => {
      const length = reading(file, () => readFull(opened, this.#buffer));
      if (length < PIECE) refuseChange(file, before, opened, at + length);
      onPiece(length);
      return length;
    };
  }

  async *#stream(
    first: Uint8Array,
    read: (at: number) => number,
  ): AsyncGenerator<Uint8Array> {
    yield first;
    for (let at = first.length, length = PIECE; length === PIECE;) {
      length = read(at);
      at += length;
      yield this.#buffer.subarray(0, length);
    }
  }

  #open(file: string): OpenFile {
    if (file === "" || file.includes("\0")) {
      throw new RecordfsError(
        "ENOENT",
        "The name of a file is empty or has a NUL",
      );
    }
    requireLocal(file);
    const parent = path.dirname(file);
    return reading(file, () => {
      if (this.#directory?.path !== parent) {
        this.#directory?.close();
        this.#directory = undefined;
        this.#directory = openDirectory(parent);
      }
      return this.#directory.openFile(path.basename(file));
    });
  }
}

function regularFile(file: string, opened: OpenFile): EntryStat {
  const stat = reading(file, () => opened.stat());
  if (stat.kind === "file") return stat;
  const what = stat.kind === "directory" ? "a directory" : "no regular file";
  throw new RecordfsError(
    "not-a-file",
    `Cannot read ${file}: it is ${what}`,
    { path: file },
  );
}

function refuseChange(
  file: string,
  before: EntryStat,
  opened: OpenFile,
  length: number,
): void {
  const after = reading(file, () => opened.stat());
  if (after.size === length && after.mtimeMs === before.mtimeMs) return;
  throw new RecordfsError(
    "changed",
    `${file} changed while it was read: write it again when it is complete`,
    { path: file, expected: before.size, actual: length },
  );
}

/** Gives the system's refusals the name of the file. */
function reading<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const explained = openError(file, error);
    const code = systemCode(error);
    if (explained !== error || code === undefined) throw explained;
    throw new RecordfsError(
      code,
      `Cannot read ${file}: ${(error as Error).message}`,
      { path: file, cause: error },
    );
  }
}
