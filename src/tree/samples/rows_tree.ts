import { decodeName } from "../../base/names.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import { type NodeView, valueView } from "../node_view.ts";
import { lastUpTo } from "../shared_numbers.ts";
import { type EntryVisitor, type NodeId, ROOT } from "../tree.ts";
import type { SampleKeys } from "../names/sample_keys.ts";
import { type FieldNames, fieldNames } from "./field_names.ts";
import { listNames, SampleTree } from "./sample_tree.ts";
import type { Field } from "./samples.ts";
import type { ShardTable } from "./shard_table.ts";

/**
 * Samples as directories whose files are their fields. All samples of a shard have the same number of fields.
 *
 * Node ids: those of {@linkcode SampleTree}; then all fields, sample by sample.
 *
 * @typeParam S Shards of samples.
 */
export abstract class RowsTree<S extends KnownFile> extends SampleTree<S> {
  readonly nodeCount: number;
  /** Field set by {@linkcode RowsTree.enterField}. */
  protected field = 0;
  /** Per shard: fields per sample. */
  readonly #fieldCounts: readonly number[];
  /** Per shard, plus one: node of its first field. */
  readonly #firstFields: Float64Array;
  /** Cached by field list, since samples with the same list share names. */
  readonly #names = new Map<readonly Field[], FieldNames>();

  constructor(
    table: ShardTable<S>,
    shards: readonly string[] | undefined,
    fieldsOf: (shard: S) => number,
    keysOf?: (shard: S) => SampleKeys | undefined,
  ) {
    super(table, shards, "", keysOf);
    this.#fieldCounts = table.shards.map(fieldsOf);
    this.#firstFields = new Float64Array(table.shards.length + 1);
    this.#firstFields[0] = this.firstSample + table.length;
    for (const [i, count] of this.#fieldCounts.entries()) {
      const fields = count * (table.firsts[i + 1]! - table.firsts[i]!);
      this.#firstFields[i + 1] = this.#firstFields[i]! + fields;
    }
    this.nodeCount = this.#firstFields.at(-1)! - 1;
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (!this.enterSample(parent)) {
      return super.lookup(parent, name, start, end);
    }
    const { byName } = this.namesOf(this.shard);
    const field = byName.get(decodeName(name, start, end));
    return field === undefined ? 0 : this.fieldNode(field);
  }

  override parent(node: NodeId): NodeId {
    return this.enterField(node)
      ? this.firstSample + this.sample
      : super.parent(node);
  }

  override isDirectory(node: NodeId): boolean {
    return Number.isInteger(node) && node >= ROOT &&
      node < this.#firstFields[0]!;
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (!this.enterSample(dir)) return super.list(dir, cursor, visit);
    const { bytes } = this.namesOf(this.shard);
    listNames(bytes, this.fieldNode(0), cursor, visit);
  }

  view(node: NodeId): NodeView | undefined {
    if (this.enterSample(node)) return { kind: "datapoint" };
    if (!this.enterField(node)) return undefined;
    const { name, type, isList } = this.fieldsOf(this.shard)[this.field]!;
    return valueView(type, { key: name, isList, isNull: this.nullOfField() });
  }

  /** Returns the fields of a shard's samples; must return the same list each time. May throw `NotLoaded`. */
  protected abstract fieldsOf(shard: number): readonly Field[];

  /** Returns the null test of the current field, if an empty file is not the test. */
  protected nullOfField(): (() => boolean) | undefined {
    return undefined;
  }

  protected namesOf(shard: number): FieldNames {
    const fields = this.fieldsOf(shard);
    let names = this.#names.get(fields);
    if (names === undefined) {
      names = fieldNames(fields);
      this.#names.set(fields, names);
    }
    return names;
  }

  /** Sets the current sample and field from a node; returns `false` if it is not a field. */
  protected enterField(node: NodeId): boolean {
    const firsts = this.#firstFields;
    const isField = Number.isInteger(node) && node >= firsts[0]! &&
      node <= this.nodeCount;
    if (!isField) return false;
    this.shard = lastUpTo(firsts, node, firsts.length - 1);
    const at = node - firsts[this.shard]!;
    const count = this.#fieldCounts[this.shard]!;
    this.number = Math.floor(at / count);
    this.field = at % count;
    this.sample = this.table.firsts[this.shard]! + this.number;
    return true;
  }

  protected fieldNode(field: number): NodeId {
    return this.#firstFields[this.shard]! +
      this.number * this.#fieldCounts[this.shard]! + field;
  }
}
