/**
 * Procedures that read, written once for callers that wait and callers that can't.
 *
 * A procedure is a generator that yields {@linkcode Effect}s, the places where it touches the
 * outside world. {@linkcode runSync} answers each at once, {@linkcode runAsync} awaits it. What is called
 * once for each small value, such as one record of a list, has beside its procedure a plain function that
 * does the same without waiting (`get` and `getSync`): making a generator costs as much as reading the value.
 *
 * @module
 */

/** One act on the outside world, in both flavours. */
export interface Effect<T> {
  /** Answers at once, or throws. */
  sync(): T;
  /** Answers when it is done; the signal ends the waiting. */
  async(signal: AbortSignal | undefined): Promise<T>;
}

/** A procedure that ends in a `T`. */
export type Steps<T> = Generator<Effect<unknown>, T, unknown>;

/** Performs one effect inside a procedure. */
export function* perform<T>(effect: Effect<T>): Steps<T> {
  return (yield effect) as T;
}

/** The procedure that has its end already. */
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
 * Runs a procedure to its end, waiting where it must.
 *
 * @throws The signal's reason, when it is aborted before the end.
 */
export async function runAsync<T>(
  steps: Steps<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  return await goOn(steps, steps.next(), signal);
}

/** Runs a procedure to its end from a step that it has taken, as {@linkcode runAsync} does. */
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

/** Runs a procedure as one effect: an abort is heard when it has ended, not half-way. */
export function* unaborted<T>(steps: () => Steps<T>): Steps<T> {
  return yield* perform({
    sync: () => runSync(steps()),
    async: () => runAsync(steps()),
  });
}
