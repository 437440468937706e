import { Buffer } from "node:buffer";
import { PIXELS_WASM } from "./pixels_wasm.ts";

/** Where the first pixel is, the distance between rows, and how many rows and columns there are. */
type Rows = [from: number, pitch: number, height: number, width: number];

/** The functions of `pixels.as`: lengths and pitches in bytes, places in memory. */
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

/** Memory that has grown beyond is thrown away after use: WebAssembly's never shrinks. */
const KEEP_BYTES = 64 * 1024 * 1024;

const PAGE = 65_536;

/** Vectors are read and written beyond the ends of rows. */
const SLACK = 64;

const module = new WebAssembly.Module(Buffer.from(PIXELS_WASM, "base64"));

/** Memory of WebAssembly that pixels are in, and what is done to them there. */
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

  /** All of it; of no use any more once some is {@linkcode take}n. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer as ArrayBuffer);
  }

  /** Place of so many bytes, and some more that may be overwritten. */
  take(length: number): number {
    const at = this.#end;
    this.#end = at + Math.ceil(length / 16) * 16 + SLACK;
    const missing = this.#end - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE));
    return at;
  }

  /** Gives all back that was taken. */
  clear(): void {
    this.#end = SLACK;
  }

  /** Whether it may be used again. */
  get isKept(): boolean {
    return this.#memory.buffer.byteLength <= KEEP_BYTES;
  }
}

let kept: PixelMemory | undefined;

/** Has memory for as long as `work`, which does not wait, is under way. */
export function withPixelMemory<T>(work: (memory: PixelMemory) => T): T {
  const memory = kept ?? new PixelMemory();
  kept = undefined; // one that fails leaves it behind
  const made = work(memory);
  memory.clear();
  if (memory.isKept) kept = memory;
  return made;
}
