import type { FormatError } from "../base/errors.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import type { Storage } from "../io/storage/storage.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { Samples } from "./samples/samples.ts";
import type { NodeId, Tree } from "./tree.ts";

/** Options for opening a container of any format. */
export interface ContainerOptions {
  /** Format, or variant of a format, to use instead of detecting it from the content. */
  readonly format?: string | undefined;
  /** Whether to verify checksums: of metadata on opening, of content when a file is read whole. Defaults to `true`. */
  readonly checkData?: boolean | undefined;
  /** Suffix for names that are only numbers, with or without its dot: `jpg`. */
  readonly ext?: string | undefined;
  /**
   * Whether values of known types also appear as readable files: `foo.json`, `foo.npy` or `foo.txt` next to `foo`; or
   * messages as their fields. Only some formats support it. No such file appears if another key has its name. Defaults
   * to `false`.
   */
  readonly decoded?: boolean | undefined;
  /**
   * Whether samples that are one file, or files next to each other, appear as directories with a file for each value
   * (sample view, for viewers). No effect in formats where samples already are such directories. Defaults to `false`.
   */
  readonly sampleView?: boolean | undefined;
  /** Called with readable oddities. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Storage of the container. Defaults to the local disk, or the server that its URL names. */
  readonly storage?: Storage | undefined;
  /** Options for servers, if the location is a URL. */
  readonly remote?: RemoteOptions | undefined;
  /**
   * Most bytes that each byte of a compressed file may expand to. Memory and disk are bounded in any case. Defaults to no
   * limit.
   */
  readonly maxRatio?: number | undefined;
  /** Bytes of decoded pages of Parquet that are cached, for rows that lie near each other. Defaults to 128 MiB. */
  readonly pageCacheSize?: number | undefined;
  /**
   * Largest id that a node of the tree may have, for a tree that is combined with others. A tree whose ids count up to
   * its `nodeCount` may ignore it.
   */
  readonly lastNode?: NodeId | undefined;
}

/** Facts about an opened container, as `recordfs info` prints them. */
export interface ContainerInfo {
  /** The format's name, such as `ffrecord`. */
  readonly format: string;
  /** Variant within the format, such as `packed folder`. */
  readonly kind: string;
  /** Number of files in the tree. */
  readonly files: number;
  /** Number of directories in the tree, root excluded. */
  readonly directories: number;
  /** Size of the container's files on disk, in bytes. */
  readonly bytes: number;
  /** Other counts of the format, by name: `videos`, `frames`; for an archive, `skipped` and `unreadable` members. */
  readonly facts?: Readonly<Record<string, number>>;
  /** Archive members that no path leads to: the first 10,000 of each archive. Absent if there are none. */
  readonly skipped?:
    | readonly {
      /** Path of the archive. */
      readonly archive: string;
      /** Name as stored in the archive; names over 4,096 bytes are truncated and end in `…`. */
      readonly name: string;
      /** Kind of the member. */
      readonly kind:
        | "device"
        | "directory"
        | "file"
        | "hard link"
        | "symbolic link";
      /**
       * Why it is skipped:
       *
       * - `unsafe-name`: its path has `..` or NUL.
       * - `no-name`: it has no name.
       * - `too-long`: its name or path exceeds the limit.
       * - `conflict`: it needs a directory where an earlier member is a file, or the reverse.
       * - `leads-out`: a link that leads out of the archive.
       * - `no-target`: a hard link to nothing.
       * - `bad-link`: a link that no system follows.
       * - `device`: a device or pipe.
       * - `damaged`: a GulpIO video that cannot be read completely, or its label file.
       */
      readonly reason:
        | "bad-link"
        | "conflict"
        | "damaged"
        | "device"
        | "leads-out"
        | "no-name"
        | "no-target"
        | "too-long"
        | "unsafe-name";
      /** The reason in words, with the name and the archive. */
      readonly message: string;
    }[]
    | undefined;
  /**
   * Archive members that are listed but known to be unreadable: the first 10,000 of each archive. Absent if there are
   * none.
   */
  readonly unreadable?:
    | readonly {
      /** Path of the archive. */
      readonly archive: string;
      /** Name as listed; empty for a part of the archive in which no member can be found. */
      readonly name: string;
      /** Code of the error that reading it throws. */
      readonly code: FormatError["code"];
      /** Message of that error. */
      readonly message: string;
    }[]
    | undefined;
  /** Sentences about oddities of the whole container that are not damage. Absent if there are none. */
  readonly notes?: readonly string[] | undefined;
  /** Fields of each sample, if the format names them: the keys of a dataset. */
  readonly keys?: readonly {
    readonly name: string;
    /** Type that the container declares, such as `utf8`. */
    readonly type: string;
    /** Number of stored values. */
    readonly records: number;
    /** Size of all values in bytes. */
    readonly bytes: number;
  }[];
  /** The container's files in reading order, with the number of samples in each. */
  readonly parts: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly samples: number;
  }[];
  /** The containers, if several are shown as one. */
  readonly containers?: readonly {
    /** Location of the container. */
    readonly location: string;
    /** Directory in which it appears. */
    readonly path: string;
    readonly info: ContainerInfo;
  }[];
}

