import type { Storage } from "../io/storage/storage.ts";
import type { NodeView } from "./node_view.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import type { ChecksumKind } from "../io/checksums/checksum.ts";

/**
 * Identifies a node of a {@linkcode Tree}: a safe integer ≥ 1, stable across opens of the same data and never reused. 0
 * means "no such node".
 */
export type NodeId = number;

/** Root node of every tree. */
export const ROOT: NodeId = 1;

/** Metadata of a {@linkcode Tree} node. The tree fills it in, so hot paths can reuse one object. */
export interface NodeStat {
  /** Whether the node is a directory; otherwise it is a file or a symbolic link. */
  isDirectory: boolean;
  /** Whether the node is a symbolic link. Trees without links leave the default, `false`. */
  isLink: boolean;
  /** Exact size in bytes; 0 for a directory, the length of the target for a link. */
  size: number;
  /**
   * Modification time in milliseconds since 1970: the node's own if {@linkcode Tree.hasTimes} and it is known,
   * otherwise that of the container.
   */
  mtime: number;
}

/** Location of a file's content. The tree fills it in, so hot paths can reuse one object. */
export interface Extent {
  /** Index into {@linkcode Tree.sources}, or -1 if the content is in {@linkcode Extent.bytes}. */
  source: number;
  /** Byte offset in the source; 0 if the content is in {@linkcode Extent.bytes}. */
  offset: number;
  /** Length in bytes. */
  length: number;
  /**
   * Kind of the checksum that the container stores for the whole content; `undefined` if it stores none. Code that
   * opens a tree with CRC-32C must load its implementation (`src/io/checksums/checksum.ts`).
   */
  checksumKind: "crc32" | "crc32c" | undefined;
  /** The stored checksum; 0 if there is none. */
  checksum: number;
  /** The whole content, if it is small and computed; `source` is -1 then. */
  bytes: Uint8Array | undefined;
}

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

/** Sets an extent to computed bytes. */
export function placeBytes(bytes: Uint8Array, into: Extent): void {
  into.source = -1;
  into.offset = 0;
  into.length = bytes.length;
  placeUnchecked(into);
  into.bytes = bytes;
}

/** Sets an extent to a range of a source, without a checksum. */
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

/** Sets an extent to a range of a source, with a checksum. */
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

/** Clears the checksum of an extent. */
export function placeUnchecked(into: Extent): void {
  into.checksumKind = undefined;
  into.checksum = 0;
}

export function newStat(): NodeStat {
  return { isDirectory: false, isLink: false, size: 0, mtime: 0 };
}

/** Whether all sources are open from the start. */
export function areOpen(
  sources: Tree["sources"],
): sources is readonly ByteSource[] {
  return Array.isArray(sources);
}

/** Data from which another thread rebuilds a tree. It survives `postMessage` without copying tables. */
export interface TreeHandle {
  /** URL of the module that exports `reopenTree(data): Tree | Promise<Tree>`. */
  readonly module: string;
  /** Plain data, and typed arrays over shared memory. */
  readonly data: unknown;
}

export async function reopenHandle(
  { module, data }: TreeHandle,
): Promise<Tree> {
  const { reopenTree }: {
    reopenTree(data: unknown): Tree | Promise<Tree>;
  } = await import(module);
  return await reopenTree(data);
}

/**
 * A container as a read-only file tree: the only interface between formats and their consumers.
 *
 * A tree is immutable and holds no state about its callers, so one tree serves many threads. Names are bytes, as on
 * disk. Each method returns immediately. If part of the index is neither in memory nor on a local disk, it throws
 * {@linkcode NotLoaded}, with which a caller that can wait loads the part.
 */
export interface Tree {
  /**
   * Data that extents point into: open sources; or so many that each is opened on first use; or those of several trees,
   * only some of which are open from the start.
   */
  readonly sources:
    | readonly ByteSource[]
    | {
      /** Returns the source of an index. */
      at(index: number): ByteSource | undefined;
      /** File or directory that contains them. */
      readonly path: string;
      /** Storage of `path`. Absent for the local disk. */
      readonly storage?: Storage;
      /** Total bytes of the sources seen so far, by any thread. */
      readonly knownBytes: number;
    }
    | {
      /** Returns the source of an index. */
      at(index: number): ByteSource | undefined;
      /** Open sources; their indices come first. */
      readonly opened: readonly ByteSource[];
      /** Lists of lazily opened sources. */
      readonly lazy: readonly Extract<
        Tree["sources"],
        { readonly path: string }
      >[];
      /** Total bytes of the lazily opened sources seen so far, by any thread. */
      readonly knownBytes: number;
    };
  /** Number of nodes, root included. In a tree that loads on demand, the number known so far. */
  readonly nodeCount: number;
  /**
   * Largest id that a node may ever get, in a tree that observes an id limit. Absent if ids count up to
   * {@linkcode Tree.nodeCount}, and if the tree was given the whole id range.
   */
  readonly lastNode?: NodeId | undefined;

