/**
 * The JPEG and PNG codecs inside the package imagescript, which are WebAssembly.
 *
 * Its entry point is not imported: on npm it loads a native addon as well, which needs the
 * permission to run native code, and encodes JPEG with it.
 *
 * @module
 */
import { packageFile } from "../../packages.ts";

/** Exports of a module: functions of numbers, which may be pointers into its memory. */
type WasmExports<Names extends string> =
  & { readonly memory: WebAssembly.Memory }
  & Readonly<Record<Names, (...numbers: number[]) => number>>;

/**
 * `wlen` is the size of what was last asked for. `decode` and `encode` take over the bytes at a pointer;
 * 0 is failure.
 */
type JpegExports = WasmExports<
  | "walloc"
  | "wfree"
  | "wlen"
  | "decode"
  | "decode_width"
  | "decode_height"
  | "decode_format"
  | "decode_buffer"
  | "decode_free"
  | "encode"
>;

/** `decode` gives a pointer to RGBA pixels; below 0 is failure. */
type PngExports = WasmExports<
  "walloc" | "wfree" | "decode" | "width" | "height"
>;

/** Pixels as the modules give them. */
export interface WasmPixels {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  readonly format: "gray" | "rgb" | "cmyk" | "rgba";
}

/** The JPEG module's numbers for what is in a pixel. */
const JPEG_FORMATS = ["gray", "rgb", "cmyk"] as const;

/** An instance that has grown beyond is thrown away after use: its memory never shrinks. */
const KEEP_BYTES = 64 * 1024 * 1024;

/**
 * Has a module used with one instance, made anew when the last one failed or grew: if `use` throws, no
 * later call sees the instance that it left behind.
 */
function oneInstance<E extends WasmExports<never>>(
  module: WebAssembly.Module,
  imports: WebAssembly.Imports = {},
): <T>(use: (exports: E) => T) => T {
  let idle: E | undefined;
  return (use) => {
    const exports = idle ??
      new WebAssembly.Instance(module, imports).exports as unknown as E;
    idle = undefined;
    const result = use(exports);
    if (exports.memory.buffer.byteLength <= KEEP_BYTES) idle = exports;
    return result;
  };
}

function view(
  { memory }: WasmExports<never>,
  pointer: number,
  size: number,
): Uint8Array {
  return new Uint8Array(memory.buffer, pointer >>> 0, size);
}

/** Copies bytes to memory of a module, and returns the pointer to them. */
function put(wasm: WasmExports<"walloc">, bytes: Uint8Array): number {
  const pointer = wasm.walloc(bytes.length);
  view(wasm, pointer, bytes.length).set(bytes);
  return pointer;
}

/** The modules, ready for use. All methods throw plain errors on images they cannot read. */
export class ImagescriptWasm {
  readonly #withJpeg;
  readonly #withPng;

  private constructor(jpeg: WebAssembly.Module, png: WebAssembly.Module) {
    const env = { "emscripten_notify_memory_growth": () => {} };
    this.#withJpeg = oneInstance<JpegExports>(jpeg);
    this.#withPng = oneInstance<PngExports>(png, { env });
  }

  /** Loads them from where Deno keeps npm packages. */
  static async load(): Promise<ImagescriptWasm> {
    const [jpeg, png] = await Promise.all(["jpeg", "png"].map(async (name) => {
      const url = await packageFile("imagescript", `wasm/any/${name}.wasm`);
      return await WebAssembly.compile(await Deno.readFile(url));
    }));
    return new ImagescriptWasm(jpeg!, png!);
  }

  decodeJpeg(bytes: Uint8Array): WasmPixels {
    return this.#withJpeg((wasm) => {
      const pointer = put(wasm, bytes);
      const image = wasm.decode(pointer, bytes.length, 0, 0);
      const format = image === 0
        ? undefined
        : JPEG_FORMATS[wasm.decode_format(image)];
      if (format === undefined) throw new Error("cannot decode this JPEG");
      const buffer = wasm.decode_buffer(image);
      const pixels = {
        data: view(wasm, buffer, wasm.wlen()).slice(),
        width: wasm.decode_width(image),
        height: wasm.decode_height(image),
        format,
      };
      wasm.decode_free(image);
      return pixels;
    });
  }

  decodePng(bytes: Uint8Array): WasmPixels {
    return this.#withPng((wasm) => {
      const pointer = put(wasm, bytes);
      const buffer = wasm.decode(pointer, bytes.length);
      wasm.wfree(pointer);
      if (buffer < 0) throw new Error(`cannot decode this PNG (${buffer})`);
      const [width, height] = [wasm.width(), wasm.height()];
      const data = view(wasm, buffer, 4 * width * height).slice();
      wasm.wfree(buffer);
      return { data, width, height, format: "rgba" };
    });
  }

  /**
   * Encodes a JPEG with three components, not subsampled.
   *
   * @param fill Writes the RGBA pixels.
   */
  encodeJpeg(
    width: number,
    height: number,
    quality: number,
    fill: (rgba: Uint8Array) => void,
  ): Uint8Array<ArrayBuffer> {
    return this.#withJpeg((wasm) => {
      const size = 4 * width * height;
      const pointer = wasm.walloc(size);
      fill(view(wasm, pointer, size));
      const buffer = wasm.encode(pointer, width, height, quality);
      const length = wasm.wlen();
      const jpeg = view(wasm, buffer, length).slice();
      wasm.wfree(buffer, length);
      return jpeg as Uint8Array<ArrayBuffer>;
    });
  }
}
