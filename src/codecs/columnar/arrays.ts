import { PACKAGES } from "../../base/packages.ts";
import type { Numbers } from "./numbers.ts";

/** Values of an array, decoded when they are asked for. Those of parts of structures are by the parts' indices. */
export interface ArrayValues {
  readonly length: number;
  at(index: number): unknown;
}

/** What an array consists of. Nothing of it is checked again. */
interface ArrayParts {
  readonly length: number;
  readonly nullCount: number;
  readonly validity?: Uint8Array | undefined;
  readonly type: {
    /** Bytes or items of a value. */
    readonly stride?: number;
    readonly bitWidth?: number;
    readonly scale?: number;
    /** Parts of structures. */
    readonly children?: readonly { readonly name: string }[];
  };
  readonly values?: Numbers | Uint8Array;
  readonly offsets?: Int32Array;
  /** Buffers to which views refer. */
  readonly data?: readonly Uint8Array[];
  readonly children?: readonly ArrayValues[];
}

type ArrayClass = new (parts: ArrayParts) => ArrayValues;

/** Classes of `@uwdata/flechette` that decode arrays. */
export type ArrayClasses = Readonly<
  Record<
    | "BinaryBatch"
    | "BinaryViewBatch"
    | "BoolBatch"
    | "DecimalBigIntBatch"
    | "DirectBatch"
    | "FixedBinaryBatch"
    | "FixedListBatch"
    | "ListBatch"
    | "NullBatch"
    | "StructBatch",
    ArrayClass
  >
>;

let loaded: ArrayClasses | undefined;

/** Loads the package that decodes arrays. */
export async function loadArrays(): Promise<ArrayClasses> {
  return loaded ??= await import(`${PACKAGES.flechette}/src/batch.js`);
}

/** Returns what {@linkcode loadArrays} has loaded; `undefined` before. */
export function loadedArrays(): ArrayClasses | undefined {
  return loaded;
}
