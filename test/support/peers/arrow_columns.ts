// deno-lint-ignore-file camelcase -- names of columns
/** Classes of the values of PyArrow's columns after conversion to other containers. */

/** Class of a column's values in each package. */
export interface ColumnClasses {
  /** In Streaming. */
  readonly mds: string;
  /** In granular. */
  readonly bags: string;
  /** In webdataset; with the suffix that is appended to the column's name. */
  readonly tar: readonly [suffix: string, kind: string];
  /** List kind of a TensorFlow feature; `json` for JSON in its bytes. */
  readonly example: "int64_list" | "float_list" | "bytes_list" | "json";
}

const same = (
  kind: string,
  suffix: string,
  example: ColumnClasses["example"],
): ColumnClasses => ({
  mds: kind,
  bags: kind,
  tar: [suffix, kind],
  example,
});
const whole = (mds: string) => ({ ...same("int", ".cls", "int64_list"), mds });
const real = (mds: string) => ({
  ...same("float", ".json", "float_list"),
  mds,
});
const TEXT = same("str", ".txt", "bytes_list");
const BLOB = same("bytes", "", "bytes_list");
const list = (example: ColumnClasses["example"]) =>
  same("list", ".json", example);
const wholes = (dtype: string) => same(`array ${dtype}`, ".npy", "int64_list");
const reals = (dtype: string) => same(`array ${dtype}`, ".npy", "float_list");

/** Columns of `full.parquet`. */
export const FULL_COLUMNS: Readonly<Record<string, ColumnClasses>> = {
  bool: same("bool", ".json", "int64_list"),
  int8: whole("|i1"),
  int16: whole("<i2"),
  int32: whole("<i4"),
  int64: whole("int"),
  uint8: whole("|u1"),
  uint16: whole("<u2"),
  uint32: whole("<u4"),
  uint64: whole("<u8"),
  half: real("<f2"),
  float: real("<f4"),
  double: real("<f8"),
  text: { ...TEXT, tar: ["", "str"] },
  large_text: TEXT,
  text_view: TEXT,
  blob: BLOB,
  blob_view: BLOB,
  fixed: BLOB,
  decimal9: TEXT,
  decimal18: TEXT,
  decimal38: TEXT,
  decimal76: TEXT,
  date: TEXT,
  time_ms: TEXT,
  time_us: TEXT,
  stamp_s: TEXT,
  stamp_ms: TEXT,
  stamp_us: TEXT,
  stamp_ns: TEXT,
  uuid: TEXT,
  words: TEXT,
  codes: whole("int"),
  ints: wholes("<i4"),
  bytes: wholes("|u1"),
  longs: wholes("<i8"),
  some_longs: list("int64_list"),
  halves: reals("<f2"),
  floats: reals("<f4"),
  some_floats: list("float_list"),
  bools: list("int64_list"),
  texts: list("json"),
  lists: list("json"),
  decimals: list("json"),
  dates: list("json"),
  stamps: list("json"),
  struct: same("dict", ".json", "json"),
  deep: list("json"),
  map: list("json"),
  "a/b": whole("<i4"),
  "Größe": whole("<i4"),
};
