/** Chunks that tests write and read. */
import { GulpChunk, type JsonValue } from "../../../src/formats/gulp/mod.ts";
import type {
  FrameInfo,
  SerializerChoice,
} from "../../../src/formats/gulp/meta/serializer.ts";

/** Opens a chunk of a directory that leaves frames encoded. */
export async function chunkIn(
  dir: string,
  serializer?: SerializerChoice,
  number = 0,
): Promise<RawChunk> {
  return await GulpChunk.load(
    `${dir}/data_${number}.gulp`,
    `${dir}/meta_${number}.gmeta`,
    { decode: false, serializer },
  );
}

/** A chunk that leaves frames encoded. */
export type RawChunk = GulpChunk<Uint8Array<ArrayBuffer>>;

/** Content of a video in a chunk. */
export interface VideoContent {
  readonly id: string;
  readonly frameInfo: FrameInfo[];
  readonly metaData: readonly JsonValue[];
  readonly frames: Uint8Array<ArrayBuffer>[];
}

/** Reads the videos of a chunk from its metadata file and data file. */
export async function contentOf(chunk: RawChunk): Promise<VideoContent[]> {
  const content: VideoContent[] = [];
  for (const [id, { frameInfo, metaData }] of chunk.metaDict) {
    const { frames } = await chunk.readRaw(id);
    content.push({ id, frameInfo: [...frameInfo], metaData, frames });
  }
  return content;
}
