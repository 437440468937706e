/**
 * Decoding of rows for decoder threads: fills in the cells of a message and encodes it as JSON.
 *
 * @module
 */
import type { NdArray } from "../../codecs/numpy/mod.ts";
import { displayNumbers, dtypeWord } from "../api/array_value.ts";
import {
  CELL,
  type DisplayLimits,
  entriesOf,
  type ShownTree,
  WHOLE,
} from "../api/display.ts";
import type {
  Cell,
  CellValue,
  EntryMessage,
  RowsMessage,
} from "../api/messages.ts";
import type { Display } from "../api/value_messages.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import { decoded } from "./decoded.ts";
import { shownJson } from "./json_display.ts";
import { shownTree } from "./shown_value.ts";

export interface CellContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: ValueType;
}

export interface UndecodedParts {
  /** Contents of cells, with their indices among all cells of the message. */
  readonly cells: readonly (CellContent & { readonly at: number })[];
  readonly meta: Uint8Array<ArrayBuffer> | undefined;
}

const encoder = new TextEncoder();

/** Returns a message as JSON with its parts decoded. Undecodable values are omitted; their own pages say why. */
export async function shownCells(
  message: EntryMessage | RowsMessage,
  { cells, meta }: UndecodedParts,
): Promise<Uint8Array<ArrayBuffer>> {
  const all = cellsOf(message);
  for (const { at, ...content } of cells) {
    all[at]!.value = await cellValueOf(content);
  }
  if (
    meta !== undefined && "view" in message && message.view?.kind === "clip"
  ) {
    const known = metaIn(meta, WHOLE);
    Object.assign(message.view, {
      meta: known?.value ?? null,
      framesPerSecond: rateIn(known?.value),
    });
  }
  return encoder.encode(JSON.stringify(message));
}

function cellsOf(
  message: EntryMessage | RowsMessage,
): { -readonly [Key in keyof Cell]: Cell[Key] }[] {
  if ("rows" in message) return message.rows.flatMap(({ cells }) => cells);
  return message.view?.kind === "datapoint" ? [...message.view.cells] : [];
}

/** Decodes a cell's value; `null` if it cannot be decoded. */
export async function cellValueOf(
  { bytes, type }: CellContent,
): Promise<CellValue | null> {
  try {
    if (type.kind !== "array") {
      const shown = await shownTree(bytes, type, CELL);
      return { kind: "tree", value: shown!.value };
    }
    const array = (await decoded(bytes, type)) as NdArray;
    const { shape, dtype } = array;
    const isSmall = shape.reduce((a, b) => a * b, 1) <= CELL.numbers;
    const data = isSmall ? displayNumbers(array, CELL.numbers) : null;
    return { kind: "array", shape, dtype: dtypeWord(dtype), data };
  } catch {
    return null;
  }
}

export function metaIn(
  bytes: Uint8Array,
  limits: DisplayLimits,
): ShownTree | undefined {
  try {
    return shownJson(bytes, limits);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the frames per second from metadata with a usual key. */
function rateIn(known: Display | undefined): number | null {
  const [first] = Array.isArray(known) ? known : [known];
  const all = new Map(entriesOf(first ?? null));
  for (const key of ["fps", "frame_rate", "framerate", "frames_per_second"]) {
    const rate = Number(all.get(key));
    if (rate > 0 && rate <= 1000) return rate;
  }
  return null;
}
