/** Requests in flight, limited by number and by bytes. */
import assert from "node:assert/strict";
import { Slots } from "../../../src/io/concurrency/slots.ts";

/** Starts work that occupies `bytes` until it is ended. */
function begin(slots: Slots, bytes: number, signal?: AbortSignal) {
  const end = Promise.withResolvers<void>();
  const one = { hasBegun: false, end: end.resolve, done: Promise.resolve() };
  one.done = slots.use(
    () => {
      one.hasBegun = true;
      return end.promise;
    },
    bytes,
    signal,
  );
  return one;
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("as many run as there are slots and bytes; the others follow in order", async () => {
  const slots = new Slots(3, 100);
  const all = [60, 30, 30, 5, 5].map((bytes) => begin(slots, bytes));
  await settled();
  const begun = () => all.map(({ hasBegun }) => hasBegun);
  // The third does not fit, and later ones do not overtake it.
  assert.deepEqual(begun(), [true, true, false, false, false]);
  all[0]!.end();
  await settled();
  assert.deepEqual(begun(), [true, true, true, true, false]);
  all[1]!.end();
  await settled();
  assert.deepEqual(begun(), [true, true, true, true, true]);
  for (const { end } of all) end();
  await Promise.all(all.map(({ done }) => done));
});

Deno.test("a request larger than the limit runs alone", async () => {
  const slots = new Slots(3, 100);
  const [large, small] = [begin(slots, 500), begin(slots, 1)];
  await settled();
  assert.deepEqual([large.hasBegun, small.hasBegun], [true, false]);
  large.end();
  await settled();
  assert.ok(small.hasBegun);
  small.end();
  await Promise.all([large.done, small.done]);
});

Deno.test("an aborted waiter lets the next one run", async () => {
  const slots = new Slots(3, 100);
  const giveUp = new AbortController();
  const first = begin(slots, 60);
  const second = begin(slots, 60, giveUp.signal);
  const third = begin(slots, 10);
  await settled();
  assert.deepEqual([second.hasBegun, third.hasBegun], [false, false]);
  giveUp.abort(new Error("enough"));
  await assert.rejects(second.done, /enough/);
  await settled();
  assert.ok(third.hasBegun);
  first.end();
  third.end();
  await Promise.all([first.done, third.done]);
});
