/** Reads the output of adapters, and makes inputs for them. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { ChunkSlice, DatasetAdapter } from "../../src/formats/gulp/mod.ts";
import { imageCodec, readImageHeader } from "../../src/codecs/image/mod.ts";
import { testImage } from "./images.ts";

/** A video as an adapter yields it, with the sizes of its frames. */
export interface Adapted {
  readonly id: unknown;
  readonly meta: unknown;
  /** `WIDTHxHEIGHT` of each frame, and the message of an error that ends them. */
  readonly frames: string[];
}

/** Reads everything that an adapter yields. */
export async function adapted(
  adapter: DatasetAdapter,
  slice?: ChunkSlice,
): Promise<Adapted[]> {
  const videos: Adapted[] = [];
  for await (const { id, meta, frames } of adapter.iterData(slice)) {
    const sizes: string[] = [];
    try {
      for await (const frame of frames) {
        const { width, height } = frame instanceof Uint8Array
          ? readImageHeader(frame)
          : frame;
        sizes.push(`${width}x${height}`);
      }
    } catch (error) {
      sizes.push((error as Error).message);
    }
    videos.push({ id, meta, frames: sizes });
  }
  return videos;
}

/** Writes a file, and creates its parent directories. */
export function put(file: string, content: string | Uint8Array): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

/** Returns a JPEG of this size. */
export async function jpeg(width = 32, height = 24): Promise<Uint8Array> {
  const codec = await imageCodec("imagescript");
  return await codec.encode(testImage(width, height), 90);
}
