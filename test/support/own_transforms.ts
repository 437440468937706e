/** Transforms of a user's own, as they stand in a module that workers import. */
import type { Image } from "../../src/codecs/image/mod.ts";
import type { Random } from "../../src/data/random/random.ts";
import {
  CenterCrop,
  Compose,
  type Picture,
} from "../../src/data/transforms/mod.ts";

/** Turns bright to dark. */
export default function invert(image: Image): Image {
  return { ...image, data: image.data.map((value) => 255 - value) };
}

/** Adds one random number to all values, after a while. */
export async function brighten(
  image: Image,
  random: Random,
): Promise<Image> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const by = random.int(200);
  return { ...image, data: image.data.map((value) => value + by) };
}

/** A chain with a function in it. */
export const chain: Compose<Picture> = new Compose([
  invert,
  new CenterCrop(4),
]);

/** A label that is not in the meta data. */
export function labelOf(meta: { readonly idx?: unknown }, id: string): string {
  return `${id}: ${meta.idx}`;
}

/** What becomes of a label. */
export const tenfold = (label: number): number => label * 10;
