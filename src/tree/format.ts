import type { FormatError, FormatErrorCode } from "../base/errors.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import type { Storage } from "../io/storage/storage.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { Samples } from "./samples/samples.ts";
import type { NodeId, Tree } from "./tree.ts";

/** Options of opening a container of any format. */
export interface ContainerOptions {
  /** Takes the container for this format, or variant of one, instead of looking at its content. */
  readonly format?: string | undefined;
  /**
   * Whether checksums are compared: of metadata when opening, of content when a file is read whole.
   * Defaults to `true`.
   */
  readonly checkData?: boolean | undefined;
  /** Suffix for names that are only numbers, with or without its dot: `jpg`. */
  readonly ext?: string | undefined;
  /**
   * Whether values whose types are known also show as files that people and programs read: `foo.json`,
   * `foo.npy` or `foo.txt` beside `foo`; or messages as their fields. Only some formats have such; where another key
   * has that name, there is none. Defaults to `false`.
   */
  readonly decoded?: boolean | undefined;
  /**
   * Whether samples that are one file, or files beside others, show as directories with a file for each value: as rows,
   * for who looks at them. Formats whose samples are such directories anyway take no notice. Defaults to `false`.
   */
  readonly asRows?: boolean | undefined;
  /** Told of what is odd but readable. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Where the container lies. Defaults to the local disk, or the server that its URL names. */
  readonly storage?: Storage | undefined;
  /** How servers are reached, where the location is a URL. */
  readonly remote?: RemoteOptions | undefined;
  /** Bytes of decoded pages of Parquet that are cached, for rows that lie near each other. Defaults to 128 MiB. */
  readonly pageCacheSize?: number | undefined;
  /**
   * The largest id that a node of the tree may have, for one that is to stand among others. A tree whose ids
   * count up to its `nodeCount` need not look at it.
   */
  readonly lastNode?: NodeId | undefined;
}

/** What an archive's member is. */
export type MemberKind =
  | "device"
  | "directory"
  | "file"
  | "hard link"
  | "symbolic link";

/**
 * Why a member is skipped: `unsafe-name` has `..` or NUL in its path, `no-name` none, `too-long` a name or path longer
 * than is shown; `conflict` needs a directory where a file is before it, or the other way round; `leads-out` is a link
 * that leads out of the archive, `no-target` a hard link to nothing, `bad-link` a link that no system follows; `device`
 * is a device or pipe; `damaged` is a video of GulpIO of which not all can be read, or its file of labels.
 */
export type SkipReason =
  | "bad-link"
  | "conflict"
  | "damaged"
  | "device"
  | "leads-out"
  | "no-name"
  | "no-target"
  | "too-long"
  | "unsafe-name";

/** A member of an archive that no path leads to. */
export interface SkippedMember {
  /** Path of the archive. */
  readonly archive: string;
  /** Its name, as the archive has it; of more than 4,096 bytes, their start and `…`. */
  readonly name: string;
  /** What it is. */
  readonly kind: MemberKind;
  /** Why it is skipped. */
  readonly reason: SkipReason;
  /** The reason in words, with the name and the archive. */
  readonly message: string;
}

/** A member of an archive that is listed, but cannot be read. */
export interface UnreadableMember {
  /** Path of the archive. */
  readonly archive: string;
  /** Its name, as it is listed; empty for a part of the archive in which no member can be found. */
  readonly name: string;
  /** Code of the error that reading it throws. */
  readonly code: FormatErrorCode;
  /** Message of that error. */
  readonly message: string;
}

