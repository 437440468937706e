/** A user's own transforms, in a module that workers import. */
import type { Image } from "../../src/codecs/image/mod.ts";
import type { Random } from "../../src/data/random/random.ts";
import {
  CenterCrop,
  Compose,
  type Picture,
} from "../../src/data/transforms/mod.ts";

/** Inverts an image. */
export default function invert(image: Image): Image {
  return { ...image, data: image.data.map((value) => 255 - value) };
}

/** Adds one random number to all values, asynchronously. */
export async function brighten(
  image: Image,
  random: Random,
): Promise<Image> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const by = random.int(200);
  return { ...image, data: image.data.map((value) => value + by) };
}

/** A chain that contains a function. */
export const chain: Compose<Picture> = new Compose([
  invert,
  new CenterCrop(4),
]);

/** Returns a label that the metadata does not contain. */
export function labelOf(meta: { readonly idx?: unknown }, id: string): string {
  return `${id}: ${meta.idx}`;
}

/** Maps a label to a tenfold one. */
export const tenfold = (label: number): number => label * 10;
