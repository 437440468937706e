import { decodeName } from "../../../base/names.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { EntryVisitor, Extent, NodeId } from "../../../tree/tree.ts";
import type { RecordTable } from "../read/record_table.ts";
import type { DecodedRecords } from "./decoded_records.ts";
import type { Content, RecordLayout } from "./record_layout.ts";
import { bytesView, numbersView } from "./value_view.ts";

/** A directory of values, among the nodes of a record. */
type Values = Content & { readonly kind: "values" };

/** The nodes below records: each record has a share of ids, in which its files are numbered. */
export class DecodedNodes {
  readonly #records: DecodedRecords;
  readonly #table: RecordTable;
  readonly #start: NodeId;
  readonly #name = new Uint8Array(32);
  readonly #record = newExtent();

  /** @param start The first id of the first record's share. */
  constructor(records: DecodedRecords, table: RecordTable, start: NodeId) {
    this.#records = records;
    this.#table = table;
    this.#start = start;
  }

  /** @param record Of a record's own directory its number, and otherwise -1. */
  lookup(
    record: number,
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const [owner, local] = this.#enter(record, parent);
    if (owner < 0) return 0;
    const layout = this.#records.layout(owner);
    const node = layout.nodes[local];
    if (node?.children !== undefined) {
      const child = node.children.get(decodeName(name, start, end));
      return child === undefined ? 0 : this.#node(owner, child);
    }
    const values = valuesAt(layout, local);
    if (values === undefined) return 0;
    const count = values.ranges.length / 2;
    const number = namesOf(values).parse(name, start, end);
    return number >= 0 && number < count
      ? this.#node(owner, values.first + number)
      : 0;
  }

  /** @param own The node of a record's own directory. */
  parent(node: NodeId, own: (record: number) => NodeId): NodeId {
    const [owner, local] = this.#enter(-1, node);
    if (owner < 0) return 0;
    const layout = this.#records.layout(owner);
    const parent = layout.nodes[local]?.parent ?? listOf(layout, local);
    return parent === 0 ? own(owner) : this.#node(owner, parent);
  }

  isDirectory(node: NodeId): boolean {
    const [owner, local] = this.#enter(-1, node);
    if (owner < 0) return false;
    const layout = this.#records.layout(owner);
    return layout.nodes[local]?.children !== undefined ||
      valuesAt(layout, local) !== undefined;
  }

  list(
    record: number,
    dir: NodeId,
    cursor: number,
    visit: EntryVisitor,
  ): void {
    const [owner, local] = this.#enter(record, dir);
    if (owner < 0) return;
    const layout = this.#records.layout(owner);
    const { children } = layout.nodes[local] ?? {};
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
    const values = valuesAt(layout, local);
    if (values === undefined) return;
    const names = namesOf(values);
    const count = values.ranges.length / 2;
    for (let number = cursor; number < count; number++) {
      const end = names.write(number, this.#name);
      const node = this.#node(owner, values.first + number);
      if (!visit(this.#name, 0, end, node, number + 1)) return;
    }
  }

  locate(node: NodeId, into: Extent): boolean {
    const [owner, local] = this.#enter(-1, node);
    if (owner < 0) return false;
    const layout = this.#records.layout(owner);
    const content = layout.nodes[local]?.content;
    if (content?.kind === "json" || content?.kind === "npy") {
      const bytes = this.#records.form(owner, content);
      into.source = -1;
      into.offset = 0;
      into.length = bytes.length;
      into.crc32 = -1;
      into.bytes = bytes;
      return true;
    }
    const range = content?.kind === "value"
      ? [content.start, content.end] as const
      : rangeOf(layout, local);
    if (range === undefined) return false;
    this.#table.locate(owner, this.#record);
    into.source = this.#record.source;
    into.offset = this.#record.offset + range[0];
    into.length = range[1] - range[0];
    into.crc32 = -1; // the record has one, of which this is a part
    into.bytes = undefined;
    return true;
  }

  /** What a value is to who looks at it. */
  view(node: NodeId): NodeView | undefined {
    const [owner, local] = this.#enter(-1, node);
    if (owner < 0) return undefined;
    const layout = this.#records.layout(owner);
    const list = layout.steps.get(local);
    if (list !== undefined) return bytesView("steps", true, list);
    const named = layout.nodes[local];
    if (named === undefined) return bytesView("bytes", false, undefined);
    const { content } = named;
    if (content === undefined) return undefined;
    const key = isOther(layout, local) ? undefined : content.key;
    return content.kind === "json" || content.kind === "npy"
      ? numbersView(content, key)
      : bytesView("bytes", content.kind === "values", key);
  }

  close(): void {
    this.#records.close();
  }

  /** The record that a node is of, and its number in it; -1 for none. */
  #enter(record: number, node: NodeId): readonly [number, number] {
    if (record >= 0) return [record, 0];
    const at = node - this.#start;
    if (!Number.isSafeInteger(at) || at < 0) return NONE;
    const owner = Math.floor(at / this.#records.nodes);
    if (owner >= this.#table.length) return NONE;
    const local = at - owner * this.#records.nodes;
    return local > 0 && local < this.#records.layout(owner).length
      ? [owner, local]
      : NONE;
  }

  #node(record: number, local: number): NodeId {
    return this.#start + record * this.#records.nodes + local;
  }
}

const NONE = [-1, 0] as const;

/** Whether a node is the second form of a number, which stands beside the first. */
function isOther({ nodes }: RecordLayout, local: number): boolean {
  const { content } = nodes[local]!;
  const before = nodes[local - 1]?.content;
  return content?.kind === "npy" && before?.kind === "json" &&
    before.numbers === content.numbers;
}

function valuesAt({ nodes }: RecordLayout, local: number): Values | undefined {
  const content = nodes[local]?.content;
  return content?.kind === "values" ? content : undefined;
}

function namesOf({ ranges }: Values): NumberedNames {
  return numberedNames(ranges.length / 2, "");
}

/** The directory of values that a value is in. */
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
