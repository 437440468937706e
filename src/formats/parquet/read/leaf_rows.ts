import { cellError, CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { RowEntries, Values } from "../pages/decode_page.ts";
import type { Leaf } from "../values/schema.ts";
import { CellReader } from "./cells.ts";
import { chunkEntries, type RowRange } from "./decode_rows.ts";

/** Stored values of a row in a leaf, with their levels. */
export interface LeafEntries {
  /** Per value: the list level that it continues; empty outside lists. */
  readonly repetition: Uint8Array;
  /** Per value: how many optional and repeated groups above it are there, itself included; empty if all are required. */
  readonly definition: Uint8Array;
  /** Values that are not null. */
  readonly values: Values;
}

/** Whether a row has one value or null in a leaf, and no group above it may be null. */
export function isFlat(
  { maxDefinition, maxRepetition }: Pick<
    Leaf,
    "maxDefinition" | "maxRepetition"
  >,
): boolean {
  return maxRepetition === 0 && maxDefinition <= 1;
}

/** Reads rows as they are stored: by leaves, without assembling structures. */
export class LeafReader extends CellReader {
  /**
   * Reads rows of a row group.
   *
   * @param range Rows in the group.
   * @returns Per leaf: its rows, each a value or `null` in flat leaves, and otherwise {@linkcode LeafEntries}.
   * @throws {FormatError} If they are damaged.
   */
  *rows(file: number, group: number, range: RowRange): Steps<unknown[][]> {
    const { columns, path, firsts } = this.files[file]!;
    const leaves: unknown[][] = [];
    for (const [column, { name }] of columns.entries()) {
      try {
        const state = yield* this.load({ file, group, column });
        for (const chunk of state.chunks) {
          const { leaf } = chunk.decoder;
          const { entries } = yield* chunkEntries(
            ...[state, chunk, range, this.check] as const,
          );
          leaves.push(rowsOf(entries, leaf, range.to - range.from));
        }
      } catch (fault) {
        if (!(fault instanceof CellFault)) throw fault;
        const first = firsts[group]!;
        const which = [first + range.from, first + range.to] as const;
        throw cellError(fault, path, name, `row group ${group}`, which);
      }
    }
    return leaves;
  }
}

/** Divides the values of a leaf by rows. */
function rowsOf(
  { repetition, definition, values }: RowEntries,
  leaf: Leaf,
  count: number,
): unknown[] {
  const { maxDefinition } = leaf;
  const isAll = definition.length === 0;
  const total = isAll ? values.length : definition.length;
  const rows: unknown[] = [];
  for (let at = 0, value = 0; at < total;) {
    if (isFlat(leaf)) {
      const isThere = isAll || definition[at] === maxDefinition;
      rows.push(isThere ? values[value++] : null);
      at++;
      continue;
    }
    const [start, first] = [at, value];
    do {
      if (isAll || definition[at] === maxDefinition) value++;
      at++;
    } while (at < total && repetition[at]! > 0);
    const own: unknown[] = [];
    for (let i = first; i < value; i++) own.push(values[i]);
    const entries: LeafEntries = {
      repetition: repetition.subarray(start, at),
      definition: definition.subarray(start, at),
      values: own,
    };
    rows.push(entries);
  }
  if (rows.length === count) return rows;
  throw new CellFault(`has ${rows.length} values for ${count} rows`);
}
