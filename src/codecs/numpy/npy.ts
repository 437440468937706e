import { viewOf } from "../../base/view_of.ts";
import { type NdArray, NumpyError } from "./nd_array.ts";
import { arrayFromBytes, encodeArray } from "./array_bytes.ts";

/**
 * Reads a `.npy` file (Python's `numpy.load`): numbers, booleans, text, dates and raw bytes, of either byte order, in C
 * or Fortran order. Never executes anything: rejects arrays of Python objects, which are pickled, and also structured
 * arrays.
 *
 * @param bytes The whole file. The array shares its memory if the elements need no conversion.
 * @throws {NumpyError} If it is damaged (`code: "bad-npy"`), or unsupported (`code: "unsupported-dtype"`).
 *
 * @example Read an array from a packed folder
 * ```ts
 * import { PackedFolder } from "@recordfs/recordfs/ffrecord";
 * import { readNpy } from "@recordfs/recordfs/numpy";
 * import assert from "node:assert/strict";
 *
 * using folder = await PackedFolder.open("test/recipes/packed.ffr");
 * const array = readNpy(await folder.read("just_another_folder/npyfile.npy"));
 * assert.deepEqual(array.shape, [2, 3]);
 * assert.deepEqual(array.data, Float32Array.of(0, 0.5, 1, 1.5, 2, 2.5));
 * ```
 */
export function readNpy(bytes: Uint8Array): NdArray {
  const { dtype, fortran, shape, end } = readNpyHeader(bytes);
  return arrayFromBytes(dtype, shape, bytes.subarray(end), { fortran });
}

/**
 * Encodes a `.npy` file (Python's `numpy.save`), for `numpy.load` and {@linkcode readNpy}.
 *
 * @param array A result of {@linkcode readNpy}, or elements with a shape and, if the class of `data` is ambiguous
 * (booleans, complex numbers, dates, raw bytes), a `dtype`.
 * @returns The bytes of the file.
 * @throws {TypeError} If data, shape and type do not match.
 * @throws {NumpyError} If the type is unsupported.
 *
 * @example Write and read back
 * ```ts
 * import { readNpy, writeNpy } from "@recordfs/recordfs/numpy";
 * import assert from "node:assert/strict";
 *
 * const bytes = writeNpy({ data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] });
 * assert.deepEqual(readNpy(bytes).shape, [2, 2]);
 * assert.equal(readNpy(bytes).dtype, "<f4");
 * ```
 */
export function writeNpy(array: {
  /** Elements in C order. */
  readonly data: NdArray["data"];
  /** Length of each dimension. Defaults to one dimension with all of `data`. */
  readonly shape?: readonly number[] | undefined;
  /** NumPy's name of the element type. Defaults to that of the class of `data`. */
  readonly dtype?: string | undefined;
}): Uint8Array<ArrayBuffer> {
  const { dtype, shape, elements } = encodeArray(array);
  const header = npyHeader(dtype, shape);
  const file = new Uint8Array(header.length + elements.length);
  file.set(header);
  file.set(elements, header.length);
  return file;
}

/** Array to write. */
export type NpyContent = Parameters<typeof writeNpy>[0];

export interface NpyHeader {
  readonly dtype: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
  /** Offset of the elements. */
  readonly end: number;
}

/** `\x93NUMPY`; the format's major and minor version follow. */
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** Alignment of the elements, for memory mapping. */
const ALIGNMENT = 64;

/** Limit of a header's size: NumPy's are below 200 bytes, except for structured arrays, which are rejected anyway. */
const LONGEST = 65_535;

/** NumPy 2's limit of dimensions. */
const MOST_DIMENSIONS = 64;

/**
 * Reads the header of a `.npy` file of version 1, 2 or 3.
 *
 * @throws {NumpyError} If it is not one, is damaged, or describes a structured array.
 */
export function readNpyHeader(bytes: Uint8Array): NpyHeader {
  if (bytes.length < 10 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw damaged("it does not begin as one");
  }
  const version = bytes[6]!;
  const start = version === 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.length < start) {
    throw damaged(`its version is ${version}.${bytes[7]}`);
  }
  const view = viewOf(bytes);
  const length = version === 1
    ? view.getUint16(8, true)
    : view.getUint32(8, true);
  const end = start + length;
  if (end > bytes.length) throw damaged("it is truncated within its header");
  if (length > LONGEST) throw damaged(`its header has ${length} bytes`);
  const encoding = version === 3 ? "utf-8" : "latin1";
  const text = new TextDecoder(encoding).decode(bytes.subarray(start, end));
  return { ...parseDescription(text), end };
}

/** Encodes a header of version 1.0, which every NumPy reads. */
export function npyHeader(dtype: string, shape: readonly number[]): Uint8Array {
  if (shape.length > MOST_DIMENSIONS) {
    throw new TypeError(`NumPy has at most ${MOST_DIMENSIONS} dimensions`);
  }
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text =
    `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${lengths}), }`;
  const taken = MAGIC.length + 4 + text.length + 1;
  const padding = (ALIGNMENT - taken % ALIGNMENT) % ALIGNMENT;
  const header = new Uint8Array(taken + padding);
  header.set(MAGIC);
  header[6] = 1;
  new DataView(header.buffer).setUint16(8, header.length - 10, true);
  header.set(new TextEncoder().encode(text.padEnd(text.length + padding)), 10);
  header[header.length - 1] = 10;
  return header;
}

function parseDescription(text: string): Omit<NpyHeader, "end"> {
  const entry =
    /\s*(['"])(descr|fortran_order|shape)\1\s*:\s*(?:'([^']*)'|"([^"]*)"|(True|False)|\(([\d\s,L]*)\))\s*(?:,|(?=\}))/y;
  if (/['"]descr['"]\s*:\s*\[/.test(text)) {
    throw new NumpyError(
      "unsupported-dtype",
      "Cannot read an array of records with several fields. Save each field as an array",
    );
  }
  const open = /^\s*\{/.exec(text);
  if (open === null) throw damaged("its header is not a dictionary");
  entry.lastIndex = open[0].length;
  let dtype: string | undefined;
  let fortran: boolean | undefined;
  let shape: number[] | undefined;
  for (let at = entry.lastIndex;; at = entry.lastIndex) {
    const found = entry.exec(text);
    if (found === null) {
      if (!/^\s*\}\s*$/.test(text.slice(at))) {
        throw damaged(
          `its header cannot be read at: ${text.slice(at, at + 40)}`,
        );
      }
      break;
    }
    const [, , key, single, double, truth, tuple] = found;
    if (key === "descr") dtype = single ?? double;
    else if (key === "fortran_order") {
      fortran = truth === undefined ? undefined : truth === "True";
    } else shape = tuple === undefined ? undefined : parseShape(tuple);
  }
  if (dtype === undefined || fortran === undefined || shape === undefined) {
    throw damaged("its header lacks descr, fortran_order or shape");
  }
  return { dtype, fortran, shape };
}

/** Parses the inside of a tuple; Python 2 wrote `3L`. */
function parseShape(tuple: string): number[] {
  const lengths = tuple.split(",").map((part) => part.trim());
  if (lengths.at(-1) === "") lengths.pop();
  if (lengths.length > MOST_DIMENSIONS) {
    throw damaged(`it has ${lengths.length} dimensions`);
  }
  return lengths.map((length) => {
    if (!/^\d{1,15}L?$/.test(length)) {
      throw damaged(`its shape is (${tuple.slice(0, 80)})`);
    }
    return parseInt(length);
  });
}

function damaged(what: string): NumpyError {
  return new NumpyError("bad-npy", `Cannot read a .npy file: ${what}`);
}
