import type { BackedCodec } from "../../codecs/image/backed_codec.ts";
import {
  backedCodec,
  type ImageCodecName,
} from "../../codecs/image/choose_codec.ts";
import type { Colorspace, Image } from "../../codecs/image/image.ts";
import type { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { sizeOf } from "./resize.ts";
import { newRecipe, PLAN, type SampleTransform } from "./transform.ts";

const COLORSPACES: readonly unknown[] = ["RGB", "GRAY", "ANY"];

/** Options of decoding images. */
export type DecodeImageOptions = NonNullable<
  ConstructorParameters<typeof DecodeImage>[0]
>;

/**
 * Decodes a JPEG, PNG, WebP, AVIF, GIF or TIFF; the first step if samples are files. Several images are decoded concurrently.
 *
 * @example Images of a packed folder, or of any bytes
 * ```ts
 * import { CenterCrop, Compose, DecodeImage, transformSamples, UnitNorm } from "@recordfs/recordfs/data";
 * import { imageCodec } from "@recordfs/recordfs/image";
 *
 * const codec = await imageCodec();
 * const gray = { data: new Uint8Array(64 * 48), height: 48, width: 64, channels: 1 } as const;
 * const jpegs = [await codec.encode(gray), await codec.encode(gray)];
 *
 * const chain = new Compose([new DecodeImage({ shortEdge: 32 }), new CenterCrop(28), new UnitNorm()]);
 * const samples = await transformSamples(chain, jpegs, [0, 1], { seed: 1, epoch: 0 });
 * console.log(samples.map(({ shape }) => shape)); // [ [ 28, 28, 1 ], [ 28, 28, 1 ] ]
 * ```
 */
export class DecodeImage implements SampleTransform<Uint8Array, Image> {
  readonly #options: DecodeImageOptions;
  #codec: Promise<BackedCodec> | undefined;

  /**
   * Makes the transform.
   *
   * @throws {RangeError} If `shortEdge` is not a valid length.
   * @throws {TypeError} If another option is not one of its choices.
   */
  constructor(
    options: {
      /** Codec that decodes them. Defaults to `auto`, the best that loads. */
      readonly codec?: ImageCodecName | "auto" | undefined;
      /** Colour space. Defaults to `ANY`, which keeps gray images gray, with one channel. */
      readonly colorspace?: Colorspace | undefined;
      /**
       * Short edge to decode to, in pixels; takes less time and memory than a later `Scale`. By default images keep
       * their size.
       */
      readonly shortEdge?: number | undefined;
      /**
       * Whether to decode JPEGs in full. By default a JPEG is decoded at a half, a quarter or an eighth of its size if
       * that is still six times as large as what is wanted of it. Pixels of natural pictures then differ by up to 3,
       * very few by more.
       */
      readonly exact?: boolean | undefined;
    } = {},
  ) {
    const { codec = "auto", colorspace = "ANY", shortEdge, exact } = options;
    if (!COLORSPACES.includes(colorspace)) {
      throw new TypeError(
        "The option colorspace must be RGB, GRAY or ANY, not " +
          `${JSON.stringify(colorspace)}`,
      );
    }
    if (shortEdge !== undefined) sizeOf(shortEdge, "DecodeImage");
    this.#options = { codec, colorspace, shortEdge, exact: exact === true };
  }

  /**
   * Decodes an image.
   *
   * @throws {ImageError} If it is damaged, too large or of an unsupported kind, or no codec loads.
   */
  async apply(bytes: Uint8Array): Promise<Image> {
    return (await this.#plan(bytes)).made();
  }

  /** Returns an image that is decoded later, limited to what the steps that follow need. */
  [PLAN](bytes: Uint8Array): Promise<Image> {
    return this.#plan(bytes);
  }

  async #plan(bytes: Uint8Array): Promise<PlannedImage> {
    if (!(bytes instanceof Uint8Array)) {
      throw new TypeError(
        "DecodeImage takes the bytes of an image file, but was given something else: put it first",
      );
    }
    const { codec, ...options } = this.#options;
    this.#codec ??= backedCodec(codec ?? "auto");
    return await (await this.#codec).plan(bytes, options);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, DecodeImage, import.meta.url, [this.#options]);
  }
}
