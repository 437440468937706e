import type { ImageBackend } from "./image_backend.ts";
import type { ImageCodec } from "./image_codec.ts";
import { BackedCodec } from "./backed_codec.ts";
import { ImageError } from "./image_error.ts";
import { warnOnConsole } from "../../base/message_text.ts";

/** The codecs there are. */
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

/** Time that JPEGs take beside the first codec, as measured (`bench/data/image_codecs.ts`). */
const COSTS: Readonly<Record<string, string>> = {
  sharp: "twice as long",
  imagescript: "six times as long",
};

/** What `auto` tries, the fastest first. */
const NAMES = Object.keys(LOADERS) as ImageCodecName[];

/** Those that decode all kinds of images. */
const OTHERS = NAMES.slice(1);

const backends = new Map<ImageCodecName, Promise<ImageBackend>>();
const codecs = new Map<ImageBackend, BackedCodec>();

/**
 * The codec for images; its package is loaded at the first call.
 *
 * `turbojpeg` decodes JPEGs the fastest, to the very pixels that Pillow has; `sharp` takes twice as long. Both
 * run native code: they need `--allow-ffi`, `--allow-env` and `--allow-read`. `imagescript` is WebAssembly and
 * needs `--allow-read` only. `auto` is the first of them that these permissions allow and that loads; it never
 * asks for a permission, but says on the console, once, where another is slower than the first. What `turbojpeg`
 * does not decode, such as PNG, it leaves to the next.
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
  return await backedCodec(name);
}

/** The codec, with what is for transforms only. */
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

/** Name of the codec that was asked for while something was done; `undefined` where none was. */
export async function codecAskedBy(
  work: () => Promise<unknown>,
): Promise<string | undefined> {
  lastAsked = undefined;
  await work();
  return lastAsked;
}

let isAdvised = false;

/** Has this thread leave it to another to say that a codec is slow. */
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
    `recordfs: JPEGs take ${
      COSTS[backend.name]
    } as they could, with the codec '${backend.name}': ${why}`,
  );
  return backend;
}

/** The first that loads; native ones are not even tried without leave. */
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

/** Deno would ask the user for what is not granted, and that is not what `auto` is for. */
function mayRunNative(): boolean {
  return (["ffi", "env", "read"] as const).every((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
}

function load(name: ImageCodecName): Promise<ImageBackend> {
  if (!Object.hasOwn(LOADERS, name)) {
    throw new RangeError(
      `There is no codec '${name}': choose of ${NAMES.join(", ")}`,
    );
  }
  let backend = backends.get(name);
  if (backend === undefined) {
    backend = LOADERS[name]().catch((cause) => {
      backends.delete(name);
      throw new ImageError(
        "codec-unavailable",
        `The image codec '${name}' does not load; it needs ${
          NEEDS[name]
        }, and ` +
          `to be fetched from npm once: ${firstLine((cause as Error).message)}`,
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
