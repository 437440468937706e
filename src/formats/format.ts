import type { ConversionSource } from "../convert/from/source.ts";
import type { ConversionTarget, TargetName } from "../convert/to/target.ts";
import type { Dataset } from "../data/dataset.ts";
import type { FormatErrorCode } from "../base/errors.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";
import type { Storage } from "../io/storage/storage.ts";
import type {
  CheckOptions,
  CheckReport,
  Container,
  ContainerInfo,
  ContainerOptions,
  CountedSamples,
  Probe,
  ServedContainer,
} from "../tree/format.ts";
import type { SampleListing } from "../tree/samples/sample_listing.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";

/** Another way to take a format's containers, for those who name it. */
export interface FormatVariant {
  /** What the `format` option calls it. */
  readonly name: string;
  /** One line for help texts. */
  readonly description: string;
}

/** Why a directory is not of a format that it looks like. */
export interface Nearly {
  /** What kind of error it is. */
  readonly code: FormatErrorCode;
  /** What follows the directory's path, with the way out, as a sentence without its end. */
  readonly why: string;
}

/** What tells a format's containers from others, and loads the rest of it: a mount answers sooner so. */
export interface FormatEntry extends FormatVariant {
  /** Other ways to take its containers. */
  readonly variants?: readonly FormatVariant[];
  /** How names of its files end, as in `.tar`. */
  readonly suffixes: readonly string[];
  /** Whether each container is one file, and a directory of such is none. */
  readonly areFiles?: boolean;
  /** Whether the content of a location is of this format. */
  detect(probe: Probe): Steps<boolean>;
  /**
   * What of this format a directory holds that is of no other, such as `GulpIO chunks (data_0.gulp)`;
   * asked where `detect` has said yes.
   *
   * @param names Sorted names in the directory.
   */
  evidence?(names: readonly string[]): string | undefined;
  /**
   * What keeps a directory that no format takes from being of this one.
   *
   * @param names Sorted names in the directory.
   */
  nearly?(names: readonly string[]): Nearly | undefined;
  /**
   * Whether a location that no file or directory lies at stands for several of this format, such as
   * `train-{0..9}.data`.
   */
  isPattern?(path: string): boolean;
  /**
   * Counts the samples of a container, with those that it leaves out, since they are damaged; `undefined` where
   * they are its files, as they are without this.
   */
  countSamples?(info: ContainerInfo): CountedSamples | undefined;
  /**
   * The variant among {@linkcode FormatVariant} that has samples with labels, to name where samples would be
   * files.
   */
  readonly labelled?: string;
  /** Whether samples of a container are videos, of which a loader may ask for some frames. */
  hasFrames?(info: ContainerInfo): boolean;
  /**
   * Whether a directory, although it might be one of its containers, is to be converted as what its files are:
   * they were extracted from one.
   */
  isExtracted?(
    names: readonly string[],
    namesIn: Probe["namesIn"],
  ): Steps<boolean>;
  /** What containers can be converted to. */
  readonly targets?: readonly TargetName[];
  /** Loads what opens its containers. */
  load(): Promise<Format>;
  /**
   * Opens a container for other threads to serve, as soon as it can be served at all. This thread
   * looks nothing up in its tree before `complete` has ended. Without it, `open` serves.
   */
  openToServe?(
    path: string,
    options: ContainerOptions,
  ): Promise<ServedContainer>;
}

/** How a container is opened as a dataset. */
export interface FormatDatasetOptions extends ContainerOptions {
  /** How many frames of each video; all, unless given. */
  readonly frames?: number | undefined;
}

/** A container format: what a new format has to provide. */
export interface Format {
  /**
   * Opens a container as a tree.
   *
   * @param path Where it lies in `options.storage`.
   */
  open(path: string, options: ContainerOptions): Steps<Container>;
  /** Finds the files that a pattern stands for, in their order: where {@linkcode FormatEntry.isPattern} takes it. */
  patternPaths?(pattern: string, storage: Storage): Steps<readonly string[]>;
  /** Checks every checksum of a container; without it, all files are read, which compares those that have one. */
  check?(path: string, options: CheckOptions): Promise<CheckReport>;
  /**
   * Lists where the samples of a container lie, also where its tables are damaged. Without it, the samples that `open`
   * gives are listed, where they say it.
   */
  listSamples?(
    path: string,
    options: Pick<ContainerOptions, "onWarning" | "storage"> & WaitOptions,
  ): Promise<SampleListing>;
  /**
   * Opens a container as a dataset of its own, for samples that may be read in part, as videos by some of their frames.
   * Without it, or where it returns `undefined`, the dataset is made of the samples that `open` gives, or of the files.
   *
   * @param info What opening the container has told.
   */
  openDataset?(
    path: string,
    info: ContainerInfo,
    options: FormatDatasetOptions,
  ): Promise<Dataset<unknown> | undefined>;
  /**
   * Says what of a container can be converted to others; without it, its files.
   *
   * @param container It closes with the source. Its location is of `options.storage`.
   */
  openSource?(
    container: VirtualFs,
    options: WaitOptions & Pick<ContainerOptions, "onWarning" | "storage">,
  ): Promise<ConversionSource | undefined>;
  /** What writes a target of this name among {@linkcode FormatEntry.targets}. */
  target?(name: string): Promise<ConversionTarget>;
  /**
   * Reads the labels of a container's samples, in the order of their indices; `undefined` where they have none, as
   * without this. Files have labels all the same.
   *
   * @param label A key of what is known of each sample.
   * @throws {RecordfsError} With code `no-label` if the samples have no such label.
   */
  readLabels?(
    container: VirtualFs,
    label: string,
    signal: AbortSignal | undefined,
  ): Promise<AsyncIterable<string> | undefined>;
}
