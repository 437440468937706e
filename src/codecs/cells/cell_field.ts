/** Meaning of stored values, independent of their format. */
export type Meaning =
  | { readonly is: "text" | "json" | "boolean" | "half" }
  | { readonly is: "uuid" | "int96" | "null" }
  | {
    readonly is: "date";
    /** Digits of the fraction of a second, if days are stored as their start. */
    readonly digits?: number | undefined;
  }
  | {
    readonly is: "bytes";
    /** Bytes of a value, if all have the same size. */
    readonly length?: number | undefined;
  }
  | { readonly is: "float"; readonly bits: 32 | 64 }
  | {
    readonly is: "integer";
    readonly unsigned: boolean;
    /** Width that the file declares; stored values are not checked against it. */
    readonly bits: 8 | 16 | 32 | 64;
  }
  | { readonly is: "decimal"; readonly scale: number }
  /** @param digits Digits of the fraction of a second: 0, 3, 6 or 9. */
  | {
    readonly is: "time" | "timestamp";
    readonly digits: number;
    readonly utc: boolean;
  }
  | { readonly is: "duration"; readonly digits: number }
  /** Numbers of a NumPy type and shape, stored as their bytes in C order. */
  | {
    readonly is: "array";
    readonly dtype: string;
    readonly shape: readonly number[];
  }
  /** Groups of Parquet: a list or map has one repeated part. */
  | { readonly is: "group" | "list" | "map" }
  /** Values of its one part, stored as an array. */
  | { readonly is: "items" }
  /** Key and value of a map, stored as a group of two. */
  | { readonly is: "pair" };

/** Column of a table or part of one, as plain data. */
export interface CellField {
  readonly name: string;
  /** Whether a value is there, may be null, or is a list of values. */
  readonly repetition: "REQUIRED" | "OPTIONAL" | "REPEATED";
  readonly meaning: Meaning;
  /** Fields of a group, whose stored values are an object by the parts' indices. */
  readonly parts: readonly CellField[];
}

const NESTED: readonly Meaning["is"][] = [
  "group",
  "list",
  "map",
  "items",
  "pair",
];

/** Whether a field's values have no parts. */
export function isLeaf({ meaning }: CellField): boolean {
  return !NESTED.includes(meaning.is);
}

/** Parts of an image or audio column by Hugging Face's `datasets`: the bytes, and the original path. */
export interface Media {
  /** Index of the part with the bytes. */
  readonly bytes: number;
  /** Index of the part with the path. */
  readonly path: number;
}

/** Returns the parts of a `{bytes, path}` column. */
export function mediaOf(
  { parts, repetition, meaning }: CellField,
): Media | undefined {
  if (parts.length !== 2 || repetition === "REPEATED") return undefined;
  if (meaning.is !== "group") return undefined;
  const bytes = parts.findIndex(({ name, meaning, repetition }) =>
    name === "bytes" && meaning.is === "bytes" &&
    meaning.length === undefined && repetition !== "REPEATED"
  );
  const path = parts.findIndex(({ name, meaning, repetition }) =>
    name === "path" && meaning.is === "text" && repetition !== "REPEATED"
  );
  return bytes < 0 || path < 0 ? undefined : { bytes, path };
}
