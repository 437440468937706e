/**
 * The JPEG and PNG codecs inside the package imagescript, which are WebAssembly.
 *
 * Its entry point is not imported: on npm it loads a native addon as well, which needs the
 * permission to run native code, and encodes JPEG with it.
 *
 * @module
 */
import { packageFile } from "../../base/packages.ts";

/** Exports of a module: functions of numbers, which may be pointers into its memory. */
type WasmExports<Names extends string> =
  & { readonly memory: WebAssembly.Memory }
  & Readonly<Record<Names, (...numbers: number[]) => number>>;

/**
 * `wlen` is the size of what was last asked for. `decode` and `encode` take over the bytes at a pointer;
 * 0 is failure.
 */
export type JpegExports = WasmExports<
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
export type PngExports = WasmExports<
  "walloc" | "wfree" | "decode" | "width" | "height"
>;

/** An instance that has grown beyond is thrown away after use: its memory never shrinks. */
const KEEP_BYTES = 64 * 1024 * 1024;

/**
 * Has a module used with one instance, made anew when the last one failed or grew: if `use` throws, no
 * later call sees the instance that it left behind.
 */
export function oneInstance<E extends WasmExports<never>>(
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

/** Bytes in a module's memory, until it grows. */
export function view(
  { memory }: WasmExports<never>,
  pointer: number,
  size: number,
): Uint8Array {
  return new Uint8Array(memory.buffer, pointer >>> 0, size);
}

/** Copies bytes to memory of a module, and returns the pointer to them. */
export function put(wasm: WasmExports<"walloc">, bytes: Uint8Array): number {
  const pointer = wasm.walloc(bytes.length);
  view(wasm, pointer, bytes.length).set(bytes);
  return pointer;
}

/** Loads a module from where Deno keeps npm packages. */
export async function loadModule(name: string): Promise<WebAssembly.Module> {
  const url = await packageFile("imagescript", `wasm/any/${name}.wasm`);
  return await WebAssembly.compile(await Deno.readFile(url));
}
