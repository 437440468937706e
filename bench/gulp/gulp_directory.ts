/** Writes GulpIO directories for benchmarks, according to the format's description. */

import { Buffer } from "node:buffer";
import { randomBytes } from "../support/random_bytes.ts";

/** Directory of chunks whose frames are random bytes, padded and indexed like JPEGs. */
export interface GulpFolder {
  readonly path: string;
  /** Video ids, chunk by chunk. */
  readonly ids: readonly string[];
  /** Frames of each video. */
  readonly frames: number;
  /** Size of each frame in bytes. */
  readonly size: number;
}

/** Dimensions of a directory. */
export interface GulpFolderSize {
  readonly chunks: number;
  /** Videos a chunk. */
  readonly videos: number;
  /** Frames a video. */
  readonly frames: number;
  /** Bytes a frame, before padding. */
  readonly size: number;
}

/** Writes a directory and flushes it to disk. */
export function makeGulpFolderSync(
  path: string,
  { chunks, videos, frames, size }: GulpFolderSize,
): GulpFolder {
  Deno.mkdirSync(path);
  // Each frame is a different window of one block: cheap to make, yet no two neighbours are equal.
  const block = randomBytes(size + frames);
  const jpegs = Array.from({ length: frames }, (_, frame) => {
    const jpeg = block.slice(frame, frame + size);
    jpeg.set([0xff, 0xd8]);
    jpeg.set([0xff, 0xd9], size - 2);
    return jpeg;
  });
  const ids: string[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const own = Array.from(
      { length: videos },
      (_, i) => `video_${chunk}_${i}`,
    );
    writeGulpChunkSync(path, chunk, new Map(own.map((id) => [id, jpegs])));
    ids.push(...own);
  }
  return { path, ids, frames, size };
}

/** Writes a chunk of a directory from the frames of each id, and flushes it to disk. */
export function writeGulpChunkSync(
  path: string,
  chunk: number,
  videos: ReadonlyMap<string, readonly Uint8Array[]>,
): void {
  using data = Deno.openSync(`${path}/data_${chunk}.gulp`, {
    write: true,
    createNew: true,
  });
  const meta: Record<string, unknown> = {};
  let at = 0;
  let i = 0;
  for (const [id, frames] of videos) {
    const places: number[][] = [];
    const parts: Uint8Array[] = [];
    for (const frame of frames) {
      const pad = -frame.length & 3;
      const record = frame.length + pad;
      places.push([at, pad, record]);
      parts.push(frame, new Uint8Array(pad));
      at += record;
    }
    writeAllSync(data, Buffer.concat(parts));
    meta[id] = {
      frame_info: places,
      meta_data: [{ id, label: `label ${i % 10}`, idx: i % 10 }],
    };
    i++;
  }
  data.syncSync();
  Deno.writeTextFileSync(
    `${path}/meta_${chunk}.gmeta`,
    JSON.stringify(meta),
  );
}

function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += file.writeSync(bytes.subarray(done));
  }
}
