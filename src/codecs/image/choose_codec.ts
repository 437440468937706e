import type { ImageBackend } from "./image_backend.ts";
import type { ImageCodec } from "./image_codec.ts";
import { BackedCodec } from "./backed_codec.ts";
import { ImageError } from "./image_error.ts";
import { warnOnConsole } from "../../base/message_text.ts";

/** Names of the codecs. */
export type ImageCodecName = "turbojpeg" | "sharp" | "imagescript";

const LOADERS: Record<ImageCodecName, () => Promise<ImageBackend>> = {
  turbojpeg: async () => {
    const { TurboBackend } = await import("./turbo/turbo_backend.ts");
    return await TurboBackend.load(() => loadBackend(OTHERS));
  },
  sharp: async () => {
    const { SharpBackend } = await import("./sharp_backend.ts");
    return await SharpBackend.load();
  },
  imagescript: async () => {
    const { ImagescriptBackend } = await import("./imagescript_backend.ts");
    return await ImagescriptBackend.load();
  },
};

const NATIVE = "--allow-ffi, --allow-env and --allow-read";

const NEEDS: Record<ImageCodecName, string> = {
  turbojpeg: NATIVE,
  sharp: NATIVE,
  imagescript: "--allow-read",
};

/** Time that JPEGs take relative to the first codec, as measured (`bench/data/image_codecs.ts`). */
const COSTS: Readonly<Record<string, string>> = {
  sharp: "twice as long",
  imagescript: "six times as long",
};

/** Codecs that `auto` tries, fastest first. */
const NAMES = Object.keys(LOADERS) as ImageCodecName[];

/** Codecs that decode all kinds of images. */
const OTHERS = NAMES.slice(1);

const backends = new Map<ImageCodecName, Promise<ImageBackend>>();
const codecs = new Map<ImageBackend, BackedCodec>();

/**
 * Returns the codec for images; the first call loads its package.
 *
 * `turbojpeg` decodes JPEGs fastest, to exactly Pillow's pixels; `sharp` takes twice as long. Both run native code:
 * they need `--allow-ffi`, `--allow-env` and `--allow-read`. `imagescript` is WebAssembly and needs only
 * `--allow-read`. `auto` is the first that the granted permissions allow and that loads. It never prompts for a
 * permission, but warns once on the console if it chose a slower codec than the first. `turbojpeg` delegates what it
 * does not decode, such as PNG, to the next codec. Of WebP, AVIF, GIF and TIFF, that must be `sharp`.
 *
 * @param name Codec; `auto` by default.
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
  return await backedCodec(name);
}

/** Like {@linkcode imageCodec}, with the methods that only transforms use. */
export async function backedCodec(
  name: ImageCodecName | "auto",
): Promise<BackedCodec> {
  const backend = name === "auto" ? await loadFastest() : await load(name);
  let codec = codecs.get(backend);
  if (codec === undefined) {
    codecs.set(backend, codec = new BackedCodec(backend));
  }
  lastAsked = codec.name;
  return codec;
}

let lastAsked: string | undefined;

/** Name of the last codec requested while `work` runs, if any. */
export async function codecAskedBy(
  work: () => Promise<unknown>,
): Promise<string | undefined> {
  lastAsked = undefined;
  await work();
  return lastAsked;
}

let isAdvised = false;

/** Suppresses this thread's warning about a slow codec: another thread gives it. */
export function leaveCodecAdvice(): void {
  isAdvised = true;
}

async function loadFastest(): Promise<ImageBackend> {
  const backend = await loadBackend(NAMES);
  const [fastest] = NAMES;
  if (backend.name === fastest || isAdvised) return backend;
  isAdvised = true;
  const why = mayRunNative()
    ? await load(fastest!).then(() => "", (error: Error) => error.message)
    : `'${fastest}' needs ${NATIVE}`;
  warnOnConsole(
    `recordfs: decoding JPEGs takes ${
      COSTS[backend.name]
    } as it could, with the codec '${backend.name}': ${why}`,
  );
  return backend;
}

/** Loads the first backend that works; tries native ones only if their permissions are granted. */
async function loadBackend(
  names: readonly ImageCodecName[],
): Promise<ImageBackend> {
  for (const name of mayRunNative() ? names.slice(0, -1) : []) {
    try {
      return await load(name);
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
    }
  }
  return await load(names.at(-1)!);
}

/** Only queries: Deno would prompt the user for permissions that are not granted, which `auto` must not cause. */
function mayRunNative(): boolean {
  return (["ffi", "env", "read"] as const).every((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
}

function load(name: ImageCodecName): Promise<ImageBackend> {
  if (!Object.hasOwn(LOADERS, name)) {
    throw new RangeError(
      `The codec must be one of ${NAMES.join(", ")}, not '${name}'`,
    );
  }
  let backend = backends.get(name);
  if (backend === undefined) {
    backend = LOADERS[name]().catch((cause) => {
      backends.delete(name);
      throw new ImageError(
        "codec-unavailable",
        `Cannot load the image codec '${name}', which needs ${NEEDS[name]}, ` +
          `and to be downloaded from npm once: ` +
          firstLine((cause as Error).message),
        { cause },
      );
    });
    backends.set(name, backend);
  }
  return backend;
}

function firstLine(text: string): string {
  return text.split("\n")[0]!;
}