/** Facts about an opened container, as `recordfs info` prints them. */
export interface ContainerInfo {
  /** The format's name, such as `ffrecord`. */
  readonly format: string;
  /** Variant within the format, such as `packed folder`. */
  readonly kind: string;
  /** Files in the tree. */
  readonly files: number;
  /** Directories in the tree, the root not counted. */
  readonly directories: number;
  /** Bytes of the container's files on disk. */
  readonly bytes: number;
  /** Other counts of the format, by name: `videos`, `frames`; of an archive `skipped` and `unreadable` members. */
  readonly facts?: Readonly<Record<string, number>>;
  /** Members of archives that no path leads to; the first 10,000 of each archive. Left out where there are none. */
  readonly skipped?: readonly SkippedMember[] | undefined;
  /**
   * Members of archives that are listed, but known to be unreadable; the first 10,000 of each archive. Left out where
   * there are none.
   */
  readonly unreadable?: readonly UnreadableMember[] | undefined;
  /** What is odd of it as a whole though nothing is damaged, as sentences. Left out where there is nothing. */
  readonly notes?: readonly string[] | undefined;
  /** Fields of each of its samples, where the format names them: the keys of a dataset. */
  readonly keys?: readonly {
    readonly name: string;
    /** The type that the container gives it, such as `utf8`. */
    readonly type: string;
    /** Number of values that are stored. */
    readonly records: number;
    /** Bytes of all values. */
    readonly bytes: number;
  }[];
  /** The container's files in reading order, and how many samples each holds. */
  readonly parts: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly samples: number;
  }[];
  /** The containers, where several are shown as one. */
  readonly containers?: readonly {
    /** Where it lies. */
    readonly location: string;
    /** The directory that it shows in. */
    readonly path: string;
    readonly info: ContainerInfo;
  }[];
}

/** What the indices of a container's dataset count. */
export type SampleUnit = "datapoints" | "files" | "samples" | "videos";

/** The samples of a container, as its dataset numbers them. */
export interface CountedSamples {
  /** What they are. */
  readonly unit: SampleUnit;
  /** How many there are. */
  readonly length: number;
}

/** An opened container: its tree and what is known of it. */
export interface Container {
  /** Its files and directories. */
  readonly tree: Tree;
  /** Its samples, where its format has such; they are closed with the tree. */
  readonly samples?: Samples | undefined;
  /** Facts about it. */
  readonly info: ContainerInfo;
}

/** A container that other threads serve while its metadata are still read and checked. */
export interface ServedContainer extends Container {
  /**
   * Reads and checks what opening left out. Threads that serve the tree wait for what they need of
   * it, and give no content before all of it is known to be right.
   *
   * @throws {FormatError} If it is damaged; the threads then answer with errors.
   */
  complete(): Promise<void>;
}

/** View of a location by which a format tells whether it is its own. */
export interface Probe {
  /** Where it lies. */
  readonly path: string;
  /** Names in the directory, or `undefined` for a file. */
  readonly names: readonly string[] | undefined;
  /** Names in a directory in the directory, or `undefined` for what is none. */
  namesIn(name: string): Steps<readonly string[] | undefined>;
  /** First bytes of a file in the directory, fewer where it has no more; or `undefined` where there is none. */
  headOf(name: string, most: number): Steps<Uint8Array | undefined>;
  /** Size of the file in bytes; 0 for a directory. */
  readonly size: number;
  /** Reads part of the file. The range must lie inside it. */
  read(offset: number, length: number): Steps<Uint8Array>;
}

/** Callbacks and limits of a check. */
export interface CheckOptions extends ContainerOptions {
  /**
   * Whether values whose types are known are decoded as well, up to 1 GiB each: those of datasets of bags, and files of
   * any container whose names end in `.jpg`, `.jpeg` or `.png`. Defaults to `false`.
   */
  readonly values?: boolean | undefined;
  /** Told of each damaged place as it is found. */
  readonly onDamage: (damage: FormatError) => void;
  /** Told how many of how many bytes are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the check early; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Summary of a check. */
export interface CheckReport {
  /** Number of samples. */
  readonly samples: number;
  /** Bytes of the container's files. */
  readonly bytes: number;
  /** Number of calls of `onDamage`. */
  readonly damaged: number;
  /**
   * What was compared: contents, with checksums or hashes, or by decoding all of them; or only how they are laid out,
   * where the container has none. Contents unless given.
   */
  readonly compares?: "contents" | "structure" | undefined;
  /** Number of pictures that were decoded, where `values` asked for it. */
  readonly pictures?: number | undefined;
}
