import type { FrameInfo } from "./serializer.ts";

/** What is added of one video. */
export interface AddedVideo {
  /** Loc, pad and length of each frame, one after the other. */
  readonly frames: number[];
  /** Items of its meta_data, as JSON. */
  readonly metaData: string[];
}

/** Videos by their ids. */
export type AddedVideos = ReadonlyMap<string, AddedVideo>;

/** A `.gmeta` file as it was found, to which videos are added. */
export interface MetaFile {
  /**
   * Makes sure that more can be said of a video that the file has; it always can without that.
   *
   * @throws {FormatError} If it is kept in a way that takes no more.
   */
  requireRoom?(id: string): void;
  /**
   * The file with more in it; what it says stays as it is, byte for byte.
   *
   * @param known What goes behind that which the file says of videos.
   * @param fresh Videos that it does not have yet.
   */
  with(known: AddedVideos, fresh: AddedVideos): Uint8Array;
}

/** The frames of a video, one by one. */
export function* frameInfoOf(
  { frames }: AddedVideo,
): Generator<FrameInfo, undefined, unknown> {
  for (let i = 0; i < frames.length; i += 3) {
    yield [frames[i]!, frames[i + 1]!, frames[i + 2]!];
  }
  return undefined;
}