  /**
   * Finds an entry of a directory.
   *
   * @returns The node, or 0 if there is none (or `parent` is not a directory).
   */
  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId;

  /**
   * Returns the directory that contains directory `node`; the root is its own parent. For a file, returns its directory
   * if there is only one, otherwise 0.
   */
  parent(node: NodeId): NodeId;

  /** Whether `node` exists and is a directory. */
  isDirectory(node: NodeId): boolean;

  /**
   * Visits the entries of directory `dir` in order from `cursor` (0 is the start), until the visitor returns `false` or
   * the entries end. Cursors count entries, including those that the tree skips: a listing from cursor n starts with
   * the entry that n others precede.
   *
   * @param visit Called with the buffer that holds the name's bytes, valid only during the call; start and end of the
   * name in it; the entry's node; and the cursor at which a later call continues after this entry. Returns whether to
   * continue; `false` means that this entry did not fit, and ends the listing.
   */
  list(
    dir: NodeId,
    cursor: number,
    visit: (
      name: Uint8Array,
      start: number,
      end: number,
      node: NodeId,
      next: number,
    ) => boolean,
  ): void;

  /**
   * Reads the metadata of a node.
   *
   * @returns `false` if the node does not exist.
   * @throws {FormatError} If the container is damaged there.
   */
  stat(node: NodeId, into: NodeStat): boolean;

  /**
   * Finds the content of a file. The content of a symbolic link is its target path; in a tree whose links resolve to
   * its own files, it is that file's content.
   *
   * @returns `false` if the node does not exist, is a directory, or is a link that resolves to no file.
   * @throws {FormatError} If the container is damaged there.
   */
  locate(node: NodeId, into: Extent): boolean;

  /**
   * Returns the index of a file's sample in its source, for messages. Present only in trees with CRC-32s in some
   * extents.
   */
  sampleOf?(node: NodeId): number;

  /**
   * Returns the nodes that are samples of the container's dataset, in dataset order. Absent if the samples are the
   * files, in walk order.
   */
  samples?(): {
    /** Whether samples are directories with all their contents, rather than files; `undefined` if mixed. */
    readonly areDirectories: boolean | undefined;
    /**
     * Runs in dataset order: consecutive samples that are entries of one directory with equally spaced nodes; or
     * samples that the tree skips as damaged, whose nodes are all 0. No node but 0 is in two runs.
     */
    readonly runs: Iterable<{
      /** Node of the first sample, or 0. */
      readonly first: NodeId;
      /** Distance between nodes: at least 1, or 0 for skipped samples. */
      readonly stride: number;
      /** Number of samples. */
      readonly count: number;
      /** Consecutive nodes per sample, for samples of several files. Defaults to 1; at most the stride. */
      readonly width?: number | undefined;
    }>;
  };

  /**
   * Writes the name of a sample, or of a directory above one, to the start of `into`.
   *
   * @returns Its length in bytes; 0 for the root and for a node without such a name.
   */
  nameOf?(node: NodeId, into: Uint8Array): number;

  /**
   * Returns how a viewer shows a node, such as the frames of a video; `undefined` for a plain file or directory.
   * Present only in trees that have such nodes.
   *
   * @throws {FormatError} If the container is damaged there.
   */
  view?(node: NodeId): NodeView | undefined;

  /** Whether nodes have their own times, as far as the container stores them; otherwise all have that of its files. */
  readonly hasTimes?: boolean | undefined;

  /** Whether `node` is a symbolic link. Present only in trees with links. */
  isLink?(node: NodeId): boolean;

  /**
   * Writes the target of a symbolic link to `into` at `at`: up to 4095 bytes. Present only in trees with links.
   *
   * @returns Its length in bytes, or -1 if the node is not a link.
   */
  readLink?(node: NodeId, into: Uint8Array, at: number): number;

  /**
   * Returns the node that a symbolic link resolves to, or 0 if the node is not a link. Present only in trees with
   * links.
   */
  target?(node: NodeId): NodeId;

  /** Describes the tree, without its sources, for another thread. */
  share(): TreeHandle;

  /** Closes the sources. */
  close(): void;
}

/** Receives one entry of {@linkcode Tree.list}. */
export type EntryVisitor = Parameters<Tree["list"]>[2];

/** Sources of a tree that has too many to open at once. */
export type LazySources = Extract<Tree["sources"], { readonly path: string }>;

/** Sources of several trees, only some of which are open from the start. */
export type SeveralSources = Extract<
  Tree["sources"],
  { readonly lazy: unknown }
>;

/** Nodes of a tree that are samples. */
export type SampleNodes = ReturnType<NonNullable<Tree["samples"]>>;

/** Consecutive samples of a tree. */
export type SampleRun = SampleNodes["runs"] extends Iterable<infer Run> ? Run
  : never;
