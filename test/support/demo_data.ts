/** Input of the demo: a folder of photos, and images. */
import * as fs from "node:fs";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import type { Folder } from "./ffrecord/make_ffr.ts";

const text = (value: string) => new TextEncoder().encode(value);

/** The folder to pack. */
export const PHOTOS: Folder = {
  "README.txt": text("A folder packed into one FFRecord file.\n"),
  cats: Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `cat_${String(i).padStart(3, "0")}.jpg`,
      new Uint8Array(20_000 + i).map((_, k) => k * (i + 3)),
    ]),
  ),
  dogs: { "dog.json": text('{"name": "Bello"}\n'), "no photos yet": {} },
};

/** Writes a folder to the disk. */
export function writeFolder(path: string, folder: Folder): void {
  fs.mkdirSync(path);
  for (const [name, entry] of Object.entries(folder)) {
    if (entry instanceof Uint8Array) fs.writeFileSync(`${path}/${name}`, entry);
    else writeFolder(`${path}/${name}`, entry);
  }
}

/** Writes images with stripes. */
export async function makeImages(folder: string): Promise<void> {
  const codec = await imageCodec();
  const size = { height: 96, width: 128, channels: 1 } as const;
  for (let i = 0; i < 5; i++) {
    const data = new Uint8Array(96 * 128).map((_, k) => k * (i + 1));
    const jpeg = await codec.encode({ data, ...size });
    fs.writeFileSync(`${folder}/${i}.jpg`, jpeg);
  }
}
