import { imageCodec } from "../../../codecs/image/choose_codec.ts";
import type { Colorspace, Image } from "../../../codecs/image/image.ts";
import type { ImageCodec } from "../../../codecs/image/image_codec.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import type { GulpSerializer } from "../meta/serializer.ts";
import type { LocationOptions } from "../../../io/storage/stored_location.ts";

/**
 * Options for GulpIO data. Only the local disk is writable; synchronous methods refuse to read from asynchronous
 * storage (`must-wait`).
 */
export interface GulpOptions<
  Decode =
    | ImageCodec
    | ((jpeg: Uint8Array<ArrayBuffer>) => unknown)
    | false
    | null
    | undefined,
> extends LocationOptions {
  /**
   * Decoder of frames: an image codec (by default or if `null`, the best that loads), `false` for frames as JPEGs, or a
   * function, which may return a promise.
   */
  readonly decode?: Decode;
  /** Colour space of decoded frames: `ANY`, the default, keeps gray frames gray, with one channel. */
  readonly colorspace?: Colorspace | undefined;
  /** Serializer of `.gmeta` files; detected from their content by default. */
  readonly serializer?: "json" | "pickle" | GulpSerializer | undefined;
  /** Called with warnings about skipped damaged chunks. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Type of frames by decoder. If no decoder is given, `Decode` is all of its constraint, `null` included: with a
 * default, the parameter of a function would have no inferred type.
 */
export type FrameOf<Decode> = null extends Decode ? Image
  : Decode extends false ? Uint8Array<ArrayBuffer>
  : Decode extends (...args: never[]) => infer Frame ? Awaited<Frame>
  : Image;

/**
 * Frames of a video, and its metadata.
 *
 * @typeParam Frame Type of a frame; `Uint8Array<ArrayBuffer>` for the stored JPEGs.
 */
export interface Video<Frame> {
  /** Selected frames, in the order of the selection. */
  readonly frames: Frame[];
  /** First item of its meta_data. */
  readonly meta: { [key: string]: JsonValue };
}

/** A video whose frames are the stored JPEGs. */
export type RawVideo = Video<Uint8Array<ArrayBuffer>>;

type FrameDecoder = (jpeg: Uint8Array<ArrayBuffer>) => unknown;

const COLORSPACES: readonly Colorspace[] = ["RGB", "GRAY", "ANY"];

export class VideoDecoder<Frame> {
  readonly #decode: FrameDecoder | undefined;
  readonly #waits: boolean;

  /** @throws {TypeError} If an option is invalid, or `colorspace` is set without an image codec. */
  constructor(options: GulpOptions) {
    this.#decode = decoderOf(options);
    this.#waits = options.decode !== false &&
      typeof options.decode !== "function";
  }

  /** Decodes a video's frames, concurrently if the decoder is asynchronous. */
  async decode({ frames, meta }: RawVideo): Promise<Video<Frame>> {
    const decode = this.#decode;
    const decoded = decode === undefined
      ? frames
      : await Promise.all(frames.map((jpeg) => decode(jpeg)));
    return { frames: decoded as Frame[], meta };
  }

  /** Decodes a video's frames synchronously; throws TypeError if the decoder is asynchronous. */
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
      "`for await`, or read JPEGs with `decode: false`",
  );
}

/** Checks early: an untyped program would otherwise find a wrong option at its first frame only. */
function assertChoices({ decode, colorspace }: GulpOptions): void {
  if (colorspace !== undefined && !COLORSPACES.includes(colorspace)) {
    throw new TypeError(
      "The option colorspace must be " +
        `${COLORSPACES.join(", ").replace(/, (?=\w+$)/, " or ")}, not ` +
        `${JSON.stringify(colorspace)}`,
    );
  }
  if (!decode || typeof decode === "function") return;
  if (typeof decode.decode === "function") return;
  throw new TypeError(
    "The option decode must be an image codec, a function or false",
  );
}

/** Returns the decoder that the options select, or `undefined` for raw frames. */
function decoderOf(options: GulpOptions): FrameDecoder | undefined {
  const { decode, colorspace } = options;
  assertChoices(options);
  if (decode === false || typeof decode === "function") {
    if (colorspace !== undefined) {
      throw new TypeError(
        "The option colorspace is only for image codecs",
      );
    }
    return decode === false ? undefined : decode;
  }
  let codec: Promise<ImageCodec> | undefined;
  return async (jpeg): Promise<Image> => {
    // Loaded at the first frame: programs that read only raw frames need no codec.
    codec ??= decode ? Promise.resolve(decode) : imageCodec();
    return await (await codec).decode(jpeg, {
      colorspace: colorspace ?? "ANY",
    });
  };
}
