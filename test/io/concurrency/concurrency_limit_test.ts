/** Procedures that run concurrently, up to a limit. */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import {
  ConcurrencyLimit,
  inParallel,
} from "../../../src/io/concurrency/concurrency_limit.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../src/io/concurrency/steps.ts";

/** Fails at once when run synchronously, else after `ms` milliseconds. */
function* failing(name: string, ms: number): Steps<void> {
  yield* perform<void>({
    sync() {
      throw new Error(name);
    },
    async async() {
      await setTimeout(ms);
      throw new Error(name);
    },
  });
}

Deno.test("of several failures the first in order is reported, synchronously or not", async () => {
  const procedures = () => [failing("first", 30), failing("second", 0)];
  assert.throws(() => runSync(inParallel(procedures())), /^Error: first$/);
  await assert.rejects(runAsync(inParallel(procedures())), /^Error: first$/);
});

Deno.test("no more run than the limit, and all have ended at the end", async () => {
  const limit = new ConcurrencyLimit(2);
  let [underWay, most, ended] = [0, 0, 0];
  for (let i = 0; i < 6; i++) {
    await limit.room();
    most = Math.max(most, ++underWay);
    limit.add(
      setTimeout(1).then(() => {
        underWay--;
        ended++;
      }),
    );
  }
  await limit.end();
  assert.deepEqual([most, ended, limit.failed], [2, 6, false]);
});
