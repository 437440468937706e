import { JoinedDictionary } from "../../../codecs/columnar/dictionary.ts";
import type { ReadArray } from "../../../codecs/columnar/read_array.ts";
import type { ArrowField } from "../../../codecs/columnar/schema.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { LoadingCache } from "../../../io/block_cache/loading_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import {
  type ColumnPlace,
  type DecodedPart,
  GroupedCells,
  MOST_PARTS,
  type Part,
} from "../../../tree/rows/grouped_cells.ts";
import {
  type ColumnBatch,
  columnBatch,
  PART,
  readColumn,
} from "../../../tree/rows/column_batch.ts";
import type { RowFile } from "../../../tree/rows/row_format.ts";
import { Kind } from "../layout.ts";
import { batchOf, metadataIn } from "./messages.ts";
import { type ArrowIndex, Block } from "./open_index.ts";

/** Data with which another thread reopens a file. */
export interface ArrowFile extends ArrowIndex, RowFile {
  readonly columns: ArrowIndex["columns"];
}

/** Maximum bytes of dictionaries and of batches' metadata cached. */
const MOST_DICTIONARIES = 64 << 20;
const MOST_METADATA = 32 << 20;
/** Maximum rows decoded together. */
const MOST_ROWS = 1 << 20;
/** Approximate bytes of an array without values. */
const ARRAY = 1000;

/** Decodes cells by columns of batches: small and compressed ones as a whole, others in parts. */
export class ArrowCells extends GroupedCells<ArrowFile, ColumnBatch> {
  protected readonly groupName = "batch";
  readonly #batches = new LoadingCache<ColumnBatch>(MOST_METADATA);
  readonly #known = new LoadingCache<ReadArray, string>(MOST_DICTIONARIES);
  /** Numbers of fields that are stored by dictionaries, for cache keys. */
  readonly #fields = new Map<ArrowField, number>();

  protected loaded(place: ColumnPlace): ColumnBatch | undefined {
    return this.#batches.kept(this.keyOf(place) - place.column);
  }

  protected load(place: ColumnPlace): Steps<ColumnBatch> {
    const { file, group, column } = place;
    const { columns, firsts } = this.files[file]!;
    const rows = firsts[group + 1]! - firsts[group]!;
    const load = () => this.#load(file, group, columns);
    return this.#batches.load(this.keyOf(place) - column, function* () {
      const batch = yield* load();
      if (batch.length === rows) return [batch, ARRAY * batch.nodes.length];
      throw new CellFault(
        `has ${batch.length} rows, and not ${rows} as before`,
      );
    });
  }

  protected knownPart(
    state: ColumnBatch,
    { column }: ColumnPlace,
    row: number,
  ): Part {
    const { ranges: { length }, isWhole } = state.columns[column]!;
    const count = state.length;
    const share = length <= PART || isWhole ? 1 : PART / length;
    const most = Math.min(MOST_ROWS, Math.floor(count * share));
    const each = Math.max(1, Math.ceil(count / MOST_PARTS), most);
    const number = Math.floor(row / each);
    const from = number * each;
    return { number, from, to: Math.min(count, from + each) };
  }

  protected *decodePart(
    state: ColumnBatch,
    { file, group, column }: ColumnPlace,
    { from, to }: Part,
  ): Steps<DecodedPart> {
    const field = this.files[file]!.columns[column]!;
    const read = yield* readColumn(
      state,
      field,
      column,
      [from, to],
      (field) => this.#dictionary(file, group, field),
    );
    return { from, rows: read.values, weight: ARRAY + read.bytes };
  }

  protected prefetchPart(state: ColumnBatch, { column }: ColumnPlace): number {
    const { ranges: { start, end }, isWhole } = state.columns[column]!;
    const isNoted = isWhole && state.source.prefetch?.(start, end - start);
    return isNoted === true ? end - start : 0;
  }

  /** Returns the values of a field's dictionary as the batches before one leave them. */
  *#dictionary(
    file: number,
    before: number,
    of: ArrowField,
  ): Steps<JoinedDictionary> {
    const { blocks } = this.files[file]!;
    const { KIND, ID, IS_DELTA, FIELDS } = Block;
    const arrays: ReadArray[] = [];
    for (let group = before - 1; group >= 0; group--) {
      const at = group * FIELDS;
      const isOf = blocks[at + KIND] === Kind.DICTIONARY &&
        blocks[at + ID] === of.dictionary!.id;
      if (!isOf) continue;
      arrays.push(yield* this.#values(file, group, of));
      if (blocks[at + IS_DELTA] === 0) {
        return new JoinedDictionary(arrays.reverse(), of);
      }
    }
    throw new CellFault("has indices of a dictionary that does not precede it");
  }

  /** Reads the values of a batch of a dictionary. */
  #values(file: number, group: number, of: ArrowField): Steps<ReadArray> {
    const number = this.#fields.get(of) ?? this.#fields.size;
    this.#fields.set(of, number);
    const key = `${file} ${group} ${number}`;
    const field = { ...of, dictionary: undefined };
    const load = () => this.#load(file, group, [field]);
    const dictionaryOf = (inner: ArrowField) =>
      this.#dictionary(file, group, inner);
    return this.#known.load(key, function* () {
      const batch = yield* load();
      const range = [0, batch.length] as const;
      const made = yield* readColumn(batch, field, 0, range, dictionaryOf);
      return [made, ARRAY + made.bytes];
    });
  }

  *#load(
    file: number,
    group: number,
    fields: readonly ArrowField[],
  ): Steps<ColumnBatch> {
    const { blocks } = this.files[file]!;
    const [start, length, body, bodyLength] = blocks.subarray(
      group * Block.FIELDS,
    ) as unknown as [number, number, number, number];
    const source = yield* this.open(file);
    const bytes = yield* readPart(source, start, length);
    const batch = batchOf(metadataIn(source.name, bytes, start));
    if (batch === undefined) throw new CellFault("has no batch where one was");
    return columnBatch(source, batch, [body, bodyLength], fields);
  }
}
