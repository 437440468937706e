/**
 * JPEG and PNG codecs in WebAssembly, from the package imagescript.
 *
 * Does not import its entry point: on npm that also loads a native addon, which needs permission to run native code,
 * and encodes JPEG with it.
 *
 * @module
 */
import { packageFile } from "../../base/packages.ts";

/** Exports of a module: functions of numbers, which may be pointers into its memory. */
type WasmExports<Names extends string> =
  & { readonly memory: WebAssembly.Memory }
  & Readonly<Record<Names, (...numbers: number[]) => number>>;

/** `wlen` is the size of the last result. `decode` and `encode` take ownership of bytes at a pointer; 0 is failure. */
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

/** `decode` returns a pointer to RGBA pixels; a negative one means failure. */
export type PngExports = WasmExports<
  "walloc" | "wfree" | "decode" | "width" | "height"
>;

/** Instances that grew beyond this are dropped after use: WebAssembly memory never shrinks. */
const KEEP_BYTES = 64 * 1024 * 1024;

/** Runs functions on a reusable instance of a module, recreated after growth or failure: none gets a broken one. */
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

/** View of a module's memory, valid until the memory grows. */
export function view(
  { memory }: WasmExports<never>,
  pointer: number,
  size: number,
): Uint8Array {
  return new Uint8Array(memory.buffer, pointer >>> 0, size);
}

/** Copies bytes into a module's memory and returns the pointer to them. */
export function put(wasm: WasmExports<"walloc">, bytes: Uint8Array): number {
  const pointer = wasm.walloc(bytes.length);
  view(wasm, pointer, bytes.length).set(bytes);
  return pointer;
}

/** Loads a module from Deno's cache of npm packages. */
export async function loadModule(name: string): Promise<WebAssembly.Module> {
  const url = await packageFile("imagescript", `wasm/any/${name}.wasm`);
  return await WebAssembly.compile(await Deno.readFile(url));
}
