import { NumpyError } from "./numpy_error.ts";

/** What precedes the elements in a `.npy` file. */
export interface NpyHeader {
  readonly dtype: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
  /** Where the elements start. */
  readonly end: number;
}

/** `\x93NUMPY`, then the major and minor version of the format. */
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** Elements start at a multiple of this, so that they can be mapped. */
const ALIGNMENT = 64;

/** NumPy's own are below 200 bytes, except for records of fields, which are refused anyway. */
const LONGEST = 65_535;

/** NumPy has no more dimensions. */
const MOST_DIMENSIONS = 64;

/**
 * Reads the header of a `.npy` file: versions 1, 2 and 3.
 *
 * @throws {NumpyError} If it is none, damaged, or describes records of several fields.
 */
export function readNpyHeader(bytes: Uint8Array): NpyHeader {
  if (bytes.length < 10 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw damaged("it does not start as one");
  }
  const version = bytes[6]!;
  const start = version === 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.length < start) {
    throw damaged(`its version is ${version}.${bytes[7]}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = version === 1
    ? view.getUint16(8, true)
    : view.getUint32(8, true);
  const end = start + length;
  if (end > bytes.length) throw damaged("it ends within its header");
  if (length > LONGEST) throw damaged(`its header has ${length} bytes`);
  const encoding = version === 3 ? "utf-8" : "latin1";
  const text = new TextDecoder(encoding).decode(bytes.subarray(start, end));
  return { ...parseDescription(text), end };
}

/** The header of a file of version 1.0, which every NumPy reads. */
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

/** Reads the Python dictionary that a header is. */
function parseDescription(text: string): Omit<NpyHeader, "end"> {
  const entry =
    /\s*(['"])(descr|fortran_order|shape)\1\s*:\s*(?:'([^']*)'|"([^"]*)"|(True|False)|\(([\d\s,L]*)\))\s*(?:,|(?=\}))/y;
  if (/['"]descr['"]\s*:\s*\[/.test(text)) {
    throw new NumpyError(
      "unsupported-dtype",
      "Cannot read an array of records with several fields: save each field as an array",
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

/** Reads the inside of a tuple; Python 2 wrote `3L`. */
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
  return new NumpyError("bad-npy", `Not a sound .npy file: ${what}`);
}
