import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import { concatBytes } from "../../base/bytes_of.ts";
import { type AlphaImage, assertImage } from "./image.ts";

/** IHDR's colour type by number of channels. */
const COLOR_TYPES = { 1: 0, 2: 4, 3: 2, 4: 6 } as const;

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const compress = promisify<Uint8Array, Uint8Array>(deflate);

/**
 * Encodes a lossless PNG of 8 bits per channel, without any codec: imagescript's WebAssembly has no PNG encoder.
 * Filters each row as the standard advises (12.8): by the filter with the smallest sum of its bytes as signed numbers.
 *
 * @throws {TypeError} If the image's fields contradict each other.
 *
 * @example Encode and decode
 * ```ts
 * import { encodePng, imageCodec } from "@recordfs/recordfs/image";
 * import assert from "node:assert/strict";
 *
 * const gray = { data: new Uint8Array(64 * 48).fill(9), height: 48, width: 64, channels: 1 } as const;
 * const codec = await imageCodec("imagescript");
 * assert.deepEqual(await codec.decode(await encodePng(gray)), gray);
 * ```
 */
export async function encodePng(
  image: AlphaImage,
): Promise<Uint8Array<ArrayBuffer>> {
  assertImage(image, 4);
  const { height, width, channels } = image;
  const depth = Uint8Array.of(8, COLOR_TYPES[channels], 0, 0, 0);
  const header = concatBytes([word(width), word(height), depth]);
  const data = await compress(filtered(image));
  return concatBytes([
    Uint8Array.from(SIGNATURE),
    ...chunk("IHDR", header),
    ...chunk("IDAT", data),
    ...chunk("IEND", new Uint8Array(0)),
  ]);
}

/** Filtered rows, each preceded by its filter's number. */
function filtered({ data, height, width, channels }: AlphaImage): Uint8Array {
  const length = width * channels;
  const out = new Uint8Array(height * (length + 1));
  let above = new Uint8Array(length);
  const tries = Array.from({ length: 5 }, () => new Uint8Array(length));
  for (let y = 0; y < height; y++) {
    const row = data.subarray(y * length, (y + 1) * length);
    applyFilters(row, above, channels, tries);
    const sums = tries.map(sumOfSizes);
    const best = sums.indexOf(Math.min(...sums));
    out[y * (length + 1)] = best;
    out.set(tries[best]!, y * (length + 1) + 1);
    above = row;
  }
  return out;
}

function applyFilters(
  row: Uint8Array,
  above: Uint8Array,
  step: number,
  [none, sub, up, average, paeth]: Uint8Array[],
): void {
  for (let i = 0; i < row.length; i++) {
    const byte = row[i]!;
    const left = i < step ? 0 : row[i - step]!;
    const over = above[i]!;
    const corner = i < step ? 0 : above[i - step]!;
    none![i] = byte;
    sub![i] = byte - left;
    up![i] = byte - over;
    average![i] = byte - (left + over >> 1);
    paeth![i] = byte - predicted(left, over, corner);
  }
}

/** Paeth predictor: the neighbour closest to left + over - corner; ties in the order left, over, corner. */
function predicted(left: number, over: number, corner: number): number {
  const [toLeft, toOver] = [Math.abs(over - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + over - 2 * corner);
  if (toLeft <= toOver && toLeft <= toCorner) return left;
  return toOver <= toCorner ? over : corner;
}

function sumOfSizes(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    sum += byte < 128 ? byte : 256 - byte;
  }
  return sum;
}

function chunk(name: string, data: Uint8Array): Uint8Array[] {
  const type = new TextEncoder().encode(name);
  return [word(data.length), type, data, word(crc32(data, crc32(type)))];
}

/** Big-endian 32-bit number. */
function word(number: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}
