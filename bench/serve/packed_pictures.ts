/** Packs a folder of any number of small images. */
import type { ImageCodec } from "../../src/codecs/image/mod.ts";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import { pickleStructure } from "../support/packed_directory.ts";

/** Number of different images, which repeat in a cycle. */
const DIFFERENT = 512;
const SIDE = 64;

/** Packs `count` JPEGs of 64 × 64 pixels, named `000000.jpg` and so on. */
export async function makePackedPictures(
  archive: string,
  count: number,
  codec: ImageCodec,
): Promise<void> {
  const pictures = await Promise.all(
    Array.from({ length: DIFFERENT }, (_, i) => codec.encode(slopes(i), 80)),
  );
  await packPictures(archive, count, pictures);
}

/** Packs `count` images, repeating the given ones in a cycle, named `000000.jpg` and so on. */
export async function packPictures(
  archive: string,
  count: number,
  pictures: readonly Uint8Array[],
): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => pictureName(i));
  await using writer = await FFRecordWriter.open(archive, { count: count + 1 });
  for (let i = 0; i < count; i++) {
    writer.writeSync(pictures[i % pictures.length]!);
  }
  writer.writeSync(pickleStructure(names));
  await writer.close();
}

/** Returns the name of an image. */
export function pictureName(index: number): string {
  return `${String(index).padStart(6, "0")}.jpg`;
}

/** Makes an image with two gradients, in colours that depend on `number`. */
function slopes(number: number): Parameters<ImageCodec["encode"]>[0] {
  const data = new Uint8Array(SIDE * SIDE * 3);
  for (let y = 0, i = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      data[i++] = x * 3 + number;
      data[i++] = y * 3 + number * 7;
      data[i++] = (x ^ y) + number * 13;
    }
  }
  return { data, width: SIDE, height: SIDE, channels: 3 };
}
