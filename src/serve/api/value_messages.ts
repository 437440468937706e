/** Decoded values in the server's API, for display. Their size is bounded, whatever the values are. */

/** Encodings other than UTF-8, by their `TextDecoder` names. */
export type OtherEncoding = "utf-16le" | "utf-16be" | "windows-1252";

/** JSON number; values without a JSON form are `"NaN"`, `"Infinity"`, `"-Infinity"`, `"-0"`, or digits. */
export type DisplayNumber = number | boolean | string | null;

/**
 * Decoded value as JSON. Plain values represent themselves; maps with string keys become objects. What JSON cannot
 * represent, and what is truncated, becomes a marker: an object with the key `$` and others for its contents.
 */
export type Display =
  | null
  | boolean
  | number
  | string
  | readonly Display[]
  | { readonly [key: string]: Display };

/** Marker for what JSON cannot represent, identified by the key `$`. Keys of data that begin with `$` get another. */
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
  /** An object whose keys repeat, or would be reordered by JavaScript. Each is a text or a truncated one. */
  | { readonly $: "object"; readonly pairs: readonly (readonly Display[])[] }
  /** A truncated list, object, text or integer: the part shown, and the total number of entries or characters. */
  | { readonly $: "cut"; readonly shown: Display; readonly length: number }
  /** A reference to an enclosing list or object. */
  | { readonly $: "deep" }
  /** Any other typed value, such as a MessagePack extension, whose bytes are its `content`. */
  | {
    readonly $: "other";
    readonly type: string;
    readonly text: string;
    readonly content?: Display;
  };

/**
 * `GET api/value?path=&offset=&as=&most=&part=&skip=`
 *
 * - `offset`: start of the page: a byte of text or bytes, a row of a table.
 * - `as=bytes` or `as=text`: shows the value as that, whatever its type.
 * - `most`: maximum number of an array's numbers.
 * - `part`: one value of a tree: `0.12` is entry 12 of entry 0 (`0.k12`: its key).
 * - `skip`: number of its entries, characters of a text, bytes, or numbers of an array to skip, to continue a truncated
 *   part.
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

export interface ArrayValue {
  readonly kind: "array";
  readonly shape: readonly number[];
  /** NumPy's name, such as `float32`. */
  readonly dtype: string;
  /** Shape of `data`: `shape` with rows and columns skipped if there are too many. */
  readonly shownShape: readonly number[];
  /** In C order; at most 65,536 numbers. */
  readonly data: readonly DisplayNumber[];
  /** Step of `shownShape` by axis; 1 if everything is shown. */
  readonly steps: readonly number[];
  /** Over all finite elements; `null` if there are none, or the type is complex or not numeric. */
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  /** Number of elements that are NaN or infinite. */
  readonly notFinite: number;
  /** Equal bins between min and max; there is one edge more than counts. */
  readonly histogram: {
    readonly edges: readonly number[];
    readonly counts: readonly number[];
  } | null;
  /** Number of elements in these statistics: very large arrays are sampled at a regular step. */
  readonly counted: number;
}

/** Range of an array's numbers. */
export interface ArrayPart {
  readonly kind: "array-part";
  /** Index of the first one, in C order. */
  readonly start: number;
  /** Type of the numbers in `base64`, at most 4 MiB in the machine's byte order: little-endian on almost all. */
  readonly type: "uint8" | "float32" | "float64";
  readonly base64: string;
}

export interface ArraysValue {
  readonly kind: "arrays";
  readonly arrays: readonly {
    readonly name: string;
    readonly array: ArrayValue;
  }[];
  /** Total number of arrays. */
  readonly length: number;
}

/** JSON, MessagePack, or a pickle of plain data. */
export interface TreeValue {
  readonly kind: "tree";
  /** `json`, `msgpack`, `pickle`, or the container's type. */
  readonly type: string;
  readonly value: Display;
  readonly isCut: boolean;
  /** Encoding of the text, unless UTF-8. */
  readonly encoding?: OtherEncoding;
}

/** CSV or TSV: rows as text. */
export interface TableValue {
  readonly kind: "table";
  /** Encoding of the file, unless UTF-8. */
  readonly encoding?: OtherEncoding;
  /** The first line. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Index of the first row shown: 0 is the line after the first. */
  readonly start: number;
  /** Whether more rows follow, at `offset=start + rows.length`. */
  readonly hasMore: boolean;
}

/** SVG that browsers draw in bounded time; the image is the file itself. */
export interface SvgValue {
  readonly kind: "svg";
}

export interface TextValue {
  readonly kind: "text";
  /** Encoding of the page, unless UTF-8. UTF-16 is detected from the file's first bytes. */
  readonly encoding?: OtherEncoding;
  readonly text: string;
  /** Byte offset of the page. */
  readonly start: number;
  /** Byte offset of the next page. */
  readonly end: number;
  readonly size: number;
  /** Whether it ends before the end of the file. */
  readonly isCut: boolean;
  /** As in {@linkcode BytesValue}. */
  readonly why: string | null;
}

export interface BytesValue {
  readonly kind: "bytes";
  /** Bytes from `start`, at most 65,536. */
  readonly base64: string;
  readonly start: number;
  readonly size: number;
  /** Reason why it was not decoded, if decoding was attempted. */
  readonly why: string | null;
}
