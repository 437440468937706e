import assert from "node:assert/strict";
import { BatchError, DataLoader } from "../../../src/open/data/mod.ts";
import { type Deed, HostileDataset } from "../support/hostile_dataset.ts";
import { FULL } from "../../support/long.ts";

/** Returns the error of a loop over batches of 4, of which the third has the bad sample, 10. */
async function errorOf(
  deed: Deed,
  timeout: number,
): Promise<{ error: BatchError; before: number }> {
  await using loader = new DataLoader<unknown>(new HostileDataset(deed, 10), {
    batchSize: 4,
    numWorkers: 2,
    timeout,
  });
  let before = 0;
  try {
    for await (const _ of loader) before++;
  } catch (error) {
    assert.ok(error instanceof BatchError);
    loader.setStep(3);
    for await (const batch of loader) { // the other batches still load
      assert.equal((batch as Float64Array).length, 4);
      before++;
    }
    return { error, before };
  }
  throw new Error("It did not fail");
}

const ENDS = ["close", "Deno.exit", "process.exit"] as const;
for (const deed of FULL ? ENDS : ENDS.slice(0, 1)) {
  Deno.test(`a thread that ends itself is reported: ${deed}`, async () => {
    const { error, before } = await errorOf(deed, 0);
    assert.equal(error.code, "worker-died");
    assert.equal(error.step, 2);
    assert.deepEqual(error.indices, [8, 9, 10, 11]);
    assert.match(error.message, /its thread ended itself \(exit code \d\)/);
    assert.equal(before, 2 + 7);
  });
}

for (
  const [deed, message] of [
    ["timer", "thrown by a timer"],
    ["rejection", "rejected, and nobody looked"],
  ] as const
) {
  Deno.test(`a thread that dies of an error is reported: ${deed}`, async () => {
    const { error, before } = await errorOf(deed, 0);
    assert.equal(error.code, "worker-died");
    assert.equal(error.step, 2);
    assert.ok(error.message.includes(message), error.message);
    assert.ok(error.cause instanceof Error);
    assert.equal(before, 2 + 7);
  });
}

Deno.test("threads that hang are terminated after the timeout", async () => {
  await Promise.all((["wait", "block"] as const).map(async (deed) => {
    for (let timeout = 1000;; timeout *= 3) {
      const { error, before } = await errorOf(deed, timeout)
        .catch((error) => ({ error, before: NaN }));
      assert.equal(error.code, "worker-timeout");
      assert.match(error.message, new RegExp(`within ${timeout} ms`));
      // On a busy machine, threads that do not hang may time out as well: retry with a longer timeout.
      const isOther = error.step !== 2 || Number.isNaN(before);
      if (isOther && timeout < 100_000) continue;
      assert.equal(error.step, 2);
      assert.deepEqual(error.indices, [8, 9, 10, 11]);
      assert.equal(before, 2 + 7);
      return;
    }
  }));
});
