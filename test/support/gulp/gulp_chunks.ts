/** Chunks that tests write. */
import { GulpChunk, type JsonValue } from "../../../src/formats/gulp/mod.ts";
import type {
  FrameInfo,
  SerializerChoice,
} from "../../../src/formats/gulp/meta/serializer.ts";

/** A chunk of a directory, with frames as they are stored. */
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

/** Such a chunk. */
export type RawChunk = GulpChunk<Uint8Array<ArrayBuffer>>;

/** A video as a chunk has it. */
export interface VideoContent {
  readonly id: string;
  readonly frameInfo: FrameInfo[];
  readonly metaData: readonly JsonValue[];
  readonly frames: Uint8Array<ArrayBuffer>[];
}

/** Videos as a chunk's meta file and data file have them. */
export async function contentOf(chunk: RawChunk): Promise<VideoContent[]> {
  const content: VideoContent[] = [];
  for (const [id, { frameInfo, metaData }] of chunk.metaDict) {
    const { frames } = await chunk.readRaw(id);
    content.push({ id, frameInfo: [...frameInfo], metaData, frames });
  }
  return content;
}
