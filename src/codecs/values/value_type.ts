/** Type of values. Plain data, unless its decoding is a function. */
export interface ValueType {
  /** Name in the container, such as `int64`. */
  readonly name: string;
  /** Kind of its values' content, independent of the type's name. */
  readonly kind:
    | "array"
    | "bytes"
    | "image"
    | "number"
    | "text"
    | "tree"
    | "video";
  /** Suffix of files of such values, such as `.npy`; empty if unknown. */
  readonly suffix: string;
  /** Limit, in bytes, of values decoded for display: larger ones would take too much memory. */
  readonly largest: number;
  /**
   * How a value's bytes are decoded: by the named codec, by a module that any thread can load, or by a function. A
   * function cannot run in another thread, so it blocks a server's other requests.
   */
  readonly decoding:
    | "bytes"
    | "float"
    | "image"
    | "integer"
    | "json"
    | "msgpack"
    | "npy"
    | "pickle"
    | "utf8"
    | {
      /** URL of a module that exports `decodeValue(bytes, ...args)`, which throws if the bytes are not of the type. */
      readonly module: string;
      /** Arguments that survive `postMessage`. */
      readonly args: readonly unknown[];
    }
    | ((bytes: Uint8Array<ArrayBuffer>) => unknown);
  /** Number type, if its values are numbers or Booleans of one type; an `int` may be of any size. */
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
  /** Number type of the items, if its values are lists of numbers of one type. */
  readonly elements?: ValueType["scalar"];
}

/** Kind of a value's content. */
export type ValueKind = ValueType["kind"];

/** How a value's bytes are decoded. */
export type ValueDecoding = ValueType["decoding"];

/** Type of numbers in memory. */
export type ScalarType = NonNullable<ValueType["scalar"]>;

/** Size limits of decoded values, in bytes: those that become many objects, and others. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

/** Types that several formats share. */
export const VALUE_TYPES = {
  array: standard("array", "array", ".npy", "npy"),
  bytes: standard("bytes", "bytes", "", "bytes"),
  float: {
    ...standard("float", "number", ".txt", "float"),
    scalar: "float64",
  },
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

/** Pictures without a type in any container; their suffix says which. */
const OTHER_PICTURE = standard("picture", "image", "", "image");
/** Pictures and videos that are not decoded here. */
const PICTURE_BYTES = standard("picture", "image", "", "bytes");
const VIDEO = standard("video", "video", "", "bytes");

/** Types of files by last extension: those of WebDataset, and other common ones. */
const BY_EXTENSION: Readonly<Record<string, ValueType>> = {
  __proto__: null as never, // extensions are arbitrary words
  ...all(VALUE_TYPES.integer, "cls cls2 index inx id"),
  ...all(VALUE_TYPES.text, "txt text transcript"),
  ...all(VALUE_TYPES.json, "json jsn"),
  ...all(VALUE_TYPES.array, "npy"),
  ...all(VALUE_TYPES.msgpack, "msgpack mp msg"),
  ...all(VALUE_TYPES.pickle, "pkl pickle"),
  ...all(VALUE_TYPES.jpeg, "jpg jpeg"),
  ...all(VALUE_TYPES.png, "png"),
  ...all(OTHER_PICTURE, "avif gif tif tiff webp"),
  ...all(PICTURE_BYTES, "bmp"),
  ...all(VIDEO, "m4v mov mp4 webm"),
};

export const EXTENSIONS: readonly string[] = Object.keys(BY_EXTENSION);

/** Derives a format's own type from a shared one; `name` is its name in the container. */
export function valueType(
  name: string,
  like: ValueType,
  own: Partial<Omit<ValueType, "name">> = {},
): ValueType {
  return { ...like, ...own, name };
}

/** Returns the type of a file by its name or extension; bytes if unknown. */
export function typeOfExtension(name: string): ValueType {
  const word = extensionIn(name);
  return BY_EXTENSION[word] ?? valueType(word, VALUE_TYPES.bytes);
}

/** Returns which of the two picture types that containers have a type is; `undefined` for others, such as WebP. */
export function jpegOrPng(
  { decoding, suffix }: ValueType,
): "jpeg" | "png" | undefined {
  if (decoding !== "image") return undefined;
  if (suffix === ".png") return "png";
  return /^(\.jpe?g)?$/.test(suffix) ? "jpeg" : undefined;
}

/** Last extension of a name, in lower case; the name itself if it has none. */
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
