import { FormatError, RecordfsError } from "../../errors.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";
import { lastError, LibcFunctions } from "../libc/libc.ts";
import { libcReads } from "../libc/libc_reads.ts";

const functions = new LibcFunctions(
  "mmap",
  "munmap",
  "strerror",
  "errnoLocation",
);

type MapFunctions = NonNullable<ReturnType<typeof functions.open>>;

/** From `sys/mman.h`. */
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 0x01;
const MAP_PRIVATE = 0x02;
const MAP_NORESERVE = 0x4000;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

/** Where a file is in this process's address space. */
export interface MappedRange {
  readonly address: bigint;
  /** In bytes, at least 1. */
  readonly size: number;
}

/**
 * A file's bytes, mapped: reading them reads the system's cache of the file.
 *
 * The map lasts for as long as anything refers to its bytes; that is how views may outlive whoever
 * made them. Unmapping under a view would kill the process.
 */
export class MemoryMap {
  /** All bytes of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #source: FileSource;

  /**
   * Maps a file.
   *
   * @throws {RecordfsError} Where that cannot be done; `code` is `unsupported` without
   * `--allow-ffi`, and off Linux.
   */
  constructor(source: FileSource) {
    this.#source = source;
    if (source.size === 0) {
      this.bytes = new Uint8Array();
      return;
    }
    const range = mapPrivately(source);
    const memory = Deno.UnsafePointer.create(range.address)!;
    this.bytes = new Uint8Array(
      Deno.UnsafePointerView.getArrayBuffer(memory, range.size),
    );
    unused.register(this.bytes.buffer, range, this);
  }

  /**
   * Looks whether the file still is as long as its map: touching what was cut off would kill the
   * process.
   *
   * @throws {FormatError} If it is not.
   */
  checkSize(): void {
    const { path, size } = this.#source;
    const now = this.#source.useDescriptor((fd) => sizeOf(fd));
    if (now >= size) return;
    throw new FormatError(
      "out-of-bounds",
      `${path} was cut after it was opened: it had ${size} bytes and has ${now}; fetch it again`,
      { path, expected: size, actual: now },
    );
  }

  /** True if the bytes were transferred to somebody else. */
  get isGone(): boolean {
    return this.bytes.buffer.detached;
  }

  /** Has the map stay for good, for where its bytes were transferred to. */
  keepForever(): void {
    unused.unregister(this);
  }
}

const unused = new FinalizationRegistry<MappedRange>(unmap);

/**
 * Maps a file that is not empty, to be read only: a write kills the process.
 *
 * @throws {RecordfsError} As {@linkcode MemoryMap} does.
 */
export function mapShared(source: FileSource): MappedRange {
  return map(source, PROT_READ, MAP_SHARED);
}

/** Ends a map; nobody may use it any more. */
export function unmap({ address, size }: MappedRange): void {
  libc("memory").munmap(address, BigInt(size));
}

/** A write changes this process's copy of the page, and not the file. */
function mapPrivately(source: FileSource): MappedRange {
  // Without MAP_NORESERVE a file larger than memory would be refused, since all of it might be written.
  return map(source, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

function map(source: FileSource, access: number, kind: number): MappedRange {
  const { path, size } = source;
  const functions = libc(path);
  return source.useDescriptor((fd) => {
    if (!source.isStill(sizeOf(fd))) {
      throw new FormatError(
        "changed",
        `${path} was replaced or changed after it was opened; open it again`,
        { path, expected: size, actual: sizeOf(fd) },
      );
    }
    const length = BigInt(size);
    const address = functions.mmap(null, length, access, kind, fd, 0n);
    if (address !== MAP_FAILED) return { address, size };
    const cause = lastError(functions);
    throw new RecordfsError(
      cause.code,
      `Cannot map ${path} into memory: ${cause.message}; use read() instead`,
      { path, cause },
    );
  });
}

/** Whoever maps has the functions to read as well: they are of the same library. */
function sizeOf(fd: number): number {
  return libcReads()!.sizeOf(fd);
}

function libc(path: string): MapFunctions {
  const opened = functions.open();
  if (opened !== undefined) return opened;
  throw new RecordfsError(
    "unsupported",
    `Cannot map ${path} into memory: it needs ${functions.need}; use read() instead`,
    { path },
  );
}

/** A file's memory map, made when it is first needed. */
export class MappedFile {
  readonly #source: FileSource;
  #map: MemoryMap | undefined;

  /**
   * @param source The file; it must not be closed before the last call.
   * @throws {RecordfsError} With code `unsupported` where it is not on a local disk.
   */
  constructor(source: ByteSource) {
    if (!(source instanceof FileSource)) {
      throw new RecordfsError(
        "unsupported",
        `Cannot map ${source.name} into memory: it is no local file; use read() instead`,
        { path: source.name },
      );
    }
    this.#source = source;
  }

  /**
   * The map, whose file may have been cut since it was made.
   *
   * @throws {RecordfsError} As {@linkcode MemoryMap} does.
   */
  map(): MemoryMap {
    this.#forgetGone();
    return this.#map ??= new MemoryMap(this.#source);
  }

  /**
   * All bytes of the file.
   *
   * @throws {FormatError} If it was cut meanwhile, so that touching them would kill the process.
   * @throws {RecordfsError} As {@linkcode MemoryMap} does.
   */
  bytes(): Uint8Array<ArrayBuffer> {
    const map = this.map();
    if (this.#source.size > 0) map.checkSize();
    return map.bytes;
  }

  /** Lets go of the map: it goes away with its last view. */
  close(): void {
    this.#forgetGone();
    this.#map = undefined;
  }

  /** A map whose bytes were transferred to another thread stays for good: they may be in use there. */
  #forgetGone(): void {
    if (this.#map?.isGone !== true) return;
    this.#map.keepForever();
    this.#map = undefined;
  }
}
