import { ConcurrencyLimit, READS_IN_FLIGHT } from "./concurrency_limit.ts";
import { perform, runAsync, runSync, type Steps } from "./steps.ts";

/**
 * Runs procedures one after the other, or several at once where they can wait. All that were begun have
 * ended when this does.
 *
 * @throws What the first of them that failed has thrown; those behind it are not begun.
 */
export function* inParallel(procedures: readonly Steps<void>[]): Steps<void> {
  yield* perform({
    sync() {
      for (const steps of procedures) runSync(steps);
    },
    async async(signal) {
      const flight = new ConcurrencyLimit(READS_IN_FLIGHT);
      for (const steps of procedures) {
        await flight.room();
        if (flight.failed) break;
        flight.add(runAsync(steps, signal));
      }
      await flight.end();
    },
  });
}
