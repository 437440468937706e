import {
  type MsgpackValue,
  writeMsgpack,
} from "../../../codecs/msgpack/mod.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import type { ValueType } from "../dataset/spec.ts";
import {
  decodeArrayValue,
  decodeHeaded,
  encodeArrayValue,
} from "../types/array.ts";
import { intDecoder, intEncoder, intOptionsOf } from "../types/int.ts";
import { decodeUtf8 } from "../types/text.ts";
import { UnfitError } from "../../../convert/conversion.ts";
import { MsgpackWriter } from "../../../codecs/msgpack/write_msgpack.ts";
import { encodeTree } from "../../../codecs/values/array_tree.ts";

export type Raw = Uint8Array<ArrayBuffer>;

/** Conversion of a type's values to another generation. */
interface WordChange {
  readonly word: string;
  /** Converts the bytes, which otherwise stay unchanged. */
  readonly recode?: ((bytes: Raw) => Uint8Array) | undefined;
  /** Description of the change, to follow the key's name; omitted if there is nothing to mention. */
  readonly note?: string | undefined;
}

/** Largest `int` that readers accept (granular's `decode_int`). */
const MOST_INT_BYTES = 16;

const SIGNED = intEncoder(intOptionsOf(3));
const U64 = { size: 8, signed: false } as const;

/** Types whose empty values msgpack can express. */
const PACKED: Record<string, (bytes: Raw) => MsgpackValue> = {
  utf8: decodeUtf8,
  bytes: (bytes) => bytes,
};

/** Types of bags that granular ships under another name, or without arguments. */
const MEDIA = ["jpeg", "jpg", "png", "mp4", "webm"];

/** Returns the conversion of values, some of them empty, to a generation without empty records, if there is one. */
export function packWord({ word }: ValueType): WordChange | undefined {
  if (!Object.hasOwn(PACKED, word)) return undefined;
  return {
    word: "msgpack",
    recode: (bytes) => writeMsgpack(PACKED[word]!(bytes)),
    note: `${word} becomes msgpack, since some values are empty`,
  };
}

/**
 * Returns the conversion of a type's values between generations, such that the target's original decoders return equal
 * values. Custom types keep word and bytes.
 */
export function changeWord(
  { word, name, args }: ValueType,
  from: Generation,
  to: Generation,
): WordChange {
  if (from === to || from !== 1 && to !== 1) return { word };
  if (to === 1) return toFirst(word);
  if (name === "int") return intFromFirst(word, args, to);
  if (name === "array" && args.length > 0) {
    return {
      word: "array",
      recode: (bytes) => encodeArrayValue(decodeArrayValue(bytes, ...args)),
      note:
        `${word} becomes array: each value stores its element type and shape`,
    };
  }
  if (word === "array") {
    const recode = (bytes: Raw) => {
      const headed = decodeHeaded(bytes);
      return headed === undefined ? bytes : encodeArrayValue(headed);
    };
    return { word, recode };
  }
  if (word === "arraytree") {
    return { word: "tree", note: `${word} becomes tree: the bytes are kept` };
  }
  if (MEDIA.includes(name)) {
    const media = name === "jpeg" ? "jpg" : name;
    return media === word
      ? { word }
      : { word: media, note: `${word} becomes ${media}: the bytes are kept` };
  }
  return args.length === 0 ? { word } : {
    word,
    note:
      `granular reads '${word}' as one word: give it a decoder of that name`,
  };
}

/** Returns the conversion to generation 1, whose `int` is unsigned in bags, and signed in granular 0.17 to 0.19. */
function toFirst(word: string): WordChange {
  switch (word) {
    case "int": {
      const decode = intDecoder(intOptionsOf(3));
      const recode = (bytes: Raw) => {
        if (decode(bytes) >= 0) return bytes;
        throw new UnfitError("is below 0, and int is unsigned in generation 1");
      };
      return { word, recode };
    }
    case "u64": {
      const decode = intDecoder(U64, "u64");
      return {
        word: "int",
        recode: (bytes) => SIGNED(decode(bytes)), // reads the same signed and unsigned
        note: "u64 becomes int, since generation 1 has no u64",
      };
    }
    case "i64":
      return {
        word,
        note:
          "generation 1 has no decoder for i64: provide one; the bytes are kept",
      };
    default:
      return { word };
  }
}

function intFromFirst(
  word: string,
  args: readonly string[],
  to: Generation,
): WordChange {
  const decode = intDecoder(intOptionsOf(1));
  if (args.length > 0 && Number(args[0]) === U64.size) {
    const encode = intEncoder(U64, "u64");
    return {
      word: "u64",
      recode: (bytes) => encode(decode(bytes, ...args)),
      note: `${word} becomes u64`,
    };
  }
  const signs = `signed, as in generation ${to}`;
  return {
    word: "int",
    recode(bytes) {
      const encoded = SIGNED(decode(bytes, ...args));
      if (encoded.length <= MOST_INT_BYTES) return encoded;
      throw new UnfitError(
        `takes ${encoded.length} bytes, and int has at most ${MOST_INT_BYTES}`,
      );
    },
    note: args.length === 0
      ? `numbers are written ${signs}`
      : `${word} becomes int: numbers take only the bytes that they need, ${signs}`,
  };
}

/** Conversion of a list to a single value, for generation 3, which has no lists. */
interface ListChange {
  readonly word: "msgpack" | "tree";
  join(records: readonly Raw[]): Uint8Array;
  readonly note: string;
}

/**
 * Returns the conversion of a type's lists to single values, which granular's decoders turn into equal lists. Media,
 * and values of custom types, stay encoded in the list.
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
      if (name === "arraytree" && from !== 1) break; // a custom type
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
    throw new UnfitError(
      `has the number ${number}, which exceeds the 64 bits of msgpack`,
    );
  };
}

/** Concatenates packed values after the head of an array, which makes a packed list of them. */
function joinPacked(records: readonly Raw[]): Uint8Array {
  const writer = new MsgpackWriter();
  writer.listHead(records.length);
  for (const record of records) writer.raw(record);
  return writer.take();
}

/** Joins trees. Rejects a list of four that starts with "_", which would be taken for an array. */
function joinTrees(records: readonly Raw[]): Uint8Array {
  const [first] = records;
  if (records.length === 4 && first!.length === 2 && first![1] === 0x5f) {
    throw new UnfitError('would be read as an array: its first value is "_"');
  }
  return joinPacked(records);
}
