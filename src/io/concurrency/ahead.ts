import { yieldToEventLoop } from "./event_loop.ts";

/** Most bytes that are queued, plus one item. */
const MOST_WAITING = 4 << 20;
/** Upper bound of an item's overhead in bytes. */
const ITEM = 1024;
/** Bytes between yields, so that the consumer's next write can start when one has ended. */
const TURN = 256 * 1024;

/**
 * Reads a source ahead while its items are consumed: files are read while earlier ones are written.
 *
 * @param bytesOf Returns the memory that an item takes.
 * @param letGo Called with each item when the next one is requested.
 * @throws The source's error, after all earlier items were yielded.
 */
export async function* ahead<T>(
  source: AsyncIterable<T>,
  bytesOf: (item: T) => number,
  letGo: (item: T) => void = () => {},
): AsyncGenerator<T, void, undefined> {
  const waiting: T[] = [];
  const sizeOf = (item: T) => ITEM + bytesOf(item);
  let size = 0;
  let hasEnded = false;
  let isGivenUp = false;
  let wake = () => {};
  const change = () => new Promise<void>((resolve) => wake = resolve);
  const goOn = async () => {
    let sinceTurn = 0;
    try {
      for await (const item of source) {
        if (isGivenUp) return;
        waiting.push(item);
        size += sizeOf(item);
        sinceTurn += sizeOf(item);
        wake();
        if (sinceTurn >= TURN) {
          sinceTurn = 0;
          await yieldToEventLoop();
        }
        while (size > MOST_WAITING && !isGivenUp) await change();
        if (isGivenUp) return;
      }
    } finally {
      hasEnded = true;
      wake();
    }
  };
  const going = goOn();
  going.catch(() => {}); // awaited at the end
  try {
    for (;;) {
      while (waiting.length === 0 && !hasEnded) await change();
      if (waiting.length === 0) break;
      const item = waiting.shift()!;
      size -= sizeOf(item);
      wake();
      yield item;
      letGo(item);
    }
  } finally {
    isGivenUp = true;
    wake();
    await going;
  }
}