/** Archive member that no path leads to. */
export type SkippedMember = NonNullable<ContainerInfo["skipped"]>[number];

/** Kind of an archive member. */
export type MemberKind = SkippedMember["kind"];

/** Why a member is skipped. */
export type SkipReason = SkippedMember["reason"];

/** Archive member that is listed but cannot be read. */
export type UnreadableMember = NonNullable<
  ContainerInfo["unreadable"]
>[number];

/** What the indices of a container's dataset count. */
export type SampleUnit = "datapoints" | "files" | "samples" | "videos";

/** Number of samples in a container, and what they are. */
export interface CountedSamples {
  /** What the samples are. */
  readonly unit: SampleUnit;
  /** Number of samples. */
  readonly length: number;
}

/** Samples of a container that its tree shows, if not all. */
export interface ShownSamples {
  /** Indices among all samples, ascending, in memory that threads share. */
  readonly indices: Uint32Array | Float64Array;
  /** Number of all samples. */
  readonly of: number;
}

/** An opened container: its tree, samples and facts. */
export interface Container {
  /** Its files and directories. */
  readonly tree: Tree;
  /** Its samples, if its format has any; closed with the tree. */
  readonly samples?: Samples | undefined;
  /** @ignore Samples that the tree shows, if not all. {@linkcode Container.samples} has all. */
  readonly subset?: ShownSamples | undefined;
  /** Facts about the container. */
  readonly info: ContainerInfo;
}

/** Container that other threads serve while its metadata are still read and checked. */
export interface DeferredContainer extends Container {
  /**
   * Reads and checks the metadata that opening deferred. Threads that serve the tree wait for the parts they need, and
   * return no content before all metadata are verified.
   *
   * @throws {FormatError} If the container is damaged; the threads then answer with errors.
   */
  complete(): Promise<void>;
}

/** View of a location by which a format recognizes its own containers. */
export interface Probe {
  /** Path of the location. */
  readonly path: string;
  /** Names in the directory, or `undefined` for a file. */
  readonly names: readonly string[] | undefined;
  /** Returns the names in a subdirectory, or `undefined` if it is not a directory. */
  namesIn(name: string): Steps<readonly string[] | undefined>;
  /**
   * Returns the first bytes of a file in the directory, or next to the file; fewer if it is shorter, `undefined` if it
   * does not exist.
   */
  headOf(name: string, most: number): Steps<Uint8Array | undefined>;
  /** Size of the file in bytes; 0 for a directory. */
  readonly size: number;
  /** Reads part of the file. The range must lie inside it. */
  read(offset: number, length: number): Steps<Uint8Array>;
}

/** Options of a check. */
export interface CheckOptions extends ContainerOptions {
  /**
   * Whether to also decode values of known types, up to 1 GiB each: values of Bags datasets, and files of any container
   * whose names end in `.jpg`, `.jpeg` or `.png`. Defaults to `false`.
   */
  readonly values?: boolean | undefined;
  /** Called with each damaged location as it is found. */
  readonly onDamage: (damage: FormatError) => void;
  /** Called with the number of bytes done, and of all bytes. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the check early; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Summary of a check. */
export interface CheckReport {
  /** Number of samples that were checked. */
  readonly samples: number;
  /** Number of samples in the container, if only some were to be checked. */
  readonly of?: number | undefined;
  /** Size of the container's files in bytes; if only some samples were to be checked, of the files that were read. */
  readonly bytes: number;
  /** Number of damaged locations. */
  readonly damaged: number;
  /** The first 1,000 of them, if `onDamage` was not given. */
  readonly damage?: readonly FormatError[] | undefined;
  /**
   * What was verified: contents, by checksums, hashes or decoding; or only the structure, if the container has no
   * checksums. Defaults to contents.
   */
  readonly compares?: "contents" | "structure" | undefined;
  /** Number of pictures decoded, if `values` was set. */
  readonly pictures?: number | undefined;
}
