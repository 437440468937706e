/**
 * Procedures that read, written once for callers that wait and callers that can't.
 *
 * A procedure is a generator that yields {@linkcode Effect}s, the places where it touches the
 * outside world. {@linkcode runSync} answers each at once, {@linkcode runAsync} awaits it.
 *
 * @module
 */

/** One act on the outside world, in both flavours. */
export interface Effect<T> {
  sync(): T;
  async(signal: AbortSignal | undefined): Promise<T>;
}

/** A procedure that ends in a `T`. */
export type Steps<T> = Generator<Effect<unknown>, T, unknown>;

/** Performs one effect inside a procedure. */
export function* perform<T>(effect: Effect<T>): Steps<T> {
  return (yield effect) as T;
}

/** Takes a value that may have to be waited for; only a promise makes the procedure pause. */
export function* settle<T>(value: T | Promise<T>): Steps<T> {
  if (!(value instanceof Promise)) return value;
  return (yield {
    sync() {
      value.catch(() => {}); // nobody will look at it
      throw new TypeError(
        "This container's index is not local: use the asynchronous method",
      );
    },
    async: () => value,
  }) as T;
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
  let step = steps.next();
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

/** How many reads are under way at once where each has to be waited for. */
const IN_FLIGHT = 16;

/** Runs procedures one after the other, or up to 16 at once where they wait. */
export function* inParallel(procedures: readonly Steps<void>[]): Steps<void> {
  yield* perform({
    sync() {
      for (const steps of procedures) runSync(steps);
    },
    async async(signal) {
      let next = 0;
      const lane = async () => {
        while (next < procedures.length) {
          try {
            await runAsync(procedures[next++]!, signal);
          } catch (error) {
            next = procedures.length; // the others finish what they are at
            throw error;
          }
        }
      };
      const lanes = Math.min(IN_FLIGHT, procedures.length);
      const ended = await Promise.allSettled(
        Array.from({ length: lanes }, lane),
      );
      const failed = ended.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
  });
}
