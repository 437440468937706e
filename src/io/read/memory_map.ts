import { changedFile } from "../storage/changed_file.ts";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";
import {
  lastError,
  type Libc,
  libcIfPermitted,
  neededForLibc,
} from "../libc/libc.ts";
import { libcReads } from "../libc/libc_reads.ts";

/** From `sys/mman.h`. */
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 0x01;
const MAP_PRIVATE = 0x02;
const MAP_NORESERVE = 0x4000;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

interface MappedRange {
  readonly address: bigint;
  readonly size: number;
}

const unused = new FinalizationRegistry<MappedRange>(unmap);

/** Maps a non-empty file read-only. A write kills the process. Throws like {@linkcode MappedFile.unchecked}. */
export function mapShared(source: FileSource): MappedRange {
  return map(source, PROT_READ, MAP_SHARED);
}

/** Unmaps a range. Nobody may use it any more. */
export function unmap({ address, size }: MappedRange): void {
  libc("memory").munmap(address, BigInt(size));
}

/**
 * Maps a file. A write changes this process's copy of the page, not the file. The map lasts as long as anything refers
 * to its bytes, so views may outlive their maker. Unmapping under a view would kill the process.
 */
function mapPrivately(source: FileSource): Uint8Array<ArrayBuffer> {
  if (source.size === 0) return new Uint8Array();
  // Without MAP_NORESERVE, a file larger than memory is refused, because all of it might be written.
  const kind = MAP_PRIVATE | MAP_NORESERVE;
  const range = map(source, PROT_READ | PROT_WRITE, kind);
  const memory = Deno.UnsafePointer.create(range.address)!;
  const bytes = new Uint8Array(
    Deno.UnsafePointerView.getArrayBuffer(memory, range.size),
  );
  unused.register(bytes.buffer, range, bytes);
  return bytes;
}

function map(source: FileSource, access: number, kind: number): MappedRange {
  const { path, size } = source;
  const functions = libc(path);
  return source.useDescriptor((fd) => {
    if (!source.isStill(sizeOf(fd))) {
      throw changedFile(path, size, sizeOf(fd));
    }
    const length = BigInt(size);
    const address = functions.mmap(null, length, access, kind, fd, 0n);
    if (address !== MAP_FAILED) return { address, size };
    const cause = lastError(functions);
    throw new RecordfsError(
      cause.code,
      `Cannot map ${path} into memory: ${cause.message}. Call read() instead`,
      { path, cause },
    );
  });
}

/** `libcReads` is available whenever `libc` is: both come from the same library. */
function sizeOf(fd: number): number {
  return libcReads()!.sizeOf(fd);
}

function libc(path: string): Libc {
  const opened = libcIfPermitted();
  if (opened !== undefined) return opened;
  throw new RecordfsError(
    "unsupported",
    `Cannot map ${path} into memory: that needs ${neededForLibc()}. Call read() instead`,
    { path },
  );
}

/** A file's memory map, created on first use. Reading it reads the page cache. */
export class MappedFile {
  readonly #source: FileSource;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  /**
   * @param source The file. It must stay open until the last call.
   * @throws {RecordfsError} With code `unsupported` if it is not on a local disk.
   */
  constructor(source: ByteSource) {
    if (!(source instanceof FileSource)) {
      throw new RecordfsError(
        "unsupported",
        `Cannot map ${source.name} into memory: it is not a local file. Call read() instead`,
        { path: source.name },
      );
    }
    this.#source = source;
  }

  /**
   * Returns all bytes of the file, which may have been truncated since it was mapped. Throws a
   * {@linkcode RecordfsError} if it cannot be mapped; `code` is `unsupported` without `--allow-ffi` and outside Linux.
   */
  unchecked(): Uint8Array<ArrayBuffer> {
    this.#forgetGone();
    return this.#bytes ??= mapPrivately(this.#source);
  }

  /** Returns all bytes of the file, after {@linkcode MappedFile.checkSize}. */
  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = this.unchecked();
    if (bytes.byteLength > 0) this.checkSize();
    return bytes;
  }

  /**
   * Throws a {@linkcode FormatError} if the file is shorter than its map. Touching what was cut off would kill the
   * process.
   */
  checkSize(): void {
    const { path, size } = this.#source;
    const now = this.#source.useDescriptor((fd) => sizeOf(fd));
    if (now >= size) return;
    throw new FormatError(
      "out-of-bounds",
      `Cannot read ${path}: it was truncated after it was opened, from ${size} bytes to ${now}. Download it again`,
      { path, expected: size, actual: now },
    );
  }

  /** Releases the map. It is unmapped with its last view. */
  close(): void {
    this.#forgetGone();
    this.#bytes = undefined;
  }

  /** If the bytes were transferred to another thread, the map stays for good, because they may be in use there. */
  #forgetGone(): void {
    if (this.#bytes?.buffer.detached !== true) return;
    unused.unregister(this.#bytes);
    this.#bytes = undefined;
  }
}
