import type { FrameInfo } from "./serializer.ts";

/** Additions to one video. */
export interface AddedVideo {
  /** Loc, pad and length of each frame, concatenated. */
  readonly frames: number[];
  /** Items of its meta_data, as JSON. */
  readonly metaData: string[];
}

/** Additions by video id. */
export type AddedVideos = ReadonlyMap<string, AddedVideo>;

/** A `.gmeta` file to which videos can be added. */
export interface MetaFile {
  /**
   * Requires that an existing video can be extended; without this method, each can.
   *
   * @throws {FormatError} If its form does not allow additions.
   */
  requireRoom?(id: string): void;
  /**
   * Returns the file with additions; existing content stays, byte for byte.
   *
   * @param known Additions to existing videos.
   * @param fresh New videos.
   */
  with(known: AddedVideos, fresh: AddedVideos): Uint8Array;
}

/** Yields the frames of a video. */
export function* frameInfoOf(
  { frames }: AddedVideo,
): Generator<FrameInfo, undefined, unknown> {
  for (let i = 0; i < frames.length; i += 3) {
    yield [frames[i]!, frames[i + 1]!, frames[i + 2]!];
  }
  return undefined;
}
