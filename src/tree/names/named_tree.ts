import { decodeName } from "../../base/names.ts";
import { LONGEST_NAME } from "./name_table_builder.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  ROOT,
  type Tree,
  type TreeHandle,
} from "../tree.ts";

/** Directories and names whose files are records, numbered from 0. */
export interface RecordNames
  extends Pick<Tree, "isDirectory" | "list" | "lookup" | "parent"> {
  /** Number of nodes, root included. */
  readonly length: number;
  /** Writes a node's name to the start of `into` and returns its length; 0 for the root or an invalid node. */
  nameOf(node: NodeId, into: Uint8Array): number;
  /** Returns the record of a file, or -1 for a directory or an invalid node. */
  record(node: NodeId): number;
}

export abstract class NamedTree<Names extends RecordNames = RecordNames>
  implements Tree {
  abstract readonly sources: Tree["sources"];
  protected readonly names: Names;
  /** Modification time of the newest file, in milliseconds since 1970. */
  protected readonly mtime: number;
  readonly #times: Float64Array | undefined;
  readonly #extent = newExtent();

  /** @param times Per node, from the root: its own modification time, or NaN if unknown. */
  constructor(names: Names, mtime: number, times?: Float64Array) {
    this.names = names;
    this.mtime = mtime;
    this.#times = times;
  }

  protected abstract locateRecord(record: number, into: Extent): void;

  protected sizeOf(record: number): number {
    this.locateRecord(record, this.#extent);
    return this.#extent.length;
  }

  abstract share(): TreeHandle;
  abstract close(): void;

  get hasTimes(): boolean {
    return this.#times !== undefined;
  }

  get nodeCount(): number {
    return this.names.length;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return this.names.lookup(parent, name, start, end);
  }

  parent(node: NodeId): NodeId {
    return this.names.parent(node);
  }

  isDirectory(node: NodeId): boolean {
    return this.names.isDirectory(node);
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.names.list(dir, cursor, visit);
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    return this.names.nameOf(node, into);
  }

  recordOf(node: NodeId): number {
    return this.names.record(node);
  }

  /** Returns the path of a node with a single parent directory, for messages. */
  pathTo(node: NodeId): string {
    const parts: string[] = [];
    const name = new Uint8Array(LONGEST_NAME);
    for (let at = node; at !== ROOT; at = this.parent(at)) {
      parts.push(decodeName(name, 0, this.nameOf(at, name)));
    }
    return parts.reverse().join("/");
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const time = this.#times?.[node - 1];
    into.mtime = time === undefined || Number.isNaN(time) ? this.mtime : time;
    into.isDirectory = this.names.isDirectory(node);
    into.size = 0;
    if (into.isDirectory) return true;
    const record = this.names.record(node);
    if (record < 0) return false;
    into.size = this.sizeOf(record);
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const record = this.names.record(node);
    if (record < 0) return false;
    this.locateRecord(record, into);
    return true;
  }
}
