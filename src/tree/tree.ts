import type { Storage } from "../io/storage/storage.ts";
import type { NodeView } from "./node_view.ts";
import type { ByteSource, SourceList } from "../io/storage/byte_source.ts";
import type { ChecksumKind } from "../io/sums/checksum.ts";

/**
 * Identifies a node of a {@linkcode Tree}: a safe integer ≥ 1, the same on every open of the same
 * data, and never reused. 0 stands for "no such node".
 */
export type NodeId = number;

/** The node every tree starts from. */
export const ROOT: NodeId = 1;

/** Facts of a node of a {@linkcode Tree}. Filled in by the tree, so that hot paths can reuse one. */
export interface NodeStat {
  /** True if the node is a directory; otherwise it is a file or a symbolic link. */
  isDirectory: boolean;
  /** True if the node is a symbolic link. Trees without links leave it as it is, which is `false`. */
  isLink: boolean;
  /** Exact size in bytes; 0 for a directory, the length of its target for a link. */
  size: number;
  /** Last modification of the container, in milliseconds since 1970. */
  mtime: number;
}

/** Where a file's bytes are. Filled in by the tree, so that hot paths can reuse one. */
export interface Extent {
  /** Index into {@linkcode Tree.sources}, or -1 when the content is {@linkcode Extent.bytes}. */
  source: number;
  /** Byte offset in the source; 0 where the content is {@linkcode Extent.bytes}. */
  offset: number;
  /** Length in bytes. */
  length: number;
  /**
   * Kind of the checksum that the container records of the whole content; `undefined` if it records none. Who opens a
   * tree with CRC-32C loads what computes it (`src/io/sums/checksum.ts`).
   */
  checksumKind: ChecksumKind | undefined;
  /** That checksum; 0 if there is none. */
  checksum: number;
  /** The whole content itself, when it is small and computed; `source` is -1 then. */
  bytes: Uint8Array | undefined;
}

/** Makes an empty {@linkcode Extent} to be filled in. */
export function newExtent(): Extent {
  return {
    source: -1,
    offset: 0,
    length: 0,
    checksumKind: undefined,
    checksum: 0,
    bytes: undefined,
  };
}

/** Says that content is bytes that were computed. */
export function placeBytes(bytes: Uint8Array, into: Extent): void {
  into.source = -1;
  into.offset = 0;
  into.length = bytes.length;
  placeUnchecked(into);
  into.bytes = bytes;
}

/** Says that content is a part of a source, without a checksum. */
export function placeRange(
  source: number,
  offset: number,
  length: number,
  into: Extent,
): void {
  into.source = source;
  into.offset = offset;
  into.length = length;
  placeUnchecked(into);
  into.bytes = undefined;
}

/** Says that content is a part of a source, and what its checksum is. */
export function placeChecked(
  source: number,
  offset: number,
  length: number,
  kind: ChecksumKind,
  checksum: number,
  into: Extent,
): void {
  into.source = source;
  into.offset = offset;
  into.length = length;
  into.checksumKind = kind;
  into.checksum = checksum;
  into.bytes = undefined;
}

/** Says that content has no checksum. */
export function placeUnchecked(into: Extent): void {
  into.checksumKind = undefined;
  into.checksum = 0;
}

/** Makes an empty {@linkcode NodeStat} to be filled in. */
export function newStat(): NodeStat {
  return { isDirectory: false, isLink: false, size: 0, mtime: 0 };
}

/**
 * Receives one directory entry.
 *
 * @param name Buffer that holds the name's bytes; valid only during the call.
 * @param start Where the name starts in `name`.
 * @param end Where it ends.
 * @param node The entry's node.
 * @param next The cursor at which a later {@linkcode Tree.list} continues after this entry.
 * @returns Whether to go on; `false` means this entry did not fit and ends the listing.
 */
export type EntryVisitor = (
  name: Uint8Array,
  start: number,
  end: number,
  node: NodeId,
  next: number,
) => boolean;

/** Sources of a tree that has too many to open all: each is opened when it is first asked for. */
export interface LazySources extends SourceList {
  /** The file or directory that they lie in. */
  readonly path: string;
  /** The storage that this is a path of. Left out where it is the local disk. */
  readonly storage?: Storage;
  /** Bytes of those that have been looked at so far, by any thread. */
  readonly knownBytes: number;
}

/** Sources of several trees, only some of which are open from the start. */
export interface SeveralSources extends SourceList {
  /** Those that are; their indices come first. */
  readonly opened: readonly ByteSource[];
  /** Lists of the others. */
  readonly lazy: readonly LazySources[];
  /** Bytes of those others that have been looked at so far, by any thread. */
  readonly knownBytes: number;
}

/** Tells whether all sources are open from the start. */
export function areOpen(
  sources: Tree["sources"],
): sources is readonly ByteSource[] {
  return Array.isArray(sources);
}

/** Data by which another thread rebuilds a tree: it survives `postMessage` without copying tables. */
export interface TreeHandle {
  /** URL of the module that exports `reopenTree(data): Tree | Promise<Tree>`. */
  readonly module: string;
  /** Plain data and typed arrays over shared memory. */
  readonly data: unknown;
}

