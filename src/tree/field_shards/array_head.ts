import { viewOf } from "../../base/view_of.ts";
import {
  ARRAY_TYPES,
  type Encoding,
  itemSize,
  LENGTHS,
  MOST_DIMENSIONS,
} from "./encoding.ts";
import { ValueFault } from "./value_fault.ts";
import { utf8Text } from "../../base/utf8.ts";

/** Header of an array, or of uncompressed pixels. */
export interface ArrayHead {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly start: number;
  /** Whether the elements are bits, eight per byte, with rows padded to whole bytes. */
  readonly areBits: boolean;
}

/** Maximum header length in bytes: 63 dimensions of 8 bytes, or 64 of 4. */
export const LONGEST_HEAD = 8 + 8 * MOST_DIMENSIONS;

/** Pillow modes: dtype of the samples, and samples per pixel. */
const MODES: Readonly<Record<string, readonly [string, number]>> = {
  __proto__: null as never,
  L: ["|u1", 1],
  P: ["|u1", 1],
  LA: ["|u1", 2],
  La: ["|u1", 2],
  PA: ["|u1", 2],
  RGB: ["|u1", 3],
  YCbCr: ["|u1", 3],
  LAB: ["|u1", 3],
  HSV: ["|u1", 3],
  RGBA: ["|u1", 4],
  RGBa: ["|u1", 4],
  RGBX: ["|u1", 4],
  CMYK: ["|u1", 4],
  I: ["<i4", 1],
  F: ["<f4", 1],
  "I;16": ["<u2", 1],
  "I;16L": ["<u2", 1],
  "I;16B": [">u2", 1],
};

/** Pillow mode with one bit per pixel. */
const BITS = "1";

const LONGEST_MODE = 16;

/**
 * Parses the header from the first bytes of a value, up to {@linkcode LONGEST_HEAD}, and validates the value's length.
 * Throws a {@linkcode ValueFault} if they do not match.
 */
export function arrayHead(
  encoding: Encoding,
  bytes: Uint8Array,
  length: number,
): ArrayHead {
  const head = headOf(encoding, bytes, length);
  const { dtype, shape, start, areBits } = head;
  const counted = areBits
    ? [shape[0]!, Math.ceil(shape[1]! / 8)]
    : [itemSize(dtype), ...shape];
  const size = counted.reduce((all, length) => all * length, 1);
  if (start + size === length) return head;
  throw new ValueFault(
    `it has ${length} bytes, and an array of ${dtype} (${
      shape.join(", ")
    }) would have ${start + size}`,
  );
}

function headOf(
  encoding: Encoding,
  bytes: Uint8Array,
  length: number,
): ArrayHead {
  switch (encoding.head) {
    case "pixels":
      return pictureHead(bytes);
    case "words":
      return wordsHead(encoding, bytes);
    case "bare": {
      const dtype = encoding.dtype!;
      const shape = [Math.floor(length / itemSize(dtype))];
      return { dtype, shape, start: 0, areBits: false };
    }
    default:
      return packedHead(encoding, bytes);
  }
}

/** Header: number of the type, number of dimensions, and their lengths, each of 32 bits. */
function wordsHead({ dtypes }: Encoding, bytes: Uint8Array): ArrayHead {
  const view = viewOf(bytes);
  const need = (words: number) => {
    if (4 * words > bytes.length) throw new ValueFault("it is truncated");
  };
  need(2);
  const number = view.getUint32(0, true);
  const dtype = dtypes![number];
  if (dtype === undefined) {
    throw new ValueFault(`its element type ${number} is unknown`);
  }
  const dimensions = view.getUint32(4, true);
  if (dimensions > MOST_DIMENSIONS) {
    throw new ValueFault(`it has ${dimensions} dimensions`);
  }
  need(2 + dimensions);
  const shape = Array.from(
    { length: dimensions },
    (_, i) => view.getUint32(8 + 4 * i, true),
  );
  return { dtype, shape, start: 8 + 4 * dimensions, areBits: false };
}

/** Header: number of the type, and a packed shape, unless the encoding says them. */
function packedHead(encoding: Encoding, bytes: Uint8Array): ArrayHead {
  const view = viewOf(bytes);
  let start = 0;
  const need = (count: number) => {
    if (start + count > bytes.length) throw new ValueFault("it is truncated");
  };
  let { dtype, shape } = encoding;
  if (dtype === undefined) {
    need(1);
    const number = bytes[start++]!;
    dtype = ARRAY_TYPES.get(number)?.[1];
    if (dtype === undefined) {
      throw new ValueFault(`its element type ${number} is unknown`);
    }
  }
  if (shape === undefined) {
    need(1);
    const packed = bytes[start++]!;
    const [dimensions, wide] = [packed >> 2, packed & 3];
    const width = 1 << wide;
    need(dimensions * width);
    shape = Array.from({ length: dimensions }, () => {
      const length = Number(view[`get${LENGTHS[wide]!}`](start, true));
      start += width;
      return length;
    });
    if (!shape.every(Number.isSafeInteger)) {
      throw new ValueFault("a dimension is longer than any file");
    }
  }
  return { dtype, shape, start, areBits: false };
}

/** Header: width, height, length of the mode's name, and the name. */
function pictureHead(bytes: Uint8Array): ArrayHead {
  if (bytes.length < 12) throw new ValueFault("it is truncated");
  const view = viewOf(bytes);
  const [width, height, letters] = [0, 4, 8]
    .map((at) => view.getUint32(at, true)) as [number, number, number];
  const start = 12 + letters;
  if (letters > LONGEST_MODE || start > bytes.length) {
    throw new ValueFault("the name of its mode is too long");
  }
  const mode = utf8Text(bytes.subarray(12, start));
  if (mode === BITS) {
    return { dtype: "|b1", shape: [height, width], start, areBits: true };
  }
  const [dtype, samples] = MODES[mode] ?? [];
  if (dtype === undefined) {
    throw new ValueFault(`its mode '${mode}' is not one of Pillow's`);
  }
  const shape = samples === 1 ? [height, width] : [height, width, samples!];
  return { dtype, shape, start, areBits: false };
}
