/** The files that h5py wrote, and the values that it reads from them. */
import { crc32 } from "node:zlib";
import assert from "node:assert/strict";
import { goldenSet } from "../golden.ts";

/** An array: NumPy's type, shape, and the CRC-32 of its elements in C order. */
export interface ExpectedArray {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly crc32: number;
}

/** `expect.json` of one case. */
export interface Hdf5Case {
  readonly name: string;
  readonly path: string;
  readonly valid?: boolean;
  readonly files: Readonly<
    Record<
      string,
      ExpectedArray | { readonly json: unknown } | { readonly text: string }
    >
  >;
  readonly links?: Readonly<Record<string, string>>;
  readonly skipped?: readonly string[];
  readonly unreadable?: Readonly<Record<string, string>>;
  /** Values of each field, row by row. 64-bit integers beyond 2^53 are text. */
  readonly rows?: Readonly<Record<string, readonly unknown[]>>;
}

/** `NUMPY`. */
const MAGIC = [0x4e, 0x55, 0x4d, 0x50, 0x59];

const set = goldenSet<Hdf5Case>("hdf5");
/** Every index, filter and kind of metadata: of the format alone, and not of what all formats do. */
const forms = goldenSet<Hdf5Case>("hdf5_forms");

export const hdf5Case = (name: string): Hdf5Case => set.one(name);
export const hdf5Cases = (): Hdf5Case[] => [...set.all(), ...forms.all()];

/** Describes an `.npy` file as `expect.json` does. */
export function arrayIn(npy: Uint8Array): ExpectedArray {
  const { dtype, shape, elements } = parseNpy(npy);
  return { dtype, shape, crc32: crc32(elements) };
}

/** Reads the header of an `.npy` file by the format's description, independently of the product's reader. */
function parseNpy(npy: Uint8Array): {
  dtype: string;
  shape: number[];
  elements: Uint8Array;
} {
  assert.deepEqual([...npy.subarray(0, 8)], [0x93, ...MAGIC, 1, 0]);
  const start = 10 +
    new DataView(npy.buffer, npy.byteOffset).getUint16(8, true);
  const head = new TextDecoder().decode(npy.subarray(10, start));
  const [, dtype, shape] =
    /^\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n$/
      .exec(head)!;
  const lengths = shape!.split(",").map((part) => part.trim()).filter(Boolean);
  return {
    dtype: dtype!,
    shape: lengths.map(Number),
    elements: npy.subarray(start),
  };
}
