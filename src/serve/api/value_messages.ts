/**
 * Decoded values as the server's API answers them, for display: bounded in size whatever the values are.
 */

/** Encodings of texts other than UTF-8, as `TextDecoder` calls them. */
export type OtherEncoding = "utf-16le" | "utf-16be" | "windows-1252";

/** A number as JSON can hold it: those that it has not are `"NaN"`, `"Infinity"`, `"-Infinity"`, `"-0"`, or digits. */
export type DisplayNumber = number | boolean | string | null;

/**
 * A decoded value as JSON: plain values stand for themselves, and maps with string keys for objects. What JSON
 * has not, or is too much, is an object with the one key `$` and further ones with what it holds.
 */
export type Display =
  | null
  | boolean
  | number
  | string
  | readonly Display[]
  | { readonly [key: string]: Display };

/** What stands in a {@linkcode Display} for what JSON has not; told by `$`, a key that others get doubled (`$$`). */
export type DisplayMarker =
  | { readonly $: "integer"; readonly digits: string }
  | {
    readonly $: "float";
    readonly text: "NaN" | "Infinity" | "-Infinity" | "-0";
  }
  | { readonly $: "bytes"; readonly size: number; readonly base64: string }
  | {
    readonly $: "array";
    readonly shape: readonly number[];
    readonly dtype: string;
    readonly data: readonly DisplayNumber[];
  }
  | { readonly $: "map"; readonly pairs: readonly (readonly Display[])[] }
  /** An object with keys that come again, or in an order that JavaScript would change: each is a text, or a cut one. */
  | { readonly $: "object"; readonly pairs: readonly (readonly Display[])[] }
  /** A cut list or object, text or integer: the part that is shown, and how many entries or characters there are. */
  | { readonly $: "cut"; readonly shown: Display; readonly length: number }
  /** A list or object that this one is in. */
  | { readonly $: "deep" }
  /** What has a type and is none of these, such as an extension of MessagePack, whose bytes are its `content`. */
  | {
    readonly $: "other";
    readonly type: string;
    readonly text: string;
    readonly content?: Display;
  };

/**
 * `GET api/value?path=&offset=&as=&most=&part=&skip=`: `offset` is where a page starts: a byte of text or bytes, a row of a table;
 * `as=bytes` or `as=text` shows it as that, whatever it is; `most` is how many numbers of an array are shown.
 * `part` shows one value of a tree: `0.12` is entry 12 of entry 0 (`0.k12`: its key). `skip` leaves out so many of its
 * entries, characters of a text, bytes, or numbers of an array: each part that is cut goes on where it was cut.
 */
export type ValueMessage =
  | ArrayValue
  | ArrayPart
  | ArraysValue
  | TreeValue
  | TableValue
  | SvgValue
  | TextValue
  | BytesValue;

/** An array of numbers. */
export interface ArrayValue {
  readonly kind: "array";
  readonly shape: readonly number[];
  /** NumPy's name, such as `float32`. */
  readonly dtype: string;
  /** The shape of `data`: as `shape`, with rows and columns left out where there are too many. */
  readonly shownShape: readonly number[];
  /** In C order; at most 65,536 numbers. */
  readonly data: readonly DisplayNumber[];
  /** Which steps `shownShape` goes in, by axis: 1 where all are shown. */
  readonly steps: readonly number[];
  /** Over all elements that are numbers; `null` where there is none. Of complex numbers and others: `null`. */
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  /** Elements that are NaN or infinite. */
  readonly notFinite: number;
  /** Equal bins between min and max: one more edge than counts. */
  readonly histogram: {
    readonly edges: readonly number[];
    readonly counts: readonly number[];
  } | null;
  /** How many elements the four above are of: fewer than all of very large arrays, evenly chosen. */
  readonly counted: number;
}

/** A run of an array's numbers. */
export interface ArrayPart {
  readonly kind: "array-part";
  /** The first one, counted in C order. */
  readonly start: number;
  /** What `base64` has: numbers in the byte order of almost all machines, the least first; at most 4 MiB. */
  readonly type: "uint8" | "float32" | "float64";
  readonly base64: string;
}

/** Arrays by name, of an `.npz`. */
export interface ArraysValue {
  readonly kind: "arrays";
  readonly arrays: readonly {
    readonly name: string;
    readonly array: ArrayValue;
  }[];
  /** How many there are. */
  readonly length: number;
}

/** JSON, MessagePack, a pickle of plain data. */
export interface TreeValue {
  readonly kind: "tree";
  /** `json`, `msgpack`, `pickle`, or the container's type. */
  readonly type: string;
  readonly value: Display;
  /** Whether something was left out of it. */
  readonly isCut: boolean;
  /** What its text is in, unless that is UTF-8. */
  readonly encoding?: OtherEncoding;
}

/** CSV, TSV: rows as text. */
export interface TableValue {
  readonly kind: "table";
  /** What the file is in, unless that is UTF-8. */
  readonly encoding?: OtherEncoding;
  /** The first line. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The offset of the first row that is shown: 0 for the line behind the first. */
  readonly start: number;
  /** Whether there are more rows behind these: ask with `offset=start + rows.length`. */
  readonly hasMore: boolean;
}

/** SVG that is drawn in bounded time, from its file. */
export interface SvgValue {
  readonly kind: "svg";
}

/** Text. */
export interface TextValue {
  readonly kind: "text";
  /** What the page is in, unless that is UTF-8; of UTF-16, the file's first bytes say it. */
  readonly encoding?: OtherEncoding;
  readonly text: string;
  /** The byte that it starts at. */
  readonly start: number;
  /** The byte behind it, which a further page starts at. */
  readonly end: number;
  readonly size: number;
  /** Whether it was left off before the end of the file. */
  readonly isCut: boolean;
  /** As of {@linkcode BytesValue}. */
  readonly why: string | null;
}

/** Anything else. */
export interface BytesValue {
  readonly kind: "bytes";
  /** The bytes from `start`, at most 65,536 of them. */
  readonly base64: string;
  readonly start: number;
  readonly size: number;
  /** Why it is shown so, where something else was hoped for: it could not be decoded. */
  readonly why: string | null;
}
