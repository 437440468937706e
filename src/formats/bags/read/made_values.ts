import { perform, type Steps } from "../../../io/concurrency/steps.ts";

/** Converts values: synchronously, or all asynchronous ones together. `make(true)` may return promises. */
export function* whenMade<R, T>(
  read: readonly R[],
  make: (mayWait: boolean) => (read: R, i: number) => T | Promise<T>,
): Steps<T[]> {
  return yield* perform<T[]>({
    sync: () => read.map(make(false)) as T[],
    async: () => allEnded(read.map(make(true))),
  });
}

/** Waits until all values have settled, even if one fails: only then may memory that they use be reused. */
export async function allEnded<T>(
  made: readonly (T | Promise<T>)[],
): Promise<T[]> {
  const ends = await Promise.allSettled(made);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
