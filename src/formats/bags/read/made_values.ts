import { perform, type Steps } from "../../../io/concurrency/steps.ts";

/**
 * Makes values of those that were read: at once, or all that have to be waited for together.
 *
 * @param make Makes one, which may be a promise where it may.
 */
export function* whenMade<R, T>(
  read: readonly R[],
  make: (mayWait: boolean) => (read: R, i: number) => T | Promise<T>,
): Steps<T[]> {
  return yield* perform<T[]>({
    sync: () => read.map(make(false)) as T[],
    async: () => allEnded(read.map(make(true))),
  });
}

/** The values, when all are made, or have failed: only then may others use what they are made of. */
export async function allEnded<T>(
  made: readonly (T | Promise<T>)[],
): Promise<T[]> {
  const ends = await Promise.allSettled(made);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
