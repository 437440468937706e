import type { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import type {
  ContainerInfo,
  ContainerOptions,
  ShownSamples,
} from "../../tree/format.ts";
import type { NodeId } from "../../tree/tree.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { PlanNotes } from "../conversion.ts";
import { containerFiles, type FileTree } from "./file_tree.ts";
import { UnreadableFiles } from "./unreadable_files.ts";
import { FolderFiles } from "./folder_files.ts";
import { containerRecords, type RecordList } from "./record_list.ts";
import { SampleRows } from "../samples/sample_rows.ts";
import type { VideoSource } from "./video_source.ts";

/**
 * Source of a conversion, as targets see it: always files, plus samples, records or videos if it has any. Subclasses of
 * a format add what targets of the same format use.
 */
export class ConversionSource {
  /** Path of the source. */
  readonly path: string;
  /** Description for messages. */
  readonly what: string;
  /** What its files change besides being files, noted for a folder, whose order is that of names. */
  readonly folderChange: string | undefined = undefined;
  /** What becomes of its checksums in a target without any. */
  readonly checksumChange: string | undefined = undefined;
  /** Whether its file names are only record numbers. */
  readonly isNumbered: boolean = false;
  /** Whether it is a folder on disk. */
  readonly isFolder: boolean = false;
  /** Whether its samples are defined by file names, which an archive keeps unchanged. */
  readonly samplesAreFiles: boolean = true;

  #folder: FolderFiles | undefined;

  /** Makes a source of files on disk; subclasses make others. */
  constructor(path: string, what: string) {
    this.path = path;
    this.what = what;
  }

  /** Returns its file tree. */
  files(): Promise<FileTree> {
    return Promise.resolve(this.#folder ??= new FolderFiles(this.path));
  }

  /** Notes what its files represent, and what not. */
  noteFiles(notes: PlanNotes): void {
    notes.kept.push("names, directories and contents of files");
  }

  /** @ignore Returns its samples with fields; `undefined` if it has none, or they are bytes. */
  // deno-lint-ignore require-await -- those of containers have to be waited for
  async samples(
    _notes: PlanNotes,
    _options: WaitOptions,
  ): Promise<SampleRows | undefined> {
    return undefined;
  }

  /**
   * Returns its contents without names, with random access; `undefined` if they are only available sequentially, as
   * files. Notes what is lost thereby.
   *
   * @throws {ConversionError} If it has none.
   */
  records(_notes: PlanNotes, _options: WaitOptions): RecordList | undefined {
    return undefined;
  }

  /** Notes what is lost when only file contents are kept, besides names. */
  noteContents(_notes: PlanNotes): void {}

  /**
   * Returns its videos, if any, and notes what they represent.
   *
   * @throws {ConversionError} If its format allows videos, but it has none.
   */
  videos(
    _notes: PlanNotes,
    _options: WaitOptions,
  ): VideoSource | undefined {
    return undefined;
  }

  /** Samples to convert; `undefined` for all. Its files are theirs already; samples, records and videos must be. */
  get subset(): ShownSamples | undefined {
    return undefined;
  }

  /** What every conversion loses: a sentence per listed member, then the number of unlisted ones. */
  get losses(): readonly string[] {
    return [];
  }

  /**
   * Makes the source skip unreadable files.
   *
   * @param _onUnreadable Called once per file with its error.
   */
  leaveOutUnreadable(_onUnreadable: (error: FormatError) => void): void {}

  /** Reads all files to find damaged ones, which are skipped from then on. */
  async findUnreadable(_options: WaitOptions): Promise<void> {}

  /** Whether its values have types. */
  get isTyped(): boolean {
    return false;
  }

  /** Closes what was opened for it. */
  close(): void {
    this.#folder?.[Symbol.dispose]();
  }
}

/** Source that is a container. */
export class ContainerSource extends ConversionSource {
  /** The opened container. */
  protected readonly container: VirtualFs;

  /** Whether its samples are defined by file names. */
  override readonly samplesAreFiles: boolean;

  #unreadable: UnreadableFiles | undefined;

  /** Wraps an opened container, which closing the source closes. */
  constructor(container: VirtualFs, what: string) {
    super(container.location, what);
    this.container = container;
    this.samplesAreFiles = container.samples?.portable === undefined;
  }

  /** Facts about the container. */
  protected get info(): ContainerInfo {
    return this.container.info;
  }

  /** Returns the files of the container. */
  override files(): Promise<FileTree> {
    return containerFiles(this.container, this.#unreadable);
  }

  /** Nodes of files found unreadable. */
  protected get unreadable(): ReadonlySet<NodeId> | undefined {
    return this.#unreadable?.nodes;
  }

  /** Samples that the container shows; `undefined` for all. */
  override get subset(): ShownSamples | undefined {
    return this.container.subset;
  }

  /**
   * Archive members that are skipped, or known to be unreadable. None of a subset: skipped members are no samples, and
   * unreadable ones may be of other samples; those of the subset are found when they are read.
   */
  override get losses(): readonly string[] {
    if (this.subset !== undefined) return [];
    const { facts, skipped = [], unreadable = [] } = this.info;
    const all = [...skipped, ...unreadable].map(({ message }) => message);
    const more = (facts?.["skipped"] ?? 0) + (facts?.["unreadable"] ?? 0) -
      all.length;
    return more > 0
      ? [...all, `${more} more members are skipped or cannot be read`]
      : all;
  }

  /** @ignore */
  override async samples(
    _notes: PlanNotes,
    { signal }: WaitOptions,
  ): Promise<SampleRows | undefined> {
    const { samples, location } = this.container;
    if (samples?.portable === undefined) return undefined;
    const portable = await runAsync(samples.portable(), signal);
    return new SampleRows(samples, portable, location, this.sampleIndices);
  }

  /** Indices of the samples to convert; `undefined` for all. */
  protected get sampleIndices(): ArrayLike<number> | undefined {
    return this.subset?.indices;
  }

  /** Makes {@linkcode ContainerSource.files} skip unreadable files. */
  override leaveOutUnreadable(
    onUnreadable: (error: FormatError) => void,
  ): void {
    this.#unreadable = new UnreadableFiles(this.container, onUnreadable);
  }

  /** Reads all files to find damaged ones. */
  override async findUnreadable({ signal }: WaitOptions): Promise<void> {
    await this.#unreadable?.findAll(signal);
  }

  /** Closes the container. */
  override close(): void {
    this.container.close();
  }
}

/** Container of contents without names. */
export class RecordSource extends ContainerSource {
  /** Names are numbers. */
  override readonly isNumbered = true;
  /** What becomes of its checksums in a target without any. */
  override readonly checksumChange: string | undefined;
  readonly #unit: string;

  /**
   * Wraps an opened container, which closing the source closes.
   *
   * @param unit Word for the contents.
   * @param checksumChange What becomes of its checksums in a target without any.
   */
  constructor(
    container: VirtualFs,
    what: string,
    unit: string,
    checksumChange?: string,
  ) {
    super(container, what);
    this.#unit = unit;
    this.checksumChange = checksumChange;
  }

  /** Notes that names are numbers. */
  override noteFiles({ kept, changed }: PlanNotes): void {
    kept.push("contents and their order");
    changed.push(`${this.#unit} are files named by their numbers`);
  }

  /** Returns its records, with random access. */
  override records(_notes: PlanNotes, options: WaitOptions): RecordList {
    return containerRecords(this.container, options, this.unreadable);
  }
}

/** Options for opening a format's source. */
export type SourceOptions =
  & WaitOptions
  & Pick<ContainerOptions, "onWarning" | "storage">;

/** Reads a file next to those of a container, if it exists. */
export async function readIfThere(
  file: string,
  { storage = LOCAL_DISK, signal }: SourceOptions,
): Promise<Uint8Array | undefined> {
  // `stat` first: for a directory that was listed, it needs no request to the server.
  const found = await runAsync(storage.stat(file), signal);
  if (found === undefined) return undefined;
  return await runAsync(readFile(file, storage), signal);
}