/** Rebuilds a tree that another thread has shared, by the module that knows how. */
export async function reopenHandle(
  { module, data }: TreeHandle,
): Promise<Tree> {
  const { reopenTree }: {
    reopenTree(data: unknown): Tree | Promise<Tree>;
  } = await import(module);
  return await reopenTree(data);
}

/**
 * Neighbours among the samples of a tree: entries of one directory whose nodes are equally far apart; or samples
 * that the tree leaves out, since they are damaged, whose nodes are all 0.
 */
export interface SampleRun {
  /** Node of the first one, or 0. */
  readonly first: NodeId;
  /** How far the nodes are apart: at least 1, or 0. */
  readonly stride: number;
  /** How many there are. */
  readonly count: number;
  /** How many neighbours, from its node on, each is: files that belong together. 1 unless given; at most the stride. */
  readonly width?: number | undefined;
}

/** Which nodes of a tree are samples, as the tree says it. */
export interface SampleNodes {
  /** Whether they are directories, with all that is in them, and not files; `undefined` where some are. */
  readonly areDirectories: boolean | undefined;
  /** In the order of the dataset; no node but 0 is in two of them. */
  readonly runs: Iterable<SampleRun>;
}

/**
 * A container seen as a read-only file tree: the one interface between the formats and everything
 * that consumes them.
 *
 * A tree is immutable and keeps no state about its callers, so one tree serves many threads. Names
 * are bytes, as on disk. Each method answers at once; where a part of the index is neither in memory
 * nor on a local disk, it throws {@linkcode NotLoaded}, by which who can wait has it fetched.
 */
export interface Tree {
  /** The data that extents point into. */
  readonly sources: readonly ByteSource[] | LazySources | SeveralSources;
  /**
   * How many nodes there are, the root included; in what is opened little by little, how many are
   * known of.
   */
  readonly nodeCount: number;
  /**
   * The largest id that a node can come to have, in a tree that keeps to a limit. Left out where ids count up to
   * {@linkcode Tree.nodeCount}, and where the tree was given all there are.
   */
  readonly lastNode?: NodeId | undefined;

  /**
   * Finds an entry of a directory.
   *
   * @returns The node, or 0 where there is none (or `parent` is not a directory).
   */
  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId;

  /**
   * The directory that holds directory `node`; the root's parent is the root. Of a file, the directory
   * is told where there is but one, and otherwise 0.
   */
  parent(node: NodeId): NodeId;

  /** Tells whether `node` exists and is a directory. */
  isDirectory(node: NodeId): boolean;

  /**
   * Visits the entries of directory `dir` in order, from `cursor` on (0 is the start), until the
   * visitor returns `false` or the entries end. Cursors count entries, those that a tree leaves out as well: the
   * listing from cursor n on starts with the entry that n others are before.
   */
  list(dir: NodeId, cursor: number, visit: EntryVisitor): void;

  /**
   * Describes a node.
   *
   * @returns `false` where the node does not exist.
   * @throws {FormatError} Where the container is damaged at that place.
   */
  stat(node: NodeId, into: NodeStat): boolean;

  /**
   * Says where the content of a file is; that of a symbolic link is its target, or in a tree whose links lead to
   * files of its own that of the file.
   *
   * @returns `false` where the node does not exist or is a directory, or a link that leads to no file.
   * @throws {FormatError} Where the container is damaged at that place.
   */
  locate(node: NodeId, into: Extent): boolean;

  /**
   * Which sample of its source a file is, for messages. Present only in trees some of whose extents have
   * a CRC-32.
   */
  sampleOf?(node: NodeId): number;

  /**
   * Which nodes are samples of the container's dataset, in its order. Left out where they are the files, in the
   * order of a walk.
   */
  samples?(): SampleNodes;

  /**
   * Writes the name of a sample, or of a directory above one, to the start of `into`.
   *
   * @returns Its length in bytes; 0 for the root and for a node without such a name.
   */
  nameOf?(node: NodeId, into: Uint8Array): number;

  /**
   * Says what a node is to whoever shows it, such as the frames of a video: `undefined` where it is a file or a directory
   * as any other. Present only in trees that have such.
   *
   * @throws {FormatError} Where the container is damaged at that place.
   */
  view?(node: NodeId): NodeView | undefined;

  /** Whether nodes have times of their own, as far as the container knows them; otherwise all have that of its files. */
  readonly hasTimes?: boolean | undefined;

  /** Tells whether `node` is a symbolic link. Present only in trees that have some. */
  isLink?(node: NodeId): boolean;

  /**
   * Writes the target of a symbolic link to `into`, from `at` on: up to 4095 bytes.
   *
   * @returns Its length in bytes, or -1 where the node is no link. Present only in trees that have some.
   */
  readLink?(node: NodeId, into: Uint8Array, at: number): number;

  /** The node that a symbolic link leads to, or 0 where the node is no link. Present only in trees that have some. */
  target?(node: NodeId): NodeId;

  /** Describes the tree for another thread. Its sources are not part of it. */
  share(): TreeHandle;

  /** Closes the sources. */
  close(): void;
}
