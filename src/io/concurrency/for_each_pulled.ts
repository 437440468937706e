import { type Effect, perform, type Steps } from "./steps.ts";
import { abortable } from "./abortable.ts";

/**
 * Takes what an asynchronous source gives, one at a time; the source is closed at the end.
 *
 * @param needsWaiting What is said where nothing may be waited for.
 */
export function* forEachPulled(
  source: AsyncIterable<unknown>,
  needsWaiting: string,
  take: (value: unknown) => Steps<void>,
): Steps<void> {
  const values = valuesOf(source);
  let ended = false;
  try {
    for (;;) {
      const result = yield* perform(nextOf(values, needsWaiting));
      ended = result.done === true;
      if (ended) return;
      yield* take(result.value);
    }
  } finally {
    // Not waited for: a stream that hangs must not keep a writer from being given up.
    if (!ended) values.stop().catch(() => {});
  }
}

interface Values {
  next(): Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  /** Gives up what is left. */
  stop(): Promise<unknown>;
}

function valuesOf(source: AsyncIterable<unknown>): Values {
  if (source instanceof ReadableStream) {
    // Its iterator would wait for a piece that is under way before it cancels.
    const reader = source.getReader();
    return { next: () => reader.read(), stop: () => reader.cancel() };
  }
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    stop: async () => await iterator.return?.(),
  };
}

function nextOf(
  values: Values,
  needsWaiting: string,
): Effect<Awaited<ReturnType<Values["next"]>>> {
  return {
    sync() {
      throw new TypeError(needsWaiting);
    },
    async: (signal) => abortable(values.next(), signal),
  };
}

/** Tells what {@linkcode forEachPulled} takes. */
export function isAsyncIterable(
  value: unknown,
): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null &&
    Symbol.asyncIterator in value;
}
