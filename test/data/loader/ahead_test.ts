import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { DataLoader, Dataset } from "../../../src/open/data/mod.ts";
import { BatchesAhead } from "../../../src/data/loader/batches_ahead.ts";
import { StepsAhead } from "../../../src/data/loader/steps_ahead.ts";

const MEGABYTE = 1 << 20;

function orderOf(length: number, size: number, broken = -1) {
  const asked: number[] = [];
  const at = (step: number) => {
    asked.push(step);
    if (step === broken) throw new Error("no such step");
    return Array.from({ length: size }, (_, i) => step * size + i);
  };
  return { asked, order: { length, at } };
}

Deno.test("as many steps are prefetched as there are samples to fetch, each once", () => {
  const { asked, order } = orderOf(Infinity, 100);
  const steps = new StepsAhead({ order, epoch: 4, step: 7 }, 2);
  assert.deepEqual(steps.take(), { epoch: 4, step: 7, indices: order.at(7) });
  asked.length = 0;
  assert.deepEqual(steps.look().map(({ step }) => step), [8, 9, 10]);
  assert.deepEqual(steps.look(), []);
  assert.equal(steps.take().step, 8);
  assert.deepEqual(steps.look().map(({ step }) => step), [11]);
  assert.deepEqual(asked, [8, 9, 10, 11]);
});

Deno.test("of large batches, as many are prefetched as are loaded ahead", () => {
  const { order } = orderOf(9, 1000);
  const steps = new StepsAhead({ order, epoch: 0, step: 5 }, 3);
  assert.deepEqual(steps.look().map(({ step }) => step), [5, 6, 7]);
  steps.take();
  steps.take();
  assert.deepEqual(steps.look().map(({ step }) => step), [8]); // the last step
});

Deno.test("a step that the sampler does not have fails when it is taken", () => {
  const { asked, order } = orderOf(9, 1, 2);
  const steps = new StepsAhead({ order, epoch: 0, step: 0 }, 1);
  assert.equal(steps.look().length, 2);
  assert.equal(steps.look().length, 0);
  steps.take();
  steps.take();
  assert.throws(() => steps.take(), /no such step/);
  assert.deepEqual(asked, [0, 1, 2, 2]);
});

Deno.test("no more is prefetched than the limit of bytes, and the rest when there is room", async () => {
  const told: number[] = [];
  const ahead = new BatchesAhead<{ job: number }>(({ job }) => {
    told.push(job);
    return 20 * MEGABYTE;
  });
  const jobs = Array.from({ length: 6 }, (_, job) => ({ job }));
  for (const job of jobs) ahead.add(job);
  ahead.begin(jobs[0]!);
  assert.deepEqual(told, [0]); // the others only after it has been requested
  await setImmediate();
  assert.deepEqual(told, [0, 1, 2]);
  ahead.begin(jobs[1]!);
  await setImmediate();
  assert.deepEqual(told, [0, 1, 2, 3]);
  ahead.begin(jobs[2]!);
  ahead.clear();
  await setImmediate();
  assert.deepEqual(told, [0, 1, 2, 3]);
});

class Telling extends Dataset<number> {
  readonly length = 1000;
  readonly events: string[] = [];
  override get(indices: readonly number[]): readonly number[] {
    this.events.push(`get ${indices}`);
    return indices;
  }
  override prefetch(
    indices: readonly number[],
    { seed, epoch }: { seed?: number; epoch?: number } = {},
  ): number {
    this.events.push(`expect ${indices} of ${seed}, ${epoch}`);
    return 0;
  }
}

Deno.test("a dataset prefetches each batch once, before it is read, up to the epoch's end", async () => {
  const dataset = new Telling();
  const order = { length: 3, at: (step: number) => [step, step + 10] };
  const loader = new DataLoader(dataset, {
    batchSampler: { length: 3, order: () => order },
    seed: 5,
  });
  loader.setEpoch(2);
  for await (const _ of loader) { /* only loaded */ }
  const tells = dataset.events.filter((event) => event.startsWith("expect"));
  assert.deepEqual(tells, [
    "expect 0,10 of 5, 2",
    "expect 1,11 of 5, 2",
    "expect 2,12 of 5, 2",
  ]);
  for (const step of [0, 1, 2]) {
    const at = (what: string) =>
      dataset.events.findIndex((event) =>
        event.startsWith(`${what} ${step},${step + 10}`)
      );
    assert.ok(at("expect") < at("get"));
  }
});

Deno.test("a dataset that throws from its prefetch ends the loop", async () => {
  class Throwing extends Telling {
    override prefetch(indices: readonly number[]): number {
      if (indices[0] === 3) throw new Error("told too much");
      return 0;
    }
  }
  await assert.rejects(async () => {
    for await (const _ of new DataLoader(new Throwing())) { /* to the end */ }
  }, /told too much/);
});
