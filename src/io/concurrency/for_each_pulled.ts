import { type Effect, perform, type Steps } from "./steps.ts";
import { abortable } from "./abortable.ts";

/** Consumes an asynchronous source and closes it. `needsWaiting` is the error message if waiting is not possible. */
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
    // Not awaited: a stalled stream must not prevent a writer from being aborted.
    if (!ended) values.stop().catch(() => {});
  }
}

interface Values {
  next(): Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  stop(): Promise<unknown>;
}

function valuesOf(source: AsyncIterable<unknown>): Values {
  if (source instanceof ReadableStream) {
    // The stream's iterator would wait for the pending read before it cancels.
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

export function isAsyncIterable(
  value: unknown,
): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null &&
    Symbol.asyncIterator in value;
}
