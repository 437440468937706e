import type { FrameInfo } from "./serializer.ts";

/** A `.gmeta` file as it was found, to which videos are added. */
export interface MetaFile {
  /**
   * Makes sure that more can be said of a video that the file has.
   *
   * @throws {FormatError} If it is kept in a way that takes no more.
   */
  requireRoom(id: string): void;
  /** The file with more in it; what it says stays as it is, byte for byte. */
  with(added: ReadonlyMap<string, AddedVideo>): Uint8Array;
}

/** What is added of one video. */
export class AddedVideo {
  /** Whether the file has the video already, so that this goes behind what it says. */
  readonly isKnown: boolean;
  /** Loc, pad and length of each frame, one after the other. */
  readonly frames: number[] = [];
  /** Items of its meta_data, as JSON. */
  readonly metaData: string[] = [];

  constructor(isKnown: boolean) {
    this.isKnown = isKnown;
  }

  /** The frames, one by one. */
  *frameInfo(): Generator<FrameInfo, undefined, unknown> {
    const { frames } = this;
    for (let i = 0; i < frames.length; i += 3) {
      yield [frames[i]!, frames[i + 1]!, frames[i + 2]!];
    }
    return undefined;
  }
}
