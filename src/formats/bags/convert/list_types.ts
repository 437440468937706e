import {
  MsgpackWriter,
  writeMsgpack,
} from "../../../codecs/msgpack/write_msgpack.ts";
import type { Generation } from "../dataset/generation.ts";
import type { ValueType } from "../dataset/spec.ts";
import { decodeArrayValue } from "../types/array.ts";
import { intDecoder, intOptionsOf } from "../types/int.ts";
import { decodeUtf8 } from "../types/text.ts";
import { encodeTree } from "../types/tree.ts";
import { UnfitError } from "../../../convert/conversion.ts";
import type { Raw } from "./value_types.ts";

/** How a list becomes one value, for generation 3, which has no lists. */
export interface ListChange {
  /** The type of that value: one of granular's. */
  readonly word: "msgpack" | "tree";
  /** Makes it. */
  join(records: readonly Raw[]): Uint8Array;
  readonly note: string;
}

/**
 * How the lists of a type become single values: granular's decoders make lists of equal values of
 * them. Values that are media, or of the user's own types, stay encoded in the list.
 *
 * @param from The generation they were written in.
 */
export function joinLists(
  { word, name, args }: ValueType,
  from: Generation,
): ListChange {
  const becomes = (word_: string, what: string) =>
    `${word}[] becomes ${word_}, a list of ${what}: generation 3 has no lists`;
  const packed = (
    what: string,
    value: (bytes: Raw) => unknown,
  ): ListChange => ({
    word: "msgpack",
    join: (records) =>
      writeMsgpack(records.map((bytes) => value(bytes)) as never),
    note: becomes("msgpack", what),
  });
  switch (args.length > 0 && !["int", "array"].includes(name) ? "" : name) {
    case "utf8":
      return packed("texts", decodeUtf8);
    case "int":
      return packed("numbers", numbers(intDecoder(intOptionsOf(from)), args));
    case "i64":
      return packed("numbers", intDecoder({ size: 8, signed: true }, "i64"));
    case "u64":
      return packed("numbers", intDecoder({ size: 8 }, "u64"));
    case "bytes":
      return packed("bytes", (bytes) => bytes);
    case "array":
      return {
        word: "tree",
        join: (records) =>
          encodeTree(records.map((bytes) => decodeArrayValue(bytes, ...args))),
        note: becomes("tree", "arrays"),
      };
    case "msgpack":
      return {
        word: "msgpack",
        join: joinPacked,
        note: becomes(name, "values"),
      };
    case "tree":
    case "arraytree":
      if (name === "arraytree" && from !== 1) break; // a type of the user's own
      return { word: "tree", join: joinTrees, note: becomes("tree", "values") };
  }
  return packed(`bytes, each of type ${word}`, (bytes) => bytes);
}

function numbers(
  decode: (bytes: Raw, ...args: string[]) => number | bigint,
  args: readonly string[],
): (bytes: Raw) => number | bigint {
  return (bytes) => {
    const number = BigInt(decode(bytes, ...args));
    if (number >= -(2n ** 63n) && number < 2n ** 64n) return number;
    throw new UnfitError(`has the number ${number}, and msgpack 64 bits`);
  };
}

/** Packed values one after the other, behind the head of an array, are a packed list of them. */
function joinPacked(records: readonly Raw[]): Uint8Array {
  const writer = new MsgpackWriter();
  writer.listHead(records.length);
  for (const record of records) writer.output.raw(record);
  return writer.output.take();
}

/** A list of four that begins with "_" would be taken for an array. */
function joinTrees(records: readonly Raw[]): Uint8Array {
  const [first] = records;
  if (records.length === 4 && first!.length === 2 && first![1] === 0x5f) {
    throw new UnfitError('would be taken for an array: its first value is "_"');
  }
  return joinPacked(records);
}
