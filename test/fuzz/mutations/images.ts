/** Headers of images, wherever there are some: sizes that nothing can hold, and streams that end. */
import { crc32 } from "node:zlib";
import type { Dice } from "../dice.ts";
import { integerBytes, type Mutation, pickNamed } from "./mutation.ts";

interface Found {
  readonly at: number;
  readonly kind: "jpeg" | "png";
}

const SIDES = [
  0,
  1,
  2,
  255,
  256,
  11_585,
  11_586,
  16_384,
  32_767,
  32_768,
  65_500,
  65_535,
];

const image: Mutation = {
  name: "image header",
  weight: 5,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.(gulp|bag|ffr|jpe?g|png)$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const images = findImages(bytes);
    if (images.length === 0) return;
    const { at, kind } = dice.pick(images);
    const end = images.find((other) => other.at > at)?.at ?? bytes.length;
    if (dice.once(4)) {
      const from = at + dice.size(8, Math.max(8, end - at));
      const rest = new Uint8Array(Math.max(0, end - from)).fill(
        dice.pick([0, 0xff]),
      );
      return draft.overwrite(path, from, rest, `the rest of a ${kind}`);
    }
    if (kind === "png") {
      const sides = [pngSide(dice), pngSide(dice)] as const;
      const header = bytes.slice(at + 12, at + 29);
      if (header.length < 17) return;
      header.set(integerBytes(BigInt(sides[0]), 4, false), 4);
      header.set(integerBytes(BigInt(sides[1]), 4, false), 8);
      if (dice.once(4)) header[12 + dice.int(5)] = dice.int(256); // depth, colours …
      draft.overwrite(path, at + 12, header, `PNG of ${sides.join(" × ")}`);
      const sum = integerBytes(BigInt(crc32(header)), 4, false);
      return draft.overwrite(path, at + 29, sum, "its checksum");
    }
    const frame = findFrameHeader(bytes, at, end);
    if (frame === undefined) return;
    const sides = [dice.pick(SIDES), dice.pick(SIDES)] as const;
    const field = new Uint8Array(4);
    field.set(integerBytes(BigInt(sides[0]), 2, false));
    field.set(integerBytes(BigInt(sides[1]), 2, false), 2);
    draft.overwrite(path, frame + 5, field, `JPEG of ${sides.join(" × ")}`);
    if (dice.once(3)) {
      const part = Uint8Array.of(dice.pick([0, 1, 2, 3, 4, 255]));
      draft.overwrite(path, frame + 9, part, "its components");
    }
  },
};

function pngSide(dice: Dice): number {
  return dice.once(4)
    ? dice.pick([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])
    : dice.pick(SIDES);
}

function findImages(bytes: Uint8Array): Found[] {
  const found: Found[] = [];
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

/** Where the segment SOF0, SOF1 or SOF2 of a JPEG starts. */
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
