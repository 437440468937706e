import {
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";
import { TypeClass } from "../layout.ts";
import type { Metadata } from "../read/library.ts";

/** Elements that NumPy has a type for. */
export interface ElementType {
  /** NumPy's name. */
  readonly dtype: string;
  /** Dimensions of an element, if its type is an array. */
  readonly shape: readonly number[];
}

/** Returns the NumPy type of elements, as the library reads them; `undefined` if there is none. */
export function elementType(type: Metadata): ElementType | undefined {
  const { size, vlen } = type;
  const plain = (kind: string, isSwapped = false) => ({
    dtype: `${
      size === 1 || kind === "S" || kind === "V" ? "|" : isSwapped ? ">" : "<"
    }${kind}${size}`,
    shape: [],
  });
  const integer = type.signed ? "i" : "u";
  switch (type.type) {
    case TypeClass.INTEGER:
      return isOneOf(size, 1, 2, 4, 8) ? plain(integer) : undefined;
    case TypeClass.BITFIELD:
      return isOneOf(size, 1, 2, 4, 8) ? plain("u") : undefined;
    case TypeClass.FLOAT:
      return isOneOf(size, 2, 4, 8) ? plain("f") : undefined;
    case TypeClass.STRING:
      return vlen ? undefined : plain("S");
    case TypeClass.OPAQUE:
      return plain("V");
    case TypeClass.ENUM:
      if (isBoolean(type)) return plain("b");
      // The library leaves the byte order of enumerations.
      return isOneOf(size, 1, 2, 4, 8)
        ? plain(integer, !type.littleEndian)
        : undefined;
    case TypeClass.COMPOUND:
      return isComplex(type) ? plain("c") : undefined;
    case TypeClass.ARRAY: {
      const { array_type: base } = type;
      const element = base && elementType(base);
      // In arrays, the library converts them.
      const dtype = element?.dtype.replace(">", "<");
      return element &&
        { dtype: dtype!, shape: [...base!.shape!, ...element.shape] };
    }
    default:
      return undefined;
  }
}

/** Whether a type is the enumeration that h5py stores Booleans as. */
export function isBoolean({ size, enum_type: names }: Metadata): boolean {
  return size === 1 && names?.nmembers === 2 &&
    names.members["FALSE"] === 0 && names.members["TRUE"] === 1;
}

/** Whether a type is the compound that h5py stores complex numbers as. */
function isComplex({ size, compound_type: parts }: Metadata): boolean {
  const [real, imaginary] = parts?.members ?? [];
  return isOneOf(size, 8, 16) && parts!.nmembers === 2 &&
    [real!, imaginary!].every((part, i) =>
      part.type === TypeClass.FLOAT && part.size === size / 2 &&
      part.offset === i * size / 2
    ) && real!.name === "r" && imaginary!.name === "i";
}

function isOneOf(size: number, ...sizes: number[]): boolean {
  return sizes.includes(size);
}

/** Whether values are bytes of any length, such as encoded pictures. */
export function areBytes({ type, vlen_type: base }: Metadata): boolean {
  return type === TypeClass.VLEN && base?.type === TypeClass.INTEGER &&
    base.size === 1 && !base.signed;
}

/** Scalar types by NumPy's letter and size. */
const SCALARS: Readonly<Record<string, NonNullable<ValueType["scalar"]>>> = {
  ...{ b1: "bool", i1: "int8", i2: "int16", i4: "int32", i8: "int64" },
  ...{ u1: "uint8", u2: "uint16", u4: "uint32", u8: "uint64" },
  ...{ f2: "float16", f4: "float32", f8: "float64" },
};

/** Returns the type of one number of a NumPy type; `undefined` if that is none of JSON. */
export function scalarType(dtype: string): ValueType | undefined {
  const scalar = SCALARS[dtype.slice(1)];
  return scalar && valueType(scalar, VALUE_TYPES.number, { scalar });
}
