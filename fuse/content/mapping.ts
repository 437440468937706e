import { RecordfsError } from "../../src/base/errors.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { mapShared, unmap } from "../../src/io/read/memory_map.ts";
import type { KnownFile } from "../../src/io/storage/changed_file.ts";
import {
  isMade,
  type MadeSource,
  originOf,
} from "../../src/io/storage/made_source.ts";
import { MemorySource } from "../../src/io/storage/memory_source.ts";
import { duplicate } from "../server/duplicate.ts";
import { addressOf, libc } from "../libc.ts";
import { MountError } from "../mounting/mount_error.ts";
import { type FileToServe, newFileMemory } from "./served_file.ts";

/** A source mapped into this process's address space, as sent to the serving threads. */
export interface MappedSource {
  readonly name: string;
  /** Address of its first byte; meaningless if `size` is 0. */
  readonly address: number;
  /** Number of bytes that may be sent from `address`. */
  readonly size: number;
  readonly file?: FileToServe | undefined;
  readonly remote?: RemoteBlocks | undefined;
  /** A source whose bytes are made on read: each thread opens it itself. */
  readonly reopened?: KnownFile | undefined;
}

/** Cached blocks of a remote object. */
export interface RemoteBlocks {
  /** Number of the object in the fetch thread. */
  readonly object: number;
  /** One of `Known` for each block that may be in the map; `undefined` without a map. */
  readonly known: Uint8Array<SharedArrayBuffer> | undefined;
  /** Counter of reads that were answered from the map. */
  readonly hits: Uint32Array<SharedArrayBuffer> | undefined;
}

/** Remote sources, with the cache file of their blocks; `map` is `undefined` if no file has them. */
export type MapsOfRemote = ReadonlyMap<
  ByteSource,
  { readonly object: number; readonly map: BlockMap | undefined }
>;

/** Number of files kept open. Reading through a descriptor is faster when checksums are verified. */
const MOST_KEPT_OPEN = 64;

/**
 * Memory maps of a tree's sources, from which replies are written directly. Only some files are kept
 * open, so that the descriptor limit does not bound the number of mapped files.
 */
export class Mapping implements Disposable {
  readonly sources: readonly MappedSource[];
  readonly #mapped: readonly MappedSource[];
  /** References that keep memory alive which is known elsewhere only by its address. */
  readonly held: readonly Uint8Array[];
  #gone = false;

  private constructor(
    sources: readonly MappedSource[],
    mapped: readonly MappedSource[],
    held: readonly Uint8Array[],
  ) {
    this.sources = sources;
    this.#mapped = mapped;
    this.held = held;
  }

  /** @throws {MountError} If a source is neither local nor in `remote`, or a file is not the one that was opened. */
  static of(
    sources: readonly ByteSource[],
    remote: MapsOfRemote = new Map(),
  ): Mapping {
    const described: MappedSource[] = [];
    const mapped: MappedSource[] = [];
    const held: Uint8Array[] = [];
    try {
      for (const source of sources) {
        const fetched = remote.get(source);
        if (fetched !== undefined) {
          const blocks = mapBlocks(source, fetched);
          described.push(blocks);
          if (blocks.address > 0) mapped.push(blocks);
        } else if (source instanceof FileSource) {
          const file = mapFile(source, mapped.length < MOST_KEPT_OPEN);
          described.push(file);
          if (file.size > 0) mapped.push(file);
        } else if (source instanceof MemorySource) {
          held.push(source.bytes);
          described.push(describeMemory(source));
        } else if (isMade(source)) {
          described.push(describeMade(source));
        } else {
          throw needsLocal(source);
        }
      }
    } catch (error) {
      releaseAll(mapped);
      throw error;
    }
    return new Mapping(described, mapped, held);
  }

