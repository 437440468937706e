/** Writes GulpIO chunks for tests, by the format's description. */
import * as fs from "node:fs";

/** A video to write: the bytes of its frames, and its metadata. */
export interface VideoToWrite {
  readonly id: string;
  readonly frames: readonly Uint8Array[];
  readonly meta?: unknown;
}

/** Returns bytes that start and end like a JPEG. */
export function fakeJpeg(size: number, fill = 0x55): Uint8Array {
  const bytes = new Uint8Array(size).fill(fill);
  bytes.set([0xff, 0xd8]);
  bytes.set([0xff, 0xd9], size - 2);
  return bytes;
}

/** Writes `data_K.gulp` and `meta_K.gmeta` to a directory, and returns the object of the metadata file. */
export function writeChunk(
  dir: string,
  number: number,
  videos: readonly VideoToWrite[],
): Record<string, { frame_info: number[][]; meta_data: unknown[] }> {
  const parts: Uint8Array[] = [];
  const meta: ReturnType<typeof writeChunk> = {};
  let loc = 0;
  for (const { id, frames, meta: known = {} } of videos) {
    const infos = frames.map((frame) => {
      const pad = (4 - frame.length % 4) % 4;
      const info = [loc, pad, frame.length + pad];
      parts.push(frame, new Uint8Array(pad));
      loc += frame.length + pad;
      return info;
    });
    meta[id] = { meta_data: [known], frame_info: infos };
  }
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(`${dir}/data_${number}.gulp`, new Uint8Array(0));
  for (const part of parts) {
    fs.appendFileSync(`${dir}/data_${number}.gulp`, part);
  }
  fs.writeFileSync(`${dir}/meta_${number}.gmeta`, JSON.stringify(meta));
  return meta;
}
