import type { ImageCodec } from "./image_codec.ts";
import { ImageError } from "./image_error.ts";
import { ImagescriptCodec } from "./imagescript_codec.ts";
import { SharpCodec } from "./sharp_codec.ts";

/** The codecs there are. */
export type ImageCodecName = "imagescript" | "sharp";

const LOADERS: Record<ImageCodecName, () => Promise<ImageCodec>> = {
  imagescript: () => ImagescriptCodec.load(),
  sharp: () => SharpCodec.load(),
};

const NEEDS: Record<ImageCodecName, string> = {
  imagescript: "--allow-read",
  sharp: "--allow-ffi, --allow-env and --allow-read",
};

const loaded = new Map<ImageCodecName, Promise<ImageCodec>>();

/**
 * The codec for images; its package is loaded at the first call.
 *
 * `sharp` is several times as fast and runs native code: it needs `--allow-ffi`, `--allow-env` and
 * `--allow-read`. `imagescript` is WebAssembly and needs `--allow-read` only. `auto` is `sharp`
 * where these permissions are granted and it loads, else `imagescript`; it never asks for a
 * permission.
 *
 * @param name Which one; `auto` unless given.
 * @throws {ImageError} If it does not load; the message says what it needs.
 *
 * @example Decode and encode
 * ```ts
 * import { imageCodec } from "@recordfs/recordfs/image";
 *
 * const codec = await imageCodec("imagescript");
 * const gray = { data: new Uint8Array(64 * 48), height: 48, width: 64, channels: 1 } as const;
 * const jpeg = await codec.encode(gray, 90);
 * const { height, width, channels } = await codec.decode(jpeg, { colorspace: "RGB" });
 * console.log(height, width, channels); // 48 64 3
 * ```
 */
export async function imageCodec(
  name: ImageCodecName | "auto" = "auto",
): Promise<ImageCodec> {
  if (name !== "auto") return await load(name);
  if (mayLoadSharp()) {
    try {
      return await load("sharp");
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
    }
  }
  return await load("imagescript");
}

/** Deno would ask the user for what is not granted, and that is not what `auto` is for. */
function mayLoadSharp(): boolean {
  return (["ffi", "env", "read"] as const).every((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
}

function load(name: ImageCodecName): Promise<ImageCodec> {
  if (!Object.hasOwn(LOADERS, name)) {
    const names = Object.keys(LOADERS).join(", ");
    throw new RangeError(`There is no codec '${name}': choose of ${names}`);
  }
  let codec = loaded.get(name);
  if (codec === undefined) {
    codec = LOADERS[name]().catch((cause) => {
      loaded.delete(name);
      throw new ImageError(
        "codec-unavailable",
        `The image codec '${name}' does not load; it needs ${
          NEEDS[name]
        }, and ` +
          `to be fetched from npm once: ${firstLine((cause as Error).message)}`,
        { cause },
      );
    });
    loaded.set(name, codec);
  }
  return codec;
}

function firstLine(text: string): string {
  return text.split("\n")[0]!;
}
