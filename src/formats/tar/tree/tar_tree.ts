import type { FormatError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { ArchiveNotes } from "../../../tree/archive/archive_notes.ts";
import { ArchiveTree } from "../../../tree/archive/archive_tree.ts";
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
import { sparseFiles } from "../read/sparse_files.ts";
import { keyOfPath } from "../read/sample_keys.ts";
import type { TarColumns, TarIndex } from "../read/tar_columns.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";

/** What every thread knows of a tar. */
export interface TarFacts {
  readonly columns: TarColumns;
  /** When the tar was modified, in milliseconds since 1970. */
  readonly mtime: number;
  readonly path: string;
  /** Size of the tar in bytes. */
  readonly size: number;
  /** What the tables come from, where that is not the tar itself. */
  readonly origin: IndexOrigin | undefined;
  /** Whether samples are those of WebDataset, and not the files. */
  readonly isGrouped: boolean;
}

/** What another thread rebuilds a tree from. */
interface Seed {
  readonly facts: TarFacts;
  /** The tar, where the tree itself reads some of it. */
  readonly archive: SharedArchive | undefined;
}

/** A tar, as a thread has opened it. */
export interface OpenedTar {
  readonly archive: ByteSource;
  readonly storage: Storage;
}

/** What opening a tar has told of what is not served as it is. */
export type OddParts = Pick<TarIndex, "skipped" | "damage">;

/** A tar as the files that it would be extracted to; their contents are parts of it. */
export class TarTree extends ArchiveTree<TarColumns> {
  readonly sources: Tree["sources"];
  readonly facts: TarFacts;
  readonly samples?: () => SampleNodes;
  readonly #opened: OpenedTar | undefined;
  readonly #odd: OddParts | undefined;
  readonly #heads: Heads | undefined;

  /**
   * @param opened Left out in other threads, where the tree reads nothing of the tar itself.
   * @param isOwner Whether the tar is among its sources; otherwise they come from elsewhere.
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
    // Whether there is such a method tells whether there are samples of several files.
    if (facts.isGrouped) {
      this.samples = () => ({
        areDirectories: false,
        runs: sampleRuns(columns, this.names),
      });
    }
  }

  /** What of the tar is not served as it is; none in other threads. */
  get notes(): readonly ArchiveNotes[] {
    return this.#odd === undefined
      ? []
      : this.notesOf(this.facts.path, this.#odd);
  }

  /**
   * The key of a sample: what the names of its files in the tar have in common, up to the first dot of the last one.
   * Its directory is spelled as the tar has it, as in `./p/0`.
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
   * Where the content of a record is.
   *
   * @throws {NotLoaded} If the header before it has to be waited for.
   * @throws {FormatError} If it cannot be read.
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

/**
 * Rebuilds a shared tree in another thread, over the same tables.
 *
 * @throws {FormatError} If the tar is not the same any more.
 */
export async function reopenTree(data: unknown): Promise<TarTree> {
  const { facts, archive } = data as Seed;
  const opened = archive && await reopenArchive(archive);
  return new TarTree(facts, opened, { isOwner: false });
}

/**
 * The samples of a tar as runs of nodes in one directory: each is as many neighbours as it has files, so that most
 * tars are one run.
 */
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
