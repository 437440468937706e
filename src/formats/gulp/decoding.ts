import { imageCodec } from "../../codecs/image/choose_codec.ts";
import type { Colorspace, Image } from "../../codecs/image/image.ts";
import type { ImageCodec } from "../../codecs/image/image_codec.ts";
import type { JsonValue } from "../../codecs/json/value.ts";
import type { SerializerChoice } from "./serializer.ts";

/** Makes of a frame's JPEG what a program works with. */
export type FrameDecoder<Frame> = (
  jpeg: Uint8Array<ArrayBuffer>,
) => Frame | Promise<Frame>;

/** Options of opening GulpIO data, however its frames are decoded. */
export interface GulpOptions {
  /** How `.gmeta` files are kept; told by their content where not given. */
  readonly serializer?: SerializerChoice | undefined;
}

/** Frames are decoded by an image codec. */
export interface CodecOptions extends GulpOptions {
  /** The codec; the best that loads where not given. */
  readonly decode?: ImageCodec | undefined;
  /** What frames become: `ANY` (unless given) keeps gray ones gray, with one channel. */
  readonly colorspace?: Colorspace | undefined;
}

/** Frames stay the JPEG bytes that they are. */
export interface RawOptions extends GulpOptions {
  /** `false`: frames are not decoded. */
  readonly decode: false;
}

/** Frames are decoded by a function of the caller's. */
export interface DecoderOptions<Frame> extends GulpOptions {
  /** Called with each frame's JPEG. */
  readonly decode: FrameDecoder<Frame>;
}

/** All ways to decode. */
export type AnyOptions =
  | CodecOptions
  | RawOptions
  | DecoderOptions<unknown>;

/** What frames are where data is opened with such options. */
export type FrameOf<Options> = Options extends { readonly decode: false }
  ? Uint8Array<ArrayBuffer>
  : Options extends { readonly decode: (...args: never[]) => infer Frame }
    ? Awaited<Frame>
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

/** Decodes videos as options ask for. */
export class VideoDecoder<Frame> {
  readonly #decode: FrameDecoder<unknown> | undefined;
  readonly #waits: boolean;

  /** @throws {TypeError} If a colour space is given where nothing would heed it. */
  constructor(options: AnyOptions) {
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

/** The function that decodes as options ask for, or `undefined` for raw frames. */
function decoderOf(options: AnyOptions): FrameDecoder<unknown> | undefined {
  const { decode } = options;
  if (decode === false || typeof decode === "function") {
    if ("colorspace" in options && options.colorspace !== undefined) {
      throw new TypeError(
        "The option colorspace is for image codecs: leave it out, or leave out decode",
      );
    }
    return decode === false ? undefined : decode;
  }
  const { colorspace = "ANY" } = options as CodecOptions;
  let codec: Promise<ImageCodec> | undefined;
  return async (jpeg): Promise<Image> => {
    // Loaded at the first frame: who reads raw frames only needs none.
    codec ??= decode === undefined ? imageCodec() : Promise.resolve(decode);
    return await (await codec).decode(jpeg, { colorspace });
  };
}