  /** Unmaps everything. No thread may be serving from it any more. */
  [Symbol.dispose](): void {
    if (this.#gone) return;
    this.#gone = true;
    releaseAll(this.#mapped);
  }
}

/** Builds the error for a source that is neither on a disk, nor in memory, nor on a server. */
export function needsLocal({ name }: ByteSource): MountError {
  return new MountError(
    "needs-local",
    `Cannot mount ${name}: its storage can be read only by this thread. Copy it to a disk or a server first`,
    { path: name },
  );
}

/**
 * Maps a file.
 *
 * @param keepOpen Whether to keep a descriptor as well, which {@linkcode releaseFile} closes.
 * @throws {MountError} If mapping fails, or the file is not the one that was opened.
 */
export function mapFile(source: FileSource, keepOpen: boolean): MappedSource {
  const { path, size } = source;
  if (size === 0) return { name: path, address: 0, size };
  try {
    const address = Number(mapShared(source).address);
    const fd = keepOpen ? Math.max(source.useDescriptor(duplicate), -1) : -1;
    const memory = newFileMemory(path, fd, source);
    const { mayGrow, guarded: guard } = source;
    const file = { path, fd, mayGrow, memory, guard };
    return { name: path, address, size, file };
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    const { code, cause, expected, actual } = error;
    const facts = { path, cause: error, expected, actual };
    if (code === "changed") {
      throw new MountError(
        code,
        `Cannot mount ${path}: it was replaced or changed after it was opened. Try again`,
        facts,
      );
    }
    const reason = cause instanceof Error ? cause.message : error.message;
    throw new MountError(
      "refused",
      `Cannot mount ${path}: mapping it failed: ${reason}`,
      facts,
    );
  }
}

/** Maps the cache file of a remote object. Throws if it was removed or replaced. */
export function mapBlocks(
  { name, size }: ByteSource,
  { object, map }: NonNullable<ReturnType<MapsOfRemote["get"]>>,
): MappedSource {
  if (map === undefined || size === 0) {
    return {
      name,
      address: 0,
      size,
      remote: { object, known: undefined, hits: undefined },
    };
  }
  const { path, known, hits } = map;
  // Fetched blocks are written to it.
  const file = runSync(FileSource.open(path, { mayGrow: true }));
  try {
    const { dev, ino } = file.identity;
    if (dev === map.device && ino === map.inode && file.size === size) {
      const address = Number(mapShared(file).address);
      return { name, address, size, remote: { object, known, hits } };
    }
  } finally {
    file.close();
  }
  throw new MountError(
    "changed",
    `Cannot mount ${name}: its cache file, ${path}, was removed or replaced meanwhile. Try again`,
    { path },
  );
}

function describeMemory({ name, bytes }: MemorySource): MappedSource {
  // Asking for the buffer moves an array out of V8's moving heap into fixed memory.
  const memory = new Uint8Array(
    bytes.buffer as ArrayBuffer,
    bytes.byteOffset,
    bytes.length,
  );
  const address = bytes.length === 0 ? 0 : addressOf(memory);
  return { name, address, size: bytes.length };
}

/** Describes a source that is not mapped. A change of the local file that it is made from is detected. */
function describeMade(source: MadeSource): MappedSource {
  const { name, size, mtime } = source;
  const reopened = { path: name, size, mtime };
  const origin = originOf(source);
  const file = origin instanceof FileSource
    ? {
      path: origin.path,
      fd: -1,
      mayGrow: false,
      memory: newFileMemory(origin.path, -1, origin),
    }
    : undefined;
  return { name, address: 0, size, file, reopened };
}

/** Unmaps what {@linkcode mapFile} mapped, and closes its descriptor. */
export function releaseFile(
  { address, size, file }: Omit<MappedSource, "file"> & {
    readonly file?: { readonly fd: number } | undefined;
  },
): void {
  if (address === 0) return; // empty, or not in a file
  unmap({ address: BigInt(address), size });
  if (file !== undefined && file.fd >= 0) libc().close(file.fd);
}

function releaseAll(sources: readonly MappedSource[]): void {
  for (const source of sources) releaseFile(source);
}
