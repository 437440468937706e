import { imageCodec } from "../../../codecs/image/choose_codec.ts";
import type { Colorspace, Image } from "../../../codecs/image/image.ts";
import type { ImageCodec } from "../../../codecs/image/image_codec.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import type { SerializerChoice } from "../meta/serializer.ts";
import type { PlaceOptions } from "../../../io/storage/place.ts";

/** Makes of a frame's JPEG what a program works with. */
export type FrameDecoder<Frame> = (
  jpeg: Uint8Array<ArrayBuffer>,
) => Frame | Promise<Frame>;

/**
 * How frames are decoded: by an image codec (the best that loads, where it is not given or `null`), not at all
 * (`false`: frames are JPEGs), or by a function of the caller's.
 */
export type DecodeChoice =
  | ImageCodec
  | FrameDecoder<unknown>
  | false
  | null
  | undefined;

/** Options of opening GulpIO data. */
/**
 * Options of reading gulp files. Only the local disk is written to; from a storage that has to be waited for, methods
 * without waiting refuse to read (`must-wait`).
 */
export interface GulpOptions<Decode extends DecodeChoice = DecodeChoice>
  extends PlaceOptions {
  /** How frames are decoded. */
  readonly decode?: Decode;
  /** What a codec makes of frames: `ANY` (unless given) keeps gray ones gray, with one channel. */
  readonly colorspace?: Colorspace | undefined;
  /** How `.gmeta` files are kept; told by their content where not given. */
  readonly serializer?: SerializerChoice | undefined;
  /** Told of damaged chunks that are left out of a directory. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * What frames are, by how they are decoded. Where nothing is given, `Decode` is all that can be
 * given, `null` included: a default would keep a function's parameter from having its type.
 */
export type FrameOf<Decode> = null extends Decode ? Image
  : Decode extends false ? Uint8Array<ArrayBuffer>
  : Decode extends (...args: never[]) => infer Frame ? Awaited<Frame>
  : Image;

/** Frames of a video and what is known of it. */
export interface Video<Frame> {
  /** The frames asked for, in that order. */
  readonly frames: Frame[];
  /** The first item of its meta_data. */
  readonly meta: { [key: string]: JsonValue };
}

/** A video whose frames are the JPEGs that are stored. */
export type RawVideo = Video<Uint8Array<ArrayBuffer>>;

const COLORSPACES: readonly Colorspace[] = ["RGB", "GRAY", "ANY"];

/** Decodes videos as options ask for. */
export class VideoDecoder<Frame> {
  readonly #decode: FrameDecoder<unknown> | undefined;
  readonly #waits: boolean;

  /** @throws {TypeError} If an option is none of its choices, or nothing would heed the colour space. */
  constructor(options: GulpOptions) {
    this.#decode = decoderOf(options);
    this.#waits = options.decode !== false &&
      typeof options.decode !== "function";
  }

  /** Decodes a video's frames, several at a time where the decoder waits. */
  async decode({ frames, meta }: RawVideo): Promise<Video<Frame>> {
    const decode = this.#decode;
    const decoded = decode === undefined
      ? frames
      : await Promise.all(frames.map((jpeg) => decode(jpeg)));
    return { frames: decoded as Frame[], meta };
  }

  /**
   * Decodes a video's frames without waiting.
   *
   * @throws {TypeError} If the decoder waits.
   */
  decodeSync({ frames, meta }: RawVideo): Video<Frame> {
    const decode = this.#waits ? refuseToWait : this.#decode;
    const decoded = decode === undefined ? frames : frames.map((jpeg) => {
      const frame = decode(jpeg);
      return frame instanceof Promise ? refuseToWait() : frame;
    });
    return { frames: decoded as Frame[], meta };
  }
}

function refuseToWait(): never {
  throw new TypeError(
    "Image codecs decode asynchronously: use the method without Sync, or " +
      "`for await`, or read JPEGs by `decode: false`",
  );
}

/** A program whose types nobody checks would learn of a wrong name at its first frame only. */
function assertChoices({ decode, colorspace }: GulpOptions): void {
  if (colorspace !== undefined && !COLORSPACES.includes(colorspace)) {
    throw new TypeError(
      `The option colorspace is ${JSON.stringify(colorspace)}: give ` +
        COLORSPACES.join(", ").replace(/, (?=\w+$)/, " or "),
    );
  }
  if (!decode || typeof decode === "function") return;
  if (typeof decode.decode === "function") return;
  throw new TypeError(
    "The option decode is none of these: an image codec, a function, false",
  );
}

/** The function that decodes as options ask for, or `undefined` for raw frames. */
function decoderOf(options: GulpOptions): FrameDecoder<unknown> | undefined {
  const { decode, colorspace } = options;
  assertChoices(options);
  if (decode === false || typeof decode === "function") {
    if (colorspace !== undefined) {
      throw new TypeError(
        "The option colorspace is for image codecs: leave it out, or leave out decode",
      );
    }
    return decode === false ? undefined : decode;
  }
  let codec: Promise<ImageCodec> | undefined;
  return async (jpeg): Promise<Image> => {
    // Loaded at the first frame: who reads raw frames only needs none.
    codec ??= decode ? Promise.resolve(decode) : imageCodec();
    return await (await codec).decode(jpeg, {
      colorspace: colorspace ?? "ANY",
    });
  };
}
