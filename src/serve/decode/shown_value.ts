/**
 * Decoding of values for decoder threads: bytes in, API JSON out.
 *
 * @module
 */
import type { NdArray } from "../../codecs/numpy/mod.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import { arrayPart } from "../api/array_part.ts";
import { arrayValue } from "../api/array_value.ts";
import { type DisplayLimits, type ShownTree, WHOLE } from "../api/display.ts";
import type { Display } from "../api/value_messages.ts";
import { type TreePart, WHOLE_TREE } from "../api/tree_part.ts";
import type { TreeValue, ValueMessage } from "../api/value_messages.ts";
import { decoded } from "./decoded.ts";
import { shownJson } from "./json_display.ts";
import { shownMsgpack } from "./msgpack_display.ts";
import { shownObject } from "./object_display.ts";
import { encodingOf, inUtf8, named } from "./text_encoding.ts";

export type Coding =
  | { readonly kind: "svg" }
  /** An archive of arrays. */
  | { readonly kind: "arrays"; readonly most: number }
  | {
    readonly kind: "value";
    readonly type: ValueType;
    readonly most: number;
    readonly part: TreePart;
    /** First element, if part of an array is requested. */
    readonly from: number | undefined;
  }
  | {
    readonly kind: "table";
    readonly delimiter: string;
    readonly start: number;
    /** Whether the bytes are the whole file. */
    readonly isWhole: boolean;
    /** Whether the scan limit is reached. */
    readonly isLast: boolean;
  };

const encoder = new TextEncoder();

/** Returns the `api/value` response as JSON; empty if more bytes are needed or there is no such part. */
export async function shownValue(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Exclude<Coding, { kind: "arrays" }>,
): Promise<Uint8Array<ArrayBuffer>> {
  const message = await messageOf(bytes, coding);
  return encoder.encode(message === undefined ? "" : JSON.stringify(message));
}

async function messageOf(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Exclude<Coding, { kind: "arrays" }>,
): Promise<ValueMessage | undefined> {
  switch (coding.kind) {
    case "svg": {
      const { assertDrawable } = await import("./drawable_svg.ts");
      await assertDrawable(bytes);
      return { kind: "svg" };
    }
    case "table": {
      const { tablePage } = await import("./table_page.ts");
      return await tablePage(bytes, coding);
    }
  }
  const { type, most, part, from } = coding;
  if (type.kind === "array") {
    const array = await decoded(bytes, type) as NdArray;
    return from === undefined
      ? arrayValue(array, most)
      : arrayPart(array, from);
  }
  // JSON may be UTF-16 (RFC 4627). Any other encoding but UTF-8 is an error, and the value is shown as text.
  const isWide = type.decoding === "json" &&
    /^utf-16/.test(encodingOf(bytes) ?? "");
  const { bytes: text, encoding } = isWide
    ? inUtf8(bytes)
    : { bytes, encoding: "utf-8" } as const;
  const shown = await shownTree(text, type, WHOLE, part);
  if (shown === undefined) return undefined;
  const { value, isCut } = shown;
  return {
    kind: "tree",
    type: type.name,
    value,
    isCut,
    ...named(encoding),
  } satisfies TreeValue;
}

/** Converts a value to a tree; `undefined` without such a part. Of JSON and MessagePack, decodes only that. */
export async function shownTree(
  bytes: Uint8Array<ArrayBuffer>,
  type: ValueType,
  limits: DisplayLimits,
  part: TreePart = WHOLE_TREE,
): Promise<ShownTree | undefined> {
  const shown = await treeOf(bytes, type, limits, part);
  return shown && (type.scalar ?? type.elements) === "float32"
    ? { ...shown, value: shortFloats(shown.value) }
    : shown;
}

async function treeOf(
  bytes: Uint8Array<ArrayBuffer>,
  type: ValueType,
  limits: DisplayLimits,
  part: TreePart,
): Promise<ShownTree | undefined> {
  const { decoding } = type;
  if (decoding === "json") return shownJson(bytes, limits, part);
  if (decoding === "msgpack") return shownMsgpack(bytes, limits, part);
  return shownObject(await decoded(bytes, type), limits, part);
}

/** Significant digits that distinguish all float32. */
const MOST_DIGITS = 9;

/** Shortens numbers to the fewest digits that give the same float32, as NumPy shows them. */
function shortFloats(value: Display): Display {
  if (Array.isArray(value)) return value.map(shortFloats);
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  for (let digits = 1; digits < MOST_DIGITS; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return Number(value.toPrecision(MOST_DIGITS));
}
