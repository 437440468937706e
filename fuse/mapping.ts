import type { ByteSource } from "../src/io/byte_source.ts";
import { FileSource } from "../src/io/file_source.ts";
import { MemorySource } from "../src/io/memory_source.ts";
import { addressOf, cString, errorText, lastErrno, libc } from "./libc.ts";
import { MountError } from "./mount_error.ts";
import { OpenFlag } from "./wire/flags.ts";

/** A source in this process's address space, as a thread that serves a mount is told of it. */
export interface MappedSource {
  /** What messages call it. */
  readonly name: string;
  /** Where its first byte is; meaningless when `size` is 0. */
  readonly address: number;
  /** Bytes that may be sent from there. */
  readonly size: number;
}

/** `PROT_READ`, from `sys/mman.h`. */
const PROT_READ = 1;
/** `MAP_SHARED`, from `sys/mman.h`. */
const MAP_SHARED = 1;
/** `MAP_FAILED`, from `sys/mman.h`. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

/**
 * The sources of a tree, mapped: replies are written straight from there. Files are not kept open, so
 * that any number of them can be mapped whatever the descriptor limit.
 */
export class Mapping implements Disposable {
  readonly sources: readonly MappedSource[];
  /** Those that are to be unmapped. */
  readonly #mapped: readonly MappedSource[];
  /** Memory that is only known by its address elsewhere: referring to it here keeps it. */
  readonly #held: readonly Uint8Array[];
  #gone = false;

  private constructor(
    sources: readonly MappedSource[],
    mapped: readonly MappedSource[],
    held: readonly Uint8Array[],
  ) {
    this.sources = sources;
    this.#mapped = mapped;
    this.#held = held;
  }

  /**
   * Maps sources.
   *
   * @throws {MountError} If one is not local, or a file is not the one that was opened.
   */
  static of(sources: readonly ByteSource[]): Mapping {
    const described: MappedSource[] = [];
    const mapped: MappedSource[] = [];
    const held: Uint8Array[] = [];
    try {
      for (const source of sources) {
        if (source instanceof FileSource) {
          const file = mapFile(source);
          described.push(file);
          if (file.size > 0) mapped.push(file);
        } else if (source instanceof MemorySource) {
          held.push(source.bytes);
          described.push(describeMemory(source));
        } else {
          throw new MountError(
            "needs-local",
            `Cannot mount ${source.name}: it is not a local file, and a mount needs a local ` +
              "source; copy it here first",
            { path: source.name },
          );
        }
      }
    } catch (error) {
      unmap(mapped);
      throw error;
    }
    return new Mapping(described, mapped, held);
  }

  /** Unmaps everything; no thread may be serving from it any more. */
  [Symbol.dispose](): void {
    if (this.#gone) return;
    this.#gone = true;
    unmap(this.#mapped);
  }
}

function mapFile(source: FileSource): MappedSource {
  const { path } = source;
  const { ino, size } = source.identity;
  const fd = libc().open(cString(path), OpenFlag.RDONLY | OpenFlag.CLOEXEC);
  if (fd < 0) throw mapError(path, lastErrno());
  try {
    const now = fileState(fd, path);
    if (now.ino !== ino || now.size !== size) {
      throw new MountError(
        "changed",
        `Cannot mount ${path}: it was replaced or changed after it was opened; try again`,
        { path, expected: { ino, size }, actual: now },
      );
    }
    if (size === 0) return { name: path, address: 0, size };
    const address = libc().mmap(
      null,
      BigInt(size),
      PROT_READ,
      MAP_SHARED,
      fd,
      0n,
    );
    if (address === MAP_FAILED) throw mapError(path, lastErrno());
    return { name: path, address: Number(address), size };
  } finally {
    libc().close(fd);
  }
}

function describeMemory({ name, bytes }: MemorySource): MappedSource {
  // Asking for the buffer moves an array that V8 keeps in its own, moving heap to fixed memory.
  const memory = new Uint8Array(
    bytes.buffer as ArrayBuffer,
    bytes.byteOffset,
    bytes.length,
  );
  const address = bytes.length === 0 ? 0 : addressOf(memory);
  return { name, address, size: bytes.length };
}

/** Asks for an open file's inode number and size, through `struct statx` of `linux/stat.h`. */
function fileState(fd: number, path: string): { ino: number; size: number } {
  const atEmptyPath = 0x1000; // AT_EMPTY_PATH: the descriptor itself
  const basicStats = 0x7ff; // STATX_BASIC_STATS
  const buffer = new Uint8Array(256);
  const result = libc().statx(
    fd,
    cString(""),
    atEmptyPath,
    basicStats,
    buffer,
  );
  if (result < 0) throw mapError(path, lastErrno());
  const view = new DataView(buffer.buffer);
  return {
    ino: Number(view.getBigUint64(32, true)), // stx_ino
    size: Number(view.getBigUint64(40, true)), // stx_size
  };
}

function mapError(path: string, errno: number): MountError {
  return new MountError(
    "refused",
    `Cannot mount ${path}: mapping it failed: ${errorText(errno)}`,
    { path },
  );
}

function unmap(sources: readonly MappedSource[]): void {
  for (const { address, size } of sources) {
    libc().munmap(BigInt(address), BigInt(size));
  }
}
