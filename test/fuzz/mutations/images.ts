/** Mutations of embedded images: impossible sizes, and truncated streams. */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { Dice } from "../dice.ts";
import type { Draft } from "../draft.ts";
import { integerBytes, type Mutation, pickNamed } from "./mutation.ts";

type Kind = "avif" | "gif" | "jpeg" | "png" | "tiff" | "webp";

interface Found {
  readonly at: number;
  readonly kind: Kind;
}

/** Side of the largest square image that is decoded, in pixels. */
const LARGEST_SQUARE = 11_585;

const SIDES = [
  ...[0, 1, 2, 255, 256, LARGEST_SQUARE, LARGEST_SQUARE + 1],
  ...[16_384, 32_767, 32_768, 65_500, 65_535],
];

const image: Mutation = {
  name: "image header",
  weight: 5,
  apply(draft, dice) {
    const path = pickNamed(
      draft,
      dice,
      /\.(gulp|bag|ffr|mds|jpe?g|png|webp|avif|gif|tif)$/,
    );
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const images = findImages(bytes);
    if (images.length === 0) return;
    // Several at once, since each may fit memory on its own.
    const some = dice.once(4) ? images.slice(0, 16) : [dice.pick(images)];
    const sides: Sides = dice.once(3)
      ? [LARGEST_SQUARE, LARGEST_SQUARE]
      : [pickSide(dice), pickSide(dice)];
    const isCut = dice.once(4);
    for (const { at, kind } of some) {
      const end = images.find((other) => other.at > at)?.at ?? bytes.length;
      if (isCut) {
        const from = at + dice.size(8, Math.max(8, end - at));
        const fill = dice.pick([0, 0xff]);
        const rest = new Uint8Array(Math.max(0, end - from)).fill(fill);
        draft.overwrite(path, from, rest, `the rest of a ${kind}`);
      } else if (kind === "png") setPngSize(draft, dice, path, at, sides);
      else if (kind === "jpeg") setJpegSize(draft, dice, path, at, end, sides);
      else setOtherSize(draft, dice, path, { at, kind }, sides);
    }
  },
};

type Sides = readonly [number, number];

function setPngSize(
  draft: Draft,
  dice: Dice,
  path: string,
  at: number,
  sides: Sides,
): void {
  const header = draft.bytes(path).slice(at + 12, at + 29);
  if (header.length < 17) return;
  header.set(integerBytes(BigInt(sides[0]), 4, false), 4);
  header.set(integerBytes(BigInt(sides[1]), 4, false), 8);
  if (dice.once(4)) header[12 + dice.int(5)] = dice.int(256); // bit depth, color type, …
  draft.overwrite(path, at + 12, header, `PNG of ${sides.join(" × ")}`);
  const sum = integerBytes(BigInt(crc32(header)), 4, false);
  draft.overwrite(path, at + 29, sum, "its checksum");
}

function setJpegSize(
  draft: Draft,
  dice: Dice,
  path: string,
  at: number,
  end: number,
  sides: Sides,
): void {
  const frame = findFrameHeader(draft.bytes(path), at, end);
  if (frame === undefined) return;
  const field = new Uint8Array(4);
  field.set(integerBytes(BigInt(sides[0]), 2, false));
  field.set(integerBytes(BigInt(sides[1]), 2, false), 2);
  draft.overwrite(path, frame + 5, field, `JPEG of ${sides.join(" × ")}`);
  if (dice.once(3)) {
    const part = Uint8Array.of(dice.pick([0, 1, 2, 3, 4, 255]));
    draft.overwrite(path, frame + 9, part, "its components");
  }
}

/** Bytes before the two sides, the size of each, and whether they are little-endian. */
const SIDES_AT: Readonly<
  Record<"avif" | "gif" | "webp", readonly [string, number, number, boolean]>
> = {
  avif: ["ispe", 8, 4, false],
  gif: ["GIF8", 6, 2, true],
  webp: ["VP8X", 12, 3, true],
};

function setOtherSize(
  draft: Draft,
  dice: Dice,
  path: string,
  { at, kind }: Found,
  sides: Sides,
): void {
  const bytes = draft.bytes(path);
  if (kind === "tiff") {
    const isLittle = bytes[at] === 0x49;
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    if (view.byteLength < 10) return;
    const page = view.getUint32(4, isLittle);
    // Sides, bits, compression, colours, samples, tiles, or any other tag.
    const entry = page + 2 + dice.int(16) * 12 + 8;
    const side = dice.pick(sides);
    const field = integerBytes(BigInt(side), 4, isLittle);
    draft.overwrite(path, at + entry, field, `a tag of TIFF: ${side}`);
    return;
  }
  const [word, after, size, isLittle] = SIDES_AT[kind as keyof typeof SIDES_AT];
  const found = Buffer.from(bytes).indexOf(word, at, "latin1");
  if (found < 0) return;
  sides.forEach((side, i) => {
    const field = integerBytes(BigInt(side), 8, isLittle);
    const part = isLittle ? field.subarray(0, size) : field.subarray(8 - size);
    const place = found + after + i * size;
    draft.overwrite(path, place, part, `${kind} of ${sides.join(" × ")}`);
  });
}

const SIGNATURES: readonly (readonly [number, string, Kind])[] = [
  [0, "GIF8", "gif"],
  [0, "RIFF", "webp"],
  [-4, "ftypavi", "avif"],
  [0, "II*\0", "tiff"],
  [0, "MM\0*", "tiff"],
];

function pickSide(dice: Dice): number {
  return dice.once(6)
    ? dice.pick([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])
    : dice.pick(SIDES);
}

function findImages(bytes: Uint8Array): Found[] {
  const found: Found[] = [];
  for (const [before, word, kind] of SIGNATURES) {
    const at = Buffer.from(bytes).indexOf(word, 0, "latin1") + before;
    if (at >= 0) found.push({ at, kind });
  }
  for (let at = 0; at + 4 < bytes.length && found.length < 200; at++) {
    if (
      bytes[at] === 0xff && bytes[at + 1] === 0xd8 && bytes[at + 2] === 0xff
    ) {
      found.push({ at, kind: "jpeg" });
    } else if (
      bytes[at] === 0x89 && bytes[at + 1] === 0x50 && bytes[at + 2] === 0x4e &&
      bytes[at + 3] === 0x47
    ) found.push({ at, kind: "png" });
  }
  return found;
}

/** Returns the offset of the segment SOF0, SOF1 or SOF2 of a JPEG. */
function findFrameHeader(
  bytes: Uint8Array,
  from: number,
  end: number,
): number | undefined {
  for (let at = from; at + 10 < end; at++) {
    if (bytes[at] === 0xff && [0xc0, 0xc1, 0xc2].includes(bytes[at + 1]!)) {
      return at;
    }
  }
  return undefined;
}

export const IMAGE_MUTATIONS: readonly Mutation[] = [image];
