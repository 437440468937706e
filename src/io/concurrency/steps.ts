/**
 * Procedures that read, written once for callers that wait and callers that cannot.
 *
 * A procedure is a generator that yields effects where it touches the outside world. {@linkcode runSync}
 * performs each at once, {@linkcode runAsync} awaits it. Functions called for each small value, such as one record of a
 * list, also have a plain synchronous version (`get` and `getSync`), because creating a generator costs as much as
 * reading the value.
 *
 * @module
 */

/** One act on the outside world, in a synchronous and an asynchronous version. */
export interface Effect<T> {
  /** Returns at once, or throws. */
  sync(): T;
  /** Resolves when done; the signal aborts waiting. */
  async(signal: AbortSignal | undefined): Promise<T>;
}

/** A procedure that returns a `T`. */
export type Steps<T> = Generator<
  {
    /** Returns at once, or throws. */
    sync(): unknown;
    /** Resolves when done; the signal aborts waiting. */
    async(signal: AbortSignal | undefined): Promise<unknown>;
  },
  T,
  unknown
>;

/** Performs one effect inside a procedure. */
export function* perform<T>(effect: Effect<T>): Steps<T> {
  return (yield effect) as T;
}

/** Returns a procedure that has already ended with a value. */
// deno-lint-ignore require-yield
export function* ended<T>(value: T): Steps<T> {
  return value;
}

/** Runs a procedure to its end without waiting. */
export function runSync<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = step.value.sync();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}

/**
 * Runs a procedure to its end, waiting if needed.
 *
 * @throws The signal's reason if it aborts before the end.
 */
export async function runAsync<T>(
  steps: Steps<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  return await goOn(steps, steps.next(), signal);
}

/** Continues a procedure from a step it has taken, like {@linkcode runAsync}. */
export async function goOn<T>(
  steps: Steps<T>,
  step: IteratorResult<Effect<unknown>, T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  while (!step.done) {
    let value: unknown;
    try {
      value = await step.value.async(signal);
      signal?.throwIfAborted();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}

/** Runs a procedure as one effect: an abort takes effect after it, not half-way. */
export function* unaborted<T>(steps: () => Steps<T>): Steps<T> {
  return yield* perform({
    sync: () => runSync(steps()),
    async: () => runAsync(steps()),
  });
}
