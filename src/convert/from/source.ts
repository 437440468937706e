import type { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import type { ContainerInfo, ContainerOptions } from "../../tree/format.ts";
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
 * What is to be converted, as targets see it: files always, and what else it has. What a target of the same
 * format takes besides, that format's own class has.
 */
export class ConversionSource {
  /** Where it lies. */
  readonly path: string;
  /** What it is, for people. */
  readonly what: string;
  /** What its files change beside that they are files, noted of a folder, which has the order of names. */
  readonly folderChange: string | undefined = undefined;
  /** What becomes of its checksums in a target without any. */
  readonly checksumChange: string | undefined = undefined;
  /** Whether the names of its files are but the numbers of its records. */
  readonly isNumbered: boolean = false;
  /** Whether it is a folder on the disk. */
  readonly isFolder: boolean = false;
  /** Whether its samples are files by their names, which an archive takes as they are. */
  readonly samplesAreFiles: boolean = true;

  #folder: FolderFiles | undefined;

  /** Makes one that is files on the disk; classes that extend it are others. */
  constructor(path: string, what: string) {
    this.path = path;
    this.what = what;
  }

  /** How it looks as a file tree. */
  files(): Promise<FileTree> {
    return Promise.resolve(this.#folder ??= new FolderFiles(this.path));
  }

  /** Notes what of it files show, and what not. */
  noteFiles(notes: PlanNotes): void {
    notes.kept.push("names, directories and contents of files");
  }

  /** @ignore Its samples with their fields; `undefined` where it has none, or these are bytes. */
  // deno-lint-ignore require-await -- those of containers have to be waited for
  async samples(
    _notes: PlanNotes,
    _options: WaitOptions,
  ): Promise<SampleRows | undefined> {
    return undefined;
  }

  /**
   * Its contents without names, any one by its index; `undefined` where they only come one after the other, as
   * files. What is lost by that is noted.
   *
   * @throws {ConversionError} If it has none.
   */
  records(_notes: PlanNotes, _options: WaitOptions): RecordList | undefined {
    return undefined;
  }

  /** Notes what of it contents of files do not have, besides their names. */
  noteContents(_notes: PlanNotes): void {}

  /**
   * Its videos, where it has some; what of it they are is noted.
   *
   * @throws {ConversionError} If it could have some, but has not.
   */
  videos(
    _notes: PlanNotes,
    _options: WaitOptions,
  ): VideoSource | undefined {
    return undefined;
  }

  /** What of it no conversion takes along: a sentence for each member, then the number of those not listed. */
  get losses(): readonly string[] {
    return [];
  }

  /**
   * Has files that cannot be read left out.
   *
   * @param _onUnreadable Called once with the error of each.
   */
  leaveOutUnreadable(_onUnreadable: (error: FormatError) => void): void {}

  /** Reads all files to find those that are damaged, and has them left out from now on. */
  async findUnreadable(_options: WaitOptions): Promise<void> {}

  /** Whether its values have types of their own. */
  get isTyped(): boolean {
    return false;
  }

  /** Closes what was opened for it. */
  close(): void {
    this.#folder?.[Symbol.dispose]();
  }
}

/** A container: its files, as it shows them. */
export class ContainerSource extends ConversionSource {
  /** The container, as it shows its files. */
  protected readonly container: VirtualFs;

  /** Whether its samples are files by their names. */
  override readonly samplesAreFiles: boolean;

  #unreadable: UnreadableFiles | undefined;

  /** Takes an opened container, which it closes. */
  constructor(container: VirtualFs, what: string) {
    super(container.location, what);
    this.container = container;
    this.samplesAreFiles = container.samples?.portable === undefined;
  }

  /** What opening the container has told. */
  protected get info(): ContainerInfo {
    return this.container.info;
  }

  /** The files that the container shows. */
  override files(): Promise<FileTree> {
    return containerFiles(this.container, this.#unreadable);
  }

  /** The nodes of files that have been found unreadable. */
  protected get unreadable(): ReadonlySet<NodeId> | undefined {
    return this.#unreadable?.nodes;
  }

  /** Its archives' members that are skipped, or known to be unreadable. */
  override get losses(): readonly string[] {
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

  /** The samples that are converted; all, unless given. */
  protected get sampleIndices(): readonly number[] | undefined {
    return undefined;
  }

  /** Has {@linkcode ContainerSource.files} leave out files that cannot be read. */
  override leaveOutUnreadable(
    onUnreadable: (error: FormatError) => void,
  ): void {
    this.#unreadable = new UnreadableFiles(this.container, onUnreadable);
  }

  /** Reads all files to find those that are damaged. */
  override async findUnreadable({ signal }: WaitOptions): Promise<void> {
    await this.#unreadable?.findAll(signal);
  }

  /** Closes the container. */
  override close(): void {
    this.container.close();
  }
}

/** A container of contents without names. */
export class RecordSource extends ContainerSource {
  /** Names are numbers. */
  override readonly isNumbered = true;
  /** What becomes of its checksums in a target without any. */
  override readonly checksumChange: string | undefined;
  readonly #unit: string;

  /**
   * Takes an opened container, which it closes.
   *
   * @param unit What the contents are called.
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

  /** Its records, any one by its index. */
  override records(_notes: PlanNotes, options: WaitOptions): RecordList {
    return containerRecords(this.container, options, this.unreadable);
  }
}

/** What sources of formats are opened with. */
export type SourceOptions =
  & WaitOptions
  & Pick<ContainerOptions, "onWarning" | "storage">;

/** The bytes of a file beside those of a container, if it is there. */
export async function readIfThere(
  file: string,
  { storage = LOCAL_DISK, signal }: SourceOptions,
): Promise<Uint8Array | undefined> {
  // Asked for first: of a directory that was listed, a server need not be asked again.
  const found = await runAsync(storage.stat(file), signal);
  if (found === undefined) return undefined;
  return await runAsync(readFile(file, storage), signal);
}
