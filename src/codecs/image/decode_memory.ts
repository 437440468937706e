/**
 * How much images that are being decoded may take together, in all threads of the process. What an image takes
 * is known from its header, before anything is decoded: a small file may hold 400 MB of pixels.
 *
 * @module
 */
import type { ImageHeader } from "./image_header.ts";

/** In units of 1 KiB, so that it fits 32 bits: room for one of the largest images there are, and some others. */
const LIMIT = 512 * 1024;

/** Interval, in ms, at which decoding in other threads is looked at, which may have ended with them. */
const LOOK_AGAIN = 5;

/** Memory that threads share: what is taken in all of them, and what one of them has taken of it. */
export interface DecodeMemoryShare {
  readonly total: Int32Array<SharedArrayBuffer>;
  readonly own: Int32Array<SharedArrayBuffer>;
}

let share: DecodeMemoryShare = { total: newCell(), own: newCell() };

/** Those who wait in this thread, in the order in which they came. */
let last: Promise<unknown> | undefined;
let wake = () => {};

function newCell(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Share that another thread is to be started with, so that it takes from the same. */
export function newDecodeMemoryShare(): DecodeMemoryShare {
  return { total: share.total, own: newCell() };
}

/** Has this thread take from what others take from. */
export function shareDecodeMemory(given: DecodeMemoryShare): void {
  share = given;
}

/** Gives back what a thread had taken that has ended, perhaps in the middle of an image. */
export function returnDecodeMemory({ total, own }: DecodeMemoryShare): void {
  Atomics.sub(total, 0, Atomics.exchange(own, 0, 0));
}

/**
 * Decodes when there is room for it; alone, where it takes more than there is for all.
 *
 * @param bytes What it takes.
 */
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

/** Size of the pixels of an image while it is decoded in full. */
export function decodedBytes({ height, width, isCmyk }: ImageHeader): number {
  return height * width * (isCmyk ? 7 : 4); // four inks and what they become; alpha may be dropped late
}

/** Large images are not overtaken by those that come later, which would keep them waiting for good. */
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
  // Before the total, so that a thread that is ended here gives back too much rather than too little.
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
