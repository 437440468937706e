import type { FrameInfo } from "./serializer.ts";

/** Additions to one video. */
export interface AddedVideo {
  /** Loc, pad and length of each frame, concatenated. */
  readonly frames: number[];
  /** Items of its meta_data, as JSON. */
  readonly metaData: string[];
}

export type AddedVideos = ReadonlyMap<string, AddedVideo>;

/** A `.gmeta` file to which videos can be added. */
export interface MetaFile {
  /** Throws FormatError if an existing video cannot be extended; without this method, each can. */
  requireRoom?(id: string): void;
  /** Returns the file with additions to `known` videos and with `fresh` ones; existing bytes stay as they are. */
  with(known: AddedVideos, fresh: AddedVideos): Uint8Array;
}

export function* frameInfoOf(
  { frames }: AddedVideo,
): Generator<FrameInfo, undefined, unknown> {
  for (let i = 0; i < frames.length; i += 3) {
    yield [frames[i]!, frames[i + 1]!, frames[i + 2]!];
  }
  return undefined;
}
