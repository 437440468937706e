import type { ConversionSource } from "../convert/from/source.ts";
import type { ConversionTarget, TargetName } from "../convert/to/target.ts";
import type { Dataset } from "../data/dataset.ts";
import type { FormatError, RecordfsError } from "../base/errors.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { ByteSource, WaitOptions } from "../io/storage/byte_source.ts";
import type { Storage } from "../io/storage/storage.ts";
import type {
  CheckOptions,
  CheckReport,
  Container,
  ContainerInfo,
  ContainerOptions,
  CountedSamples,
  DeferredContainer,
  Probe,
} from "../tree/format.ts";
import type { SampleListing } from "../tree/samples/sample_listing.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";

/** Descriptor of a format: detects its containers, and loads the implementation on demand for fast mounts. */
export interface FormatDescriptor {
  /** Value of the `format` option that selects it. */
  readonly name: string;
  /** One-line description for help texts. */
  readonly description: string;
  /** Other ways to open its containers, selected by name. */
  readonly variants?: readonly Pick<FormatDescriptor, "name" | "description">[];
  /** Suffixes of its file names, such as `.tar`. */
  readonly suffixes: readonly string[];
  /** Whether containers are single files: a directory that holds such a file among others is not a container. */
  readonly areFiles?: boolean;
  /**
   * Whether its files may begin with any bytes, so that one with its suffix is never taken for a compressed file. Defaults
   * to `false`.
   */
  readonly hasNoMagic?: boolean;
  /** Suffixes of files that the option `nested` shows as directories unless it lists others. Defaults to none. */
  readonly nestedSuffixes?: readonly string[];
  /** Whether its containers hold files of any name, which may be containers themselves. Defaults to `false`. */
  readonly isArchive?: boolean;
  /**
   * Whether a directory among others is one container of this format, told by names alone. Without this method, none is.
   *
   * @param namesIn Returns the names in a directory below, or `undefined` if it is none.
   */
  isDataset?(
    names: readonly string[],
    namesIn: Probe["namesIn"],
  ): Steps<boolean>;
  /**
   * Whether its files may be compressed by zlib as a whole. That has no magic, so `detect` is given what the first bytes
   * decompress to, and must tell these from others. Defaults to `false`.
   */
  readonly isZlibbed?: boolean;
  /** Whether the content of a location is of this format. */
  detect(probe: Probe): Steps<boolean>;
  /**
   * Returns what a directory holds that only this format has, such as `GulpIO chunks (data_0.gulp)`. Called if `detect`
   * returned `true`.
   *
   * @param names Sorted names in the directory.
   */
  evidence?(names: readonly string[]): string | undefined;
  /**
   * Returns why a directory that no format recognises is not of this one.
   *
   * @param names Sorted names in the directory.
   */
  nearly?(names: readonly string[]): {
    /** Code of the error. */
    readonly code: FormatError["code"];
    /** Rest of the message after the directory's path, including the remedy, without a final period. */
    readonly why: string;
    /** Options that it names. */
    readonly namedOptions?: RecordfsError["namedOptions"];
  } | undefined;
  /** Whether a path that does not exist is a pattern for several containers, such as `train-{0..9}.data`. */
  isPattern?(path: string): boolean;
  /**
   * @ignore Counts the samples of a container, including skipped damaged ones. Returns `undefined` (the default without this
   * method) if its samples are its files.
   */
  countSamples?(info: ContainerInfo): CountedSamples | undefined;
  /** Name of the variant whose samples have labels. Messages suggest it where samples would be files. */
  readonly labelled?: string;
  /** Whether the samples of a container are videos, of which a loader may request some frames. */
  hasFrames?(info: ContainerInfo): boolean;
  /** Whether a directory that may be a container holds files extracted from one, to be converted as plain files. */
  isExtracted?(
    names: readonly string[],
    namesIn: Probe["namesIn"],
  ): Steps<boolean>;
  /** @ignore Targets that other containers can be converted to. */
  readonly targets?: readonly TargetName[];
  /** Loads the implementation, which opens containers. */
  load(): Promise<Format>;
  /**
   * @ignore Opens a container for other threads to serve, as early as possible. This thread must not look up anything in the
   * tree before `complete` has ended. Without this method, `open` is used.
   */
  openDeferred?(
    path: string,
    options: ContainerOptions,
  ): Promise<DeferredContainer>;
}

/** Why a directory that resembles a format is not of it. */
export type Nearly = NonNullable<
  ReturnType<NonNullable<FormatDescriptor["nearly"]>>
>;

/** Indexes of NVIDIA DALI. */
export interface DaliIndex {
  /** Returns the path of a file's index; `undefined` if the name of the file has another suffix. */
  pathOf(path: string): string | undefined;
  /** Makes the index of a file, as DALI's own tool does. */
  encode(source: ByteSource): Steps<Uint8Array[]>;
}

/** Implementation of a container format. */
export interface Format {
  /**
   * Opens a container as a tree.
   *
   * @param path Path in `options.storage`.
   */
  open(path: string, options: ContainerOptions): Steps<Container>;
  /** Returns the files of a pattern, in order. Called if {@linkcode FormatDescriptor.isPattern} accepts the pattern. */
  patternPaths?(pattern: string, storage: Storage): Steps<readonly string[]>;
  /** Verifies every checksum of a container. By default, all files are read, which verifies those with checksums. */
  check?(path: string, options: CheckOptions): Promise<CheckReport>;
  /**
   * @ignore Lists where the samples of a container lie, also if its tables are damaged. By default, lists the samples of `open`
   * that are stored as one piece each.
   */
  listSamples?(
    path: string,
    options: Pick<ContainerOptions, "onWarning" | "storage"> & WaitOptions,
  ): Promise<SampleListing>;
  /**
   * Opens a container as a dataset of its own, for samples that can be read in part, such as some frames of a video.
   * Without this method, or if it returns `undefined`, the dataset consists of the samples of `open`, or of the files.
   *
   * @param info Result of opening the container.
   */
  openDataset?(
    path: string,
    info: ContainerInfo,
    options: ContainerOptions & {
      /** Number of frames of each video. Defaults to all. */
      readonly frames?: number | undefined;
    },
  ): Promise<Dataset<unknown> | undefined>;
  /** @ignore Returns how the indexes are written that NVIDIA DALI reads next to a container's files. */
  daliIndex?(): Promise<DaliIndex>;
  /**
   * @ignore Returns what of a container can be converted to other formats. Without this method, its files are converted.
   *
   * @param container Closed with the source. Its location is in `options.storage`.
   */
  openSource?(
    container: VirtualFs,
    options: WaitOptions & Pick<ContainerOptions, "onWarning" | "storage">,
  ): Promise<ConversionSource | undefined>;
  /** @ignore Returns the writer of the named target, one of {@linkcode FormatDescriptor.targets}. */
  target?(name: string): Promise<ConversionTarget>;
  /**
   * Reads the labels of a container's samples, in index order. Returns `undefined` if the samples have no labels, as
   * for a format without this method. Files have labels in any case.
   *
   * @param label Key in the metadata of each sample.
   * @throws {RecordfsError} With code `no-label` if the samples have no such label.
   */
  readLabels?(
    container: VirtualFs,
    label: string,
    signal: AbortSignal | undefined,
  ): Promise<AsyncIterable<string> | undefined>;
}
