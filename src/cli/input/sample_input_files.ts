import * as path from "node:path";
import { RecordfsError } from "../../base/errors.ts";
import type { FFRecordWriter } from "../../formats/ffrecord/mod.ts";
import type {
  Directory,
  EntryStat,
  OpenFile,
} from "../../io/dirfd/directory.ts";
import { openError } from "../../io/storage/file_source.ts";
import { requireLocal } from "../../io/storage/local_path.ts";
import { openDirectory } from "../../io/dirfd/open_directory.ts";
import { readFull } from "../../io/dirfd/directory.ts";
import { systemCode } from "../../io/libc/system_error.ts";

/** Size in which files are read; most samples fit into one piece. */
const PIECE = 1 << 20;

/** Reads files that become samples. With `--allow-ffi`, names may contain any bytes. */
export class SampleInputFiles implements Disposable {
  readonly #buffer = new Uint8Array(PIECE);
  /** Directory of the last file: lists usually name the files of a directory consecutively. */
  #directory: Directory | undefined;

  /** Returns the size of a regular file in bytes. */
  sizeOf(file: string): number {
    const opened = this.#open(file);
    try {
      return regularFile(file, opened).size;
    } finally {
      opened.close();
    }
  }

  /** Writes a file's content as one sample. Calls `onPiece` with the number of bytes of each piece. */
  async write(
    file: string,
    writer: FFRecordWriter,
    signal: AbortSignal,
    onPiece: (bytes: number) => void,
  ): Promise<void> {
    const pieces = this.pieces(file, onPiece);
    try {
      const first: Uint8Array = (await pieces.next()).value!;
      const sample = first.length < PIECE ? first : joined(first, pieces);
      await writer.write(sample, { signal });
    } finally {
      await pieces.return();
    }
  }

  /**
   * Yields a file's content. Opens the file on the first iteration. A piece is valid until the next one of any file is
   * read. There is always at least one; the last is shorter than {@linkcode PIECE}.
   *
   * @throws {RecordfsError} While reading: if the file cannot be read, or changes meanwhile.
   */
  async *pieces(
    file: string,
    onPiece: (bytes: number) => void = () => {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const opened = this.#open(file);
    try {
      const before = regularFile(file, opened);
      for (let at = 0, length = PIECE; length === PIECE;) {
        length = reading(file, () => readFull(opened, this.#buffer));
        at += length;
        if (length < PIECE) refuseChange(file, before, opened, at);
        onPiece(length);
        yield this.#buffer.subarray(0, length);
      }
    } finally {
      opened.close();
    }
  }

  [Symbol.dispose](): void {
    this.#directory?.close();
    this.#directory = undefined;
  }

  #open(file: string): OpenFile {
    if (file === "" || file.includes("\0")) {
      throw new RecordfsError(
        "ENOENT",
        "Cannot read a file: its name is empty or has a NUL",
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

async function* joined(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

function regularFile(file: string, opened: OpenFile): EntryStat {
  const stat = reading(file, () => opened.stat());
  if (stat.kind === "file") return stat;
  const what = stat.kind === "directory" ? "a directory" : "not a regular file";
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
    `Cannot read ${file}: it changed meanwhile. Write it again when it is complete`,
    { path: file, expected: before.size, actual: length },
  );
}

/** Adds the name of the file to system errors. */
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
