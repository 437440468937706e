/** What the content of a value is, whatever its type is called. */
export type ValueKind =
  | "array"
  | "bytes"
  | "image"
  | "number"
  | "text"
  | "tree"
  | "video";

/** Where any thread finds what decodes a value. */
export interface ValueDecoder {
  /** URL of a module that exports `decodeValue(bytes, ...args)`, which throws if the bytes are none of the type. */
  readonly module: string;
  /** Arguments that survive `postMessage`. */
  readonly args: readonly unknown[];
}

/**
 * How the bytes of a value are decoded: as what the word says, or by code of the format. A function cannot be called by
 * other threads, so that a server answers nobody else while it runs.
 */
export type ValueDecoding =
  | "bytes"
  | "float"
  | "image"
  | "integer"
  | "json"
  | "msgpack"
  | "npy"
  | "pickle"
  | "utf8"
  | ValueDecoder
  | ((bytes: Uint8Array<ArrayBuffer>) => unknown);

/** A type of values. Plain data, unless its decoding is a function. */
export interface ValueType {
  /** As the container calls it, such as `int64`. */
  readonly name: string;
  /** What its values are, whatever it is called. */
  readonly kind: ValueKind;
  /** What names of files of such values end in, such as `.npy`; empty where nothing tells. */
  readonly suffix: string;
  /** Bytes of the largest value that is decoded to be shown: a larger one would take too much memory. */
  readonly largest: number;
  /** How its values are decoded. */
  readonly decoding: ValueDecoding;
  /** What the numbers are, where its values are numbers or Booleans of one type; an `int` may be of any size. */
  readonly scalar?:
    | "bool"
    | "int"
    | "int8"
    | "int16"
    | "int32"
    | "int64"
    | "uint8"
    | "uint16"
    | "uint32"
    | "uint64"
    | "float16"
    | "float32"
    | "float64"
    | undefined;
  /** What the numbers are, where its values are lists of numbers of one type. */
  readonly elements?: ValueType["scalar"];
}

/** What numbers are in memory. */
export type ScalarType = NonNullable<ValueType["scalar"]>;

/** Bytes of the largest value that becomes any number of objects, and of the largest other one. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

/** The types of values that several formats have. */
export const VALUE_TYPES = {
  array: standard("array", "array", ".npy", "npy"),
  bytes: standard("bytes", "bytes", "", "bytes"),
  /** A float as text. */
  float: {
    ...standard("float", "number", ".txt", "float"),
    scalar: "float64",
  },
  /** A whole number as text. */
  integer: {
    ...standard("integer", "number", ".txt", "integer"),
    scalar: "int",
  },
  jpeg: standard("jpeg", "image", ".jpg", "image"),
  json: standard("json", "tree", ".json", "json"),
  msgpack: standard("msgpack", "tree", ".msgpack", "msgpack"),
  /** A number as JSON. */
  number: standard("number", "number", ".json", "json"),
  pickle: standard("pickle", "tree", ".pkl", "pickle"),
  png: standard("png", "image", ".png", "image"),
  text: standard("text", "text", ".txt", "utf8"),
} satisfies Readonly<Record<string, ValueType>>;

/** A picture or video that is not decoded here. */
const OTHER_PICTURE = standard("picture", "image", "", "bytes");
const VIDEO = standard("video", "video", "", "bytes");

/** Types of files by the last extension of their names: those of WebDataset, and others that are usual. */
const BY_EXTENSION: Readonly<Record<string, ValueType>> = {
  __proto__: null as never, // extensions are any words
  ...all(VALUE_TYPES.integer, "cls cls2 index inx id"),
  ...all(VALUE_TYPES.text, "txt text transcript"),
  ...all(VALUE_TYPES.json, "json jsn"),
  ...all(VALUE_TYPES.array, "npy"),
  ...all(VALUE_TYPES.msgpack, "msgpack"),
  ...all(VALUE_TYPES.pickle, "pkl pickle"),
  ...all(VALUE_TYPES.jpeg, "jpg jpeg"),
  ...all(VALUE_TYPES.png, "png"),
  ...all(OTHER_PICTURE, "avif bmp gif webp"),
  ...all(VIDEO, "m4v mov mp4 webm"),
};

/** Extensions that tell what a file is. */
export const EXTENSIONS: readonly string[] = Object.keys(BY_EXTENSION);

/**
 * Makes a type of a format: as one of the table but for its name, and what else is its own.
 *
 * @param name As the container calls it.
 */
export function valueType(
  name: string,
  like: ValueType,
  own: Partial<Omit<ValueType, "name">> = {},
): ValueType {
  return { ...like, ...own, name };
}

/** The type of a file by its name, or an extension; bytes where the name does not tell. */
export function typeOfExtension(name: string): ValueType {
  const word = extensionIn(name);
  return BY_EXTENSION[word] ?? valueType(word, VALUE_TYPES.bytes);
}

/** The last extension of a name, in small letters; the name itself if it has none. */
export function extensionIn(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

function standard(
  name: string,
  kind: ValueKind,
  suffix: string,
  decoding: ValueDecoding,
): ValueType {
  const largest = kind === "tree" ? LARGEST_TREE : LARGEST;
  return { name, kind, suffix, largest, decoding };
}

function all(type: ValueType, words: string): Record<string, ValueType> {
  return Object.fromEntries(
    words.split(" ").map((
      word,
    ) => [word, valueType(word, type, { suffix: `.${word}` })]),
  );
}
