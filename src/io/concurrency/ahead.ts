import { yieldToEventLoop } from "./event_loop.ts";

/** At most so many bytes wait to be asked for, and one item more. */
const MOST_WAITING = 4 << 20;
/** What an item takes beside its bytes, or less. */
const ITEM = 1024;
/** After so many, whoever takes them gets a turn: a write that has ended must not wait for the next to begin. */
const TURN = 256 * 1024;

/**
 * Gives what a source gives, which goes on meanwhile: files are read while those before them are written.
 *
 * @param bytesOf How much memory an item takes.
 * @param letGo Told of each item when the next is asked for.
 * @throws What the source does, when all that it gave before was given out.
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
  going.catch(() => {}); // it is waited for at the end
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
