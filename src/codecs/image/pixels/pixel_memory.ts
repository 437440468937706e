import { Buffer } from "node:buffer";
import { PIXELS_WASM } from "./pixels_wasm.ts";

/** Offset of the first pixel, distance between rows, and numbers of rows and columns. */
type Rows = [from: number, pitch: number, height: number, width: number];

/** Functions of `pixels.as`: lengths and pitches in bytes, positions are offsets in memory. */
interface PixelFunctions {
  columns(
    ...args: [
      ...[from: number, pitch: number, rows: number],
      ...[to: number, toPitch: number, width: number],
      ...[table: number, stride: number],
    ]
  ): void;
  rows(
    ...args: [
      ...[from: number, pitch: number],
      ...[to: number, toPitch: number, length: number, rows: number],
      ...[table: number, stride: number],
    ]
  ): void;
  packBytes(
    ...args: [...Rows, channels: 1 | 3, isFlipped: boolean, to: number]
  ): void;
  planes(
    ...args: [
      ...[...Rows, channels: 1 | 3, isFlipped: boolean],
      ...[table: number, to: number],
    ]
  ): void;
  triples(
    ...args: [...Rows, isFlipped: boolean, table: number, to: number]
  ): void;
  unpack(from: number, pixels: number, channels: 1 | 3, to: number): void;
}

/** Memory that grew beyond this is dropped after use: WebAssembly memory never shrinks. */
const KEEP_BYTES = 64 * 1024 * 1024;

const PAGE = 65_536;

/** Vector loads and stores overrun the ends of rows. */
const SLACK = 64;

const module = new WebAssembly.Module(Buffer.from(PIXELS_WASM, "base64"));

/** WebAssembly memory for pixels, and the functions that work on it. */
export class PixelMemory {
  readonly functions: PixelFunctions;
  readonly #memory: WebAssembly.Memory;
  #end = SLACK;

  constructor() {
    this.#memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(module, {
      env: { memory: this.#memory },
    });
    this.functions = exports as unknown as PixelFunctions;
  }

  /** View of the whole memory, invalid after the next {@linkcode take}. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer as ArrayBuffer);
  }

  /** Allocates `length` bytes, with slack after them that may be overwritten, and returns their offset. */
  take(length: number): number {
    const at = this.#end;
    this.#end = at + Math.ceil(length / 16) * 16 + SLACK;
    const missing = this.#end - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE));
    return at;
  }

  clear(): void {
    this.#end = SLACK;
  }

  /** Whether it is small enough to reuse. */
  get isKept(): boolean {
    return this.#memory.buffer.byteLength <= KEEP_BYTES;
  }
}

let kept: PixelMemory | undefined;

/** Runs synchronous `work` with a reusable memory. */
export function withPixelMemory<T>(work: (memory: PixelMemory) => T): T {
  const memory = kept ?? new PixelMemory();
  kept = undefined; // dropped if `work` throws
  const made = work(memory);
  memory.clear();
  if (memory.isKept) kept = memory;
  return made;
}
