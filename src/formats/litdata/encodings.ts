import {
  typeOfExtension,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../codecs/values/value_type.ts";
import {
  type Encoding,
  type ScalarKind,
  scalarType,
} from "../../tree/field_shards/encoding.ts";
import { ARRAY_TYPES, TENSOR_TYPES } from "./layout.ts";

/** Types of values that are stored as they are shown, by their serializers (`_SERIALIZERS`). */
const STORED: Readonly<Record<string, ValueType>> = {
  __proto__: null as never, // serializers have any names
  str: VALUE_TYPES.text,
  text: VALUE_TYPES.text,
  jpeg: VALUE_TYPES.jpeg,
  pickle: VALUE_TYPES.pickle,
  pdf: { ...VALUE_TYPES.bytes, suffix: ".pdf" },
  tifffile: { ...VALUE_TYPES.bytes, suffix: ".tif" },
};

/** Serializers of files, whose names have their extensions. */
const FILES = /^(audio|file|image|mesh|nifti|video)$/;

const SCALARS: Readonly<Record<string, ScalarKind>> = {
  __proto__: null as never,
  bool: "Bool",
  boolean: "Bool",
  int: "BigInt64",
  float: "Float64",
};

const TYPES: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  numpy: ARRAY_TYPES,
  tensor: TENSOR_TYPES,
  ["no_header_numpy"]: ARRAY_TYPES,
  ["no_header_tensor"]: TENSOR_TYPES,
};

/**
 * Parses the name of a serializer, such as `int`, `no_header_tensor:17` or `video:mp4`. Values of serializers that are
 * not LitData's own are bytes.
 *
 * @param isRest Whether a value fills its sample.
 * @returns `undefined` if it names an element type that does not exist.
 */
export function encodingOf(
  word: string,
  isRest: boolean,
): Encoding | undefined {
  const [name = "", argument = ""] = word.split(":");
  const made = (like: ValueType, own: Partial<Encoding> = {}): Encoding => ({
    word,
    name,
    size: isRest ? "rest" : undefined,
    form: "stored",
    type: valueType(word, like),
    ...{ dtype: undefined, shape: undefined, list: undefined },
    ...own,
  });
  const scalar = SCALARS[name];
  if (scalar !== undefined) {
    const type = { ...VALUE_TYPES.number, scalar: scalarType(scalar) };
    return made(type, { form: "json", scalar });
  }
  const dtypes = TYPES[name];
  if (dtypes !== undefined) {
    const isBare = name.startsWith("no_header");
    const dtype = isBare ? dtypes[Number(argument || NaN)] : undefined;
    if (isBare && dtype === undefined) return undefined;
    const head = isBare ? "bare" : "words";
    return made(VALUE_TYPES.array, { form: "npy", head, dtype, dtypes });
  }
  if (name === "pil") {
    return made(VALUE_TYPES.array, { form: "npy", head: "pixels" });
  }
  if (name === "jpeg_array") {
    const element = encodingOf("jpeg", false)!;
    const list = { element, before: 0, mayBeEmpty: false };
    return made({ ...element.type, suffix: "" }, { list });
  }
  const stored = STORED[name];
  if (stored !== undefined) return made(stored);
  const isExtension = FILES.test(name) &&
    /^\w{1,10}(\.\w{1,10})?$/.test(argument);
  if (!isExtension) return made(VALUE_TYPES.bytes);
  const isShown = name === "image" || name === "video";
  const like = isShown ? typeOfExtension(argument) : VALUE_TYPES.bytes;
  return made({ ...like, suffix: `.${argument}` });
}
