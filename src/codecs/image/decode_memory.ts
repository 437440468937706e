/**
 * Memory limit of images being decoded, shared by all threads of the process. An image's need is known from its header
 * before decoding: a small file may hold 400 MB of pixels.
 *
 * @module
 */
import type { ImageHeader } from "./image_header.ts";

/** In KiB, so that counts fit 32 bits: 512 MiB, room for one image of `MAX_PIXELS` at 4 bytes a pixel. */
const LIMIT = 512 * 1024;

/** Polling interval, in ms, for memory that other threads release, also by being terminated. */
const LOOK_AGAIN = 5;

/** Memory that threads share: the total taken by all, and one thread's part of it. */
export interface DecodeMemoryShare {
  readonly total: Int32Array<SharedArrayBuffer>;
  readonly own: Int32Array<SharedArrayBuffer>;
}

let share: DecodeMemoryShare = { total: newCell(), own: newCell() };

/** Last waiter in this thread's FIFO queue. */
let last: Promise<unknown> | undefined;
let wake = () => {};

function newCell(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Returns a share to start another thread with, counted in the same total. */
export function newDecodeMemoryShare(): DecodeMemoryShare {
  return { total: share.total, own: newCell() };
}

/** Makes this thread count in a share's total. */
export function shareDecodeMemory(given: DecodeMemoryShare): void {
  share = given;
}

/** Releases the memory of a terminated thread, which may have ended in the middle of an image. */
export function returnDecodeMemory({ total, own }: DecodeMemoryShare): void {
  Atomics.sub(total, 0, Atomics.exchange(own, 0, 0));
}

/** Runs `decode` once there is room for its `bytes`; an image that exceeds the limit runs alone. */
export async function inDecodeMemory<T>(
  bytes: number,
  decode: () => T | Promise<T>,
): Promise<T> {
  const units = Math.ceil(bytes / 1024);
  if (last !== undefined || !tryTake(units)) {
    const turn = waitToTake(units, last);
    last = turn;
    await turn;
    if (last === turn) last = undefined;
  }
  try {
    return await decode();
  } finally {
    Atomics.sub(share.total, 0, units);
    Atomics.sub(share.own, 0, units);
    wake();
  }
}

/** Bytes per pixel while an image is decoded in full, as measured: 16 bits, or planes and pixels at the same time. */
const PIXEL_BYTES: Readonly<Record<ImageHeader["format"], number>> = {
  avif: 16,
  gif: 8,
  jpeg: 4, // alpha may be dropped late
  png: 4,
  tiff: 8,
  webp: 11,
};

/** Bytes of an image's pixels while it is decoded in full. */
export function decodedBytes(
  { format, height, width, isCmyk }: ImageHeader,
): number {
  return height * width * (isCmyk ? 7 : PIXEL_BYTES[format]); // CMYK plus its RGB
}

/** Waits in order: later, smaller images must not starve a large one. */
async function waitToTake(
  units: number,
  before: Promise<unknown> | undefined,
): Promise<void> {
  await before;
  while (!tryTake(units)) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_AGAIN);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wake = () => {};
  }
}

function tryTake(units: number): boolean {
  const { total, own } = share;
  // Before the total, so that a thread terminated here releases too much rather than too little.
  Atomics.add(own, 0, units);
  for (let taken = Atomics.load(total, 0);;) {
    if (taken > 0 && taken + units > LIMIT) {
      Atomics.sub(own, 0, units);
      return false;
    }
    const found = Atomics.compareExchange(total, 0, taken, taken + units);
    if (found === taken) return true;
    taken = found;
  }
}
