import { perform, runAsync, runSync, type Steps } from "./steps.ts";

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
