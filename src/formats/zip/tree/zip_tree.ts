import {
  DecodedBlocks,
  type DecodedMemory,
} from "../../../io/block_cache/decoded_blocks.ts";
import { loadInner } from "../../../io/compressed/methods.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { RemoteOptions } from "../../../io/remote/remote_options.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { FormatError } from "../../../base/errors.ts";
import {
  type ArchiveNotes,
  type SkippedMembers,
} from "../../../tree/archive/archive_notes.ts";
import {
  reopenArchive,
  shareArchive,
  type SharedArchive,
} from "../../../tree/archive/shared_archive.ts";
import type { MemberSources } from "../../../tree/archive/member_sources.ts";
import { JoinedSources } from "../../../tree/joined_sources.ts";
import { ArchiveTree } from "../../../tree/archive/archive_tree.ts";
import { NotLoaded } from "../../../tree/not_loaded.ts";
import { sharedFloat64 } from "../../../tree/shared_numbers.ts";
import {
  type Extent,
  type NodeId,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { Fault, faultError } from "../read/faults.ts";
import { LocalHeaders } from "../read/local_headers.ts";
import { areStored, isStored, type ZipColumns } from "../read/zip_columns.ts";
import { zipMembers } from "./zip_members.ts";

export interface ZipParts {
  readonly archive: ByteSource;
  readonly storage: Storage;
  readonly columns: ZipColumns;
  /** Per record: start of its content, if known. */
  readonly starts: Float64Array;
  readonly blocks: DecodedBlocks;
  /** Number of the zip among owners of blocks. */
  readonly owner: number;
  /** Where what is known of large members is cached. */
  readonly cache?: RemoteOptions["cache"];
  /** Skipped members; undefined in other threads. */
  readonly skipped?: SkippedMembers;
}

/** Data from which another thread rebuilds a tree. */
interface Seed {
  readonly columns: ZipColumns;
  readonly starts: Float64Array;
  readonly blocks: DecodedMemory;
  readonly owner: number;
  readonly cache: RemoteOptions["cache"];
  readonly archive: SharedArchive;
}

/**
 * A zip as the files that it extracts to. Stored contents are ranges of the zip; others are sources of their own, after
 * it, by record.
 */
export class ZipTree extends ArchiveTree<ZipColumns> {
  readonly sources: Tree["sources"];
  readonly archive: ByteSource;
  readonly locals: LocalHeaders;
  readonly #parts: ZipParts;
  readonly #members: MemberSources | undefined;

  /** @param isOwner Whether its sources are those of this thread; otherwise they come from elsewhere. */
  constructor(parts: ZipParts, isOwner = true) {
    const { archive, columns, starts } = parts;
    super(columns, archive.mtime);
    this.#parts = parts;
    this.archive = archive;
    const nameOf = (record: number) => this.pathOf(record);
    this.locals = new LocalHeaders(archive, columns, starts, nameOf);
    const opened = isOwner ? [archive] : [];
    if (areStored(columns)) this.sources = opened;
    else {
      this.#members = zipMembers({ ...parts, locals: this.locals, nameOf });
      this.sources = new JoinedSources(1, opened, [this.#members]);
    }
  }

  /** Notes on what of the zip is not served unchanged; none in other threads. */
  get notes(): readonly ArchiveNotes[] {
    const { skipped } = this.#parts;
    return skipped === undefined
      ? []
      : this.notesOf(this.archive.name, { skipped });
  }

  protected override sizeOf(record: number): number {
    return this.columns.sizes[record]!;
  }

  /** Locates a record's content; throws NotLoaded if its local header must be waited for, FormatError if unreadable. */
  locateRecord(record: number, into: Extent): void {
    const { columns } = this;
    if (columns.faults[record] !== Fault.NONE) throw this.faultOf(record);
    into.length = columns.sizes[record]!;
    into.checksumKind = "crc32";
    into.checksum = columns.sums[record]!;
    into.bytes = undefined;
    into.offset = 0;
    if (!isStored(columns, record)) into.source = 1 + record;
    else {
      into.source = 0;
      if (into.length > 0) into.offset = this.#startOf(record);
    }
  }

  sampleOf(node: NodeId): number {
    return this.names.record(node);
  }

  override faultOf(record: number): FormatError {
    const name = this.pathOf(record);
    return faultError(this.archive.name, name, this.columns, record);
  }

  protected linkLength(record: number): number {
    return this.linkAt(record) < 0 ? -1 : this.columns.sizes[record]!;
  }

  protected linkStart(record: number): number {
    return this.columns.linkStarts[this.linkAt(record)]!;
  }

  share(): TreeHandle {
    const { archive, storage, columns, starts, blocks, owner, cache } =
      this.#parts;
    const data: Seed = {
      columns,
      starts,
      blocks: blocks.memory,
      owner,
      cache,
      archive: shareArchive(archive, storage),
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#members?.close();
    this.archive.close();
  }

  #startOf(record: number): number {
    const start = this.locals.startNow(record);
    if (start !== undefined) return start;
    this.locals.prefetch(record); // the content will be needed as well
    const { locals } = this;
    throw new NotLoaded(this.archive.name, function* () {
      yield* locals.start(record);
    });
  }
}

export function newStarts({ sizes }: ZipColumns): Float64Array {
  return sharedFloat64(sizes.length);
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export async function reopenTree(data: unknown): Promise<ZipTree> {
  const { columns, starts, blocks, owner, cache, archive } = data as Seed;
  await runAsync(loadInner(["deflate", "zstd"]));
  const parts = {
    ...await reopenArchive(archive),
    columns,
    starts,
    blocks: new DecodedBlocks(blocks),
    owner,
    cache,
  };
  return new ZipTree(parts, false);
}
