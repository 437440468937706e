import { decodeName } from "../../base/names.ts";
import { numberedNames } from "../names/numbered_names.ts";
import type { NodeView } from "../node_view.ts";
import { isIndex } from "../sample_indices.ts";
import { listNumbers } from "../samples/sample_tree.ts";
import { newExtent, placeBytes, placeRange } from "../tree.ts";
import type { EntryVisitor, Extent, NodeId } from "../tree.ts";
import type { DecodedRecords } from "./decoded_records.ts";
import type { NamedNode, NodeContent, RecordLayout } from "./record_layout.ts";
import type { RecordFile, RecordTable } from "./record_table.ts";

/** A directory of values among the nodes of a record. */
type Values = NodeContent & { readonly kind: "values" };

/** Nodes below records: each record has a range of ids, in which its files are numbered. */
export class DecodedNodes {
  readonly #records: DecodedRecords;
  readonly #table: RecordTable<RecordFile>;
  readonly #start: NodeId;
  readonly #record = newExtent();
  // Record of the node entered last, and the node's number in it.
  #owner = 0;
  #local = 0;

  /** @param start First id of the first record's range. */
  constructor(
    records: DecodedRecords,
    table: RecordTable<RecordFile>,
    start: NodeId,
  ) {
    this.#records = records;
    this.#table = table;
    this.#start = start;
  }

  /** @param record Number of the record if `parent` is its own directory; otherwise -1. */
  lookup(
    record: number,
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const layout = this.#enter(record, parent);
    const children = layout?.nodes[this.#local]?.children;
    if (children !== undefined) {
      const child = children.get(decodeName(name, start, end));
      return child === undefined ? 0 : this.#node(this.#owner, child);
    }
    const values = layout && valuesAt(layout, this.#local);
    if (values === undefined) return 0;
    const count = values.ranges.length / 2;
    const number = numberedNames(count, "").parse(name, start, end);
    return isIndex(number, count)
      ? this.#node(this.#owner, values.first + number)
      : 0;
  }

  /** @param own Returns the node of a record's own directory. */
  parent(node: NodeId, own: (record: number) => NodeId): NodeId {
    const layout = this.#enter(-1, node);
    if (layout === undefined) return 0;
    const parent = layout.nodes[this.#local]?.parent ??
      listOf(layout, this.#local);
    return parent === 0 ? own(this.#owner) : this.#node(this.#owner, parent);
  }

  isDirectory(node: NodeId): boolean {
    const { children, content } = this.#enter(-1, node)?.nodes[this.#local] ??
      NO_NAME;
    return children !== undefined || content?.kind === "values";
  }

  list(
    record: number,
    dir: NodeId,
    cursor: number,
    visit: EntryVisitor,
  ): void {
    const layout = this.#enter(record, dir);
    if (layout === undefined) return;
    const owner = this.#owner;
    const { children } = layout.nodes[this.#local] ?? NO_NAME;
    if (children !== undefined) {
      let at = 0;
      for (const child of children.values()) {
        if (at++ < cursor) continue;
        const { name } = layout.nodes[child]!;
        const node = this.#node(owner, child);
        if (!visit(name, 0, name.length, node, at)) return;
      }
      return;
    }
    const values = valuesAt(layout, this.#local);
    if (values === undefined) return;
    const count = values.ranges.length / 2;
    const first = this.#node(owner, values.first);
    listNumbers(numberedNames(count, ""), count, first, cursor, visit);
  }

  locate(node: NodeId, into: Extent): boolean {
    const layout = this.#enter(-1, node);
    if (layout === undefined) return false;
    const content = layout.nodes[this.#local]?.content;
    if (content?.kind === "made") {
      placeBytes(this.#records.bytes(this.#owner, content), into);
      return true;
    }
    const range = content?.kind === "value"
      ? [content.start, content.end] as const
      : rangeOf(layout, this.#local);
    if (range === undefined) return false;
    this.#table.locate(this.#owner, this.#record);
    const { source, offset } = this.#record;
    const [start, end] = range;
    // The checksum covers the whole record, of which this is a part.
    placeRange(source, offset + start, end - start, into);
    return true;
  }

  /** Returns how viewers show a value. */
  view(node: NodeId): NodeView | undefined {
    return this.#enter(-1, node)?.view(this.#local);
  }

  close(): void {
    this.#records.close();
  }

  /** Enters the record of a node; returns `undefined` if there is none. */
  #enter(record: number, node: NodeId): RecordLayout | undefined {
    const { nodes } = this.#records;
    const at = record < 0 ? node - this.#start : record * nodes;
    if (!isIndex(at, this.#table.length * nodes)) return undefined;
    this.#owner = Math.floor(at / nodes);
    this.#local = at - this.#owner * nodes;
    if (record < 0 && this.#local === 0) return undefined;
    const layout = this.#records.layout(this.#owner);
    return this.#local < layout.length ? layout : undefined;
  }

  #node(record: number, local: number): NodeId {
    return this.#start + record * this.#records.nodes + local;
  }
}

/** For one of several values, which has a number instead of a name. */
const NO_NAME: Partial<NamedNode> = {};

function valuesAt({ nodes }: RecordLayout, local: number): Values | undefined {
  const content = nodes[local]?.content;
  return content?.kind === "values" ? content : undefined;
}

/** Returns the directory of values that contains a value. */
function listOf(layout: RecordLayout, local: number): number {
  const { lists } = layout;
  let [low, high] = [0, lists.length - 1];
  while (low < high) {
    const middle = low + high + 1 >>> 1;
    if (valuesAt(layout, lists[middle]!)!.first <= local) low = middle;
    else high = middle - 1;
  }
  return lists[low]!;
}

function rangeOf(
  layout: RecordLayout,
  local: number,
): readonly [number, number] | undefined {
  if (local < layout.nodes.length) return undefined;
  const { ranges, first } = valuesAt(layout, listOf(layout, local))!;
  const at = 2 * (local - first);
  return [ranges[at]!, ranges[at + 1]!];
}
