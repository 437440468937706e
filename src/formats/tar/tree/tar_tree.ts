import type { FormatError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { ArchiveNotes } from "../../../tree/archive/archive_notes.ts";
import { ArchiveTree } from "../../../tree/archive/archive_tree.ts";
import { MemberSources } from "../../../tree/archive/member_sources.ts";
import { PiecedFile } from "../../../tree/archive/pieced_file.ts";
import {
  reopenArchive,
  shareArchive,
  type SharedArchive,
} from "../../../tree/archive/shared_archive.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import { JoinedSources } from "../../../tree/joined_sources.ts";
import { indexAmong } from "../../../tree/shared_numbers.ts";
import {
  type Extent,
  type NodeId,
  placeRange,
  type SampleNodes,
  type SampleRun,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { Fault, faultError } from "../read/faults.ts";
import { Heads, type IndexOrigin } from "../read/heads.ts";
import { keyOfPath } from "../read/sample_keys.ts";
import type { TarColumns, TarIndex } from "../read/tar_columns.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";

/** Data of a tar, shared by all threads. */
export interface TarFacts {
  readonly columns: TarColumns;
  /** Modification time in milliseconds since 1970. */
  readonly mtime: number;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Origin of the tables, if it is not the tar itself. */
  readonly origin: IndexOrigin | undefined;
  /** Whether samples are WebDataset's instead of files. */
  readonly isGrouped: boolean;
}

/** Data from which another thread recreates a tree. */
interface Seed {
  readonly facts: TarFacts;
  /** The tar, if the tree itself reads from it. */
  readonly archive: SharedArchive | undefined;
}

export interface OpenedTar {
  readonly archive: ByteSource;
  readonly storage: Storage;
}

/** Parts that are not served as they are. */
export type OddParts = Pick<TarIndex, "skipped" | "damage">;

/** Tar as the files that it would extract to; their contents are ranges of it. */
export class TarTree extends ArchiveTree<TarColumns> {
  readonly sources: Tree["sources"];
  readonly facts: TarFacts;
  readonly samples?: () => SampleNodes;
  readonly #opened: OpenedTar | undefined;
  readonly #odd: OddParts | undefined;
  readonly #heads: Heads | undefined;

  /**
   * @param opened Omitted in other threads if the tree itself reads nothing from the tar.
   * @param isOwner Whether the tar is one of the tree's sources; otherwise the sources come from elsewhere.
   */
  constructor(
    facts: TarFacts,
    opened: OpenedTar | undefined,
    { odd, isOwner = true }: {
      readonly odd?: OddParts;
      readonly isOwner?: boolean;
    } = {},
  ) {
    const { columns, mtime, origin } = facts;
    super(columns, mtime);
    this.facts = facts;
    this.#odd = odd;
    this.#opened = opened;
    const nameOf = (record: number) => this.pathOf(record);
    const own = isOwner && opened !== undefined ? [opened.archive] : [];
    this.sources = opened === undefined || columns.holes.records.length === 0
      ? own
      : new JoinedSources(1, own, [
        sparseFiles(opened, columns, nameOf),
      ]);
    if (opened !== undefined && origin !== undefined) {
      this.#heads = new Heads(opened.archive, columns, origin, nameOf);
    }
    // The method's presence indicates samples of several files.
    if (facts.isGrouped) {
      this.samples = () => ({
        areDirectories: false,
        runs: sampleRuns(columns, this.names),
      });
    }
  }

  /** Parts of the tar that are not served as they are; empty in other threads. */
  get notes(): readonly ArchiveNotes[] {
    return this.#odd === undefined
      ? []
      : this.notesOf(this.facts.path, this.#odd);
  }

  /**
   * Returns the key of a sample: the common part of its files' names, up to the first dot of the last part. The
   * directory is spelled as in the tar, such as `./p/0`.
   */
  keyOf(sample: number): string {
    const { columns } = this;
    const { nodes, sampleRecords, sampleStarts, spelledDirectories } = columns;
    const node = nodes[sampleRecords[sampleStarts[sample]!]!]!;
    const number = columns.sampleDirectories[sample] ?? 0;
    if (number === 0) return keyOfPath(this.pathTo(node));
    const start = spelledDirectories[2 * number - 2]!;
    const end = spelledDirectories[2 * number - 1]!;
    const name = new Uint8Array(LONGEST_NAME);
    const length = this.nameOf(node, name);
    return decodeName(columns.names.names, start, end) +
      keyOfPath(decodeName(name, 0, length));
  }

  share(): TreeHandle {
    const { facts } = this;
    const isRead = facts.origin !== undefined ||
      facts.columns.holes.records.length > 0;
    const archive = isRead && this.#opened !== undefined
      ? shareArchive(this.#opened.archive, this.#opened.storage)
      : undefined;
    const data: Seed = { facts, archive };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#opened?.archive.close();
  }

  override faultOf(record: number): FormatError {
    return faultError(this.facts, this.pathOf(record), record);
  }

  protected override sizeOf(record: number): number {
    const path = this.linkLength(record);
    return path >= 0 ? path : this.columns.sizes[record]!;
  }

  /**
   * Returns the location of a record's content.
   *
   * @throws {NotLoaded} If the header before it must be fetched.
   * @throws {FormatError} If it is unreadable.
   */
  protected locateRecord(record: number, into: Extent): void {
    const { offsets, sizes, faults, holes } = this.columns;
    if (faults[record] !== Fault.NONE) throw this.faultOf(record);
    this.#heads?.require(record);
    placeRange(0, offsets[record]!, sizes[record]!, into);
    const sparse = indexAmong(holes.records, record);
    if (sparse < 0) return;
    into.source = 1 + sparse;
    into.offset = 0;
  }

  protected linkLength(record: number): number {
    const size = this.columns.sizes[record];
    return size !== undefined && size < 0 ? -1 - size : -1;
  }

  protected linkStart(record: number): number {
    return this.columns.offsets[record]!;
  }
}

/** Recreates a shared tree in another thread, over the same tables. Throws if the tar has changed. */
export async function reopenTree(data: unknown): Promise<TarTree> {
  const { facts, archive } = data as Seed;
  const opened = archive && await reopenArchive(archive);
  return new TarTree(facts, opened, { isOwner: false });
}

/** Yields the samples as runs of adjacent nodes of a directory; most tars are a single run. */
function* sampleRuns(
  { nodes, sampleRecords, sampleStarts }: TarColumns,
  names: NameTable,
): Generator<SampleRun> {
  let run = { first: 0, stride: 0, width: 0, count: 0 };
  let parent: NodeId = 0;
  for (let sample = 0; sample + 1 < sampleStarts.length; sample++) {
    const [start, end] = [sampleStarts[sample]!, sampleStarts[sample + 1]!];
    const first = nodes[sampleRecords[start]!]!;
    const width = end - start;
    const directory = names.parent(first);
    if (directory !== parent) {
      if (run.count > 0) yield run;
      run = { first: 0, stride: 0, width: 0, count: 0 };
      parent = directory;
    }
    if (run.count === 1 && run.width === width && first > run.first) {
      run.stride = first - run.first;
    }
    const goesOn = run.count > 0 && run.width === width &&
      run.stride >= width && first === run.first + run.count * run.stride;
    if (goesOn) run.count++;
    else {
      if (run.count > 0) yield run;
      run = { first, stride: width, width, count: 1 };
    }
  }
  if (run.count > 0) yield run;
}

/** Lists a tar's sparse files by record: each is a source whose holes read as zeros. */
function sparseFiles(
  tar: OpenedTar,
  { holes, sizes }: TarColumns,
  nameOf: (record: number) => string,
): MemberSources {
  const { records, starts, offsets, lengths, places } = holes;
  return new MemberSources(tar, (index) => {
    const record = records[index];
    if (record === undefined) return undefined;
    const [from, to] = [starts[index]!, starts[index + 1]!];
    return new PiecedFile(tar.archive, () => nameOf(record), sizes[record]!, {
      offsets: offsets.subarray(from, to),
      lengths: lengths.subarray(from, to),
      places: places.subarray(from, to),
    });
  });
}
