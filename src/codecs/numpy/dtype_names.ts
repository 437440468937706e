import { NumpyError } from "./numpy_error.ts";

/** NumPy's words for element types, as `numpy.dtype(word)` takes them. */
const WORDS: Record<string, string> = {
  bool: "|b1",
  bool_: "|b1",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  int: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
  uint: "<u8",
  float16: "<f2",
  half: "<f2",
  float32: "<f4",
  single: "<f4",
  float64: "<f8",
  double: "<f8",
  float: "<f8",
  complex64: "<c8",
  complex128: "<c16",
  complex: "<c16",
};

/** One letter and a size, with the byte order before it or not. */
const SHORT_FORM = /^([<>=|]?)([a-zA-Z]\d{1,9}|\?)((?:\[\w+\])?)$/;

/** Dates, with their unit. */
const DATE = /^(datetime|timedelta)64(\[\w+\])$/;

/**
 * NumPy's `dtype.str` of an element type that is named by a word, such as `float32`, or in short,
 * such as `f4` or `>f4`. Words of the platform's own size are those of 64-bit Linux.
 *
 * @throws {NumpyError} If there is no such word here.
 */
export function dtypeFromName(name: string): string {
  if (Object.hasOwn(WORDS, name)) return WORDS[name]!;
  const date = DATE.exec(name);
  if (date !== null) {
    return `<${date[1] === "datetime" ? "M8" : "m8"}${date[2]}`;
  }
  const short = SHORT_FORM.exec(name);
  if (short === null) {
    throw new NumpyError(
      "unsupported-dtype",
      `'${
        name.slice(0, 80)
      }' is no element type that is read here: give one of NumPy's, such as ` +
        "float32, uint8 or >i4",
    );
  }
  const [, order, kind, unit] = short;
  if (kind === "?") return "|b1";
  const isSingle = kind!.slice(1) === "1" && kind![0] !== "U" ||
    /^[SV]/.test(kind!);
  return `${isSingle ? "|" : order === ">" ? ">" : "<"}${kind}${unit}`;
}
