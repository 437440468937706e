import { RecordfsError } from "../../src/base/errors.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { mapShared, unmap } from "../../src/io/read/memory_map.ts";
import { MemorySource } from "../../src/io/storage/memory_source.ts";
import { duplicate } from "../server/duplicate.ts";
import { addressOf, libc } from "../libc.ts";
import { MountError } from "../mounting/mount_error.ts";
import { type FileToServe, newFileMemory } from "./served_file.ts";

/** A source in this process's address space, as a thread that serves a mount is told of it. */
export interface MappedSource {
  /** Name in messages. */
  readonly name: string;
  /** Where its first byte is; meaningless when `size` is 0. */
  readonly address: number;
  /** Bytes that may be sent from there. */
  readonly size: number;
  /** The file that it is a map of. */
  readonly file?: FileToServe | undefined;
  /** Of an object of a server: what of it is there. */
  readonly remote?: RemoteBlocks | undefined;
}

/** What of an object of a server is there. */
export interface RemoteBlocks {
  /** Its number in the thread that fetches it. */
  readonly object: number;
  /** One of `Known` for each block that may be in the map; `undefined` where there is no map. */
  readonly known: Uint8Array<SharedArrayBuffer> | undefined;
  /** Counts reads that are answered from the map. */
  readonly hits: Uint32Array<SharedArrayBuffer> | undefined;
}

/** What the blocks of a source of a server are kept in; `undefined` where no file has them. */
export type MapsOfRemote = ReadonlyMap<
  ByteSource,
  { readonly object: number; readonly map: BlockMap | undefined }
>;

/** So many files are kept open: bytes that are to be compared are read from there, which is quicker. */
const MOST_KEPT_OPEN = 64;

/**
 * The sources of a tree, mapped: replies are written straight from there. Only some files are kept open,
 * so that any number of them can be mapped whatever the descriptor limit.
 */
export class Mapping implements Disposable {
  readonly sources: readonly MappedSource[];
  /** Those that are to be unmapped. */
  readonly #mapped: readonly MappedSource[];
  /** Memory that is only known by its address elsewhere: referring to it here keeps it. */
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

  /**
   * Maps sources.
   *
   * @param remote Where those are kept that come from servers.
   * @throws {MountError} If one is not local, or a file is not the one that was opened.
   */
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

  /** Unmaps everything; no thread may be serving from it any more. */
  [Symbol.dispose](): void {
    if (this.#gone) return;
    this.#gone = true;
    releaseAll(this.#mapped);
  }
}

/** Says that a source can't be mounted which lies neither on a disk, nor in memory, nor on a server. */
export function needsLocal({ name }: ByteSource): MountError {
  return new MountError(
    "needs-local",
    `Cannot mount ${name}: it is of a storage that only this thread can read; copy it to a disk or a server first`,
    { path: name },
  );
}

/**
 * Maps a file.
 *
 * @param keepOpen Whether to keep a descriptor of it as well, for {@linkcode releaseFile} to close.
 * @throws {MountError} If that can't be done, or it is not the one that was opened.
 */
export function mapFile(source: FileSource, keepOpen: boolean): MappedSource {
  const { path, size } = source;
  if (size === 0) return { name: path, address: 0, size };
  try {
    const address = Number(mapShared(source).address);
    const fd = keepOpen ? Math.max(source.useDescriptor(duplicate), -1) : -1;
    const memory = newFileMemory(path, fd, source);
    const file = { path, fd, mayGrow: source.mayGrow, memory };
    return { name: path, address, size, file };
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    const { code, cause, expected, actual } = error;
    const facts = { path, cause: error, expected, actual };
    if (code === "changed") {
      throw new MountError(
        code,
        `Cannot mount ${path}: it was replaced or changed after it was opened; try again`,
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

/**
 * Maps the file that the fetched blocks of an object are in.
 *
 * @throws {MountError} If it is not there any more.
 */
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
  // What is fetched changes it.
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
    `Cannot mount ${name}: the cache's file of it, ${path}, was removed or replaced meanwhile; try again`,
    { path },
  );
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

/** Undoes what {@linkcode mapFile} did. */
export function releaseFile(
  { address, size, file }: Omit<MappedSource, "file"> & {
    readonly file?: { readonly fd: number } | undefined;
  },
): void {
  if (address === 0) return; // it has no bytes, or no file has them
  unmap({ address: BigInt(address), size });
  if (file !== undefined && file.fd >= 0) libc().close(file.fd);
}

function releaseAll(sources: readonly MappedSource[]): void {
  for (const source of sources) releaseFile(source);
}
