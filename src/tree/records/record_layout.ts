import type { NodeView } from "../node_view.ts";

/** Content of a file of a record, or a directory of values. */
export type NodeContent =
  /** Bytes of the record. */
  | { readonly kind: "value"; readonly start: number; readonly end: number }
  /** A directory of values: starts and ends in the record, alternating. */
  | {
    readonly kind: "values";
    readonly ranges: readonly number[];
    /** Node of the first value. */
    readonly first: number;
  }
  /** Bytes made when they are first read, and then cached. */
  | { readonly kind: "made"; make(): Uint8Array };

/** A directory or file of a record. */
export interface NamedNode<Content = NodeContent> {
  readonly name: Uint8Array;
  /** Number of its directory; the record's own is 0, and its own parent. */
  readonly parent: number;
  /** Its entries by name, if it is a directory. */
  readonly children: Map<string, number> | undefined;
  readonly content: Content | undefined;
}

/** Files of a decoded record; the nodes of values in directories follow those with names. */
export interface RecordLayout {
  /** Nodes with names, beginning with the record's own directory. */
  readonly nodes: readonly NamedNode[];
  /** Nodes that are directories of values, in the order of their values' numbers. */
  readonly lists: readonly number[];
  /** Number of nodes, including those of values. */
  readonly length: number;
  /** Approximate size in bytes. */
  readonly weight: number;
  /** Returns how viewers show a node. */
  view(node: number): NodeView | undefined;
}

/**
 * Lays out a record as files.
 *
 * @param bytes The whole record, verified.
 * @param mostNodes Maximum number of nodes.
 * @throws {FormatError} If it cannot be decoded.
 */
export type LayOut = (
  record: number,
  bytes: Uint8Array<ArrayBuffer>,
  mostNodes: number,
) => RecordLayout;
