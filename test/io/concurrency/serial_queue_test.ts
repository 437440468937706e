import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { SerialQueue } from "../../../src/io/concurrency/serial_queue.ts";

Deno.test("work is done in the order of the requests", async () => {
  const turns = new SerialQueue("a");
  const done: number[] = [];
  const waits = [3, 0, 2, 0].map((ms, i) =>
    turns.take(async () => {
      if (ms > 0) await setTimeout(ms);
      done.push(i);
      return i;
    })
  );
  assert.ok(turns.busy);
  assert.deepEqual(await Promise.all(waits), [0, 1, 2, 3]);
  assert.deepEqual(done, [0, 1, 2, 3]);
  assert.ok(!turns.busy);
});

Deno.test("work queued before a failure is skipped, later work is done", async () => {
  const turns = new SerialQueue("a.ffr");
  const first = turns.take(() => Promise.reject(new Error("no")));
  const second = turns.take(() => assert.fail("done all the same"));
  await assert.rejects(first, /no/);
  await assert.rejects(second, { code: "earlier-write-failed", path: "a.ffr" });
  assert.equal(await turns.take(() => Promise.resolve(3)), 3);
});

Deno.test("work started at once precedes work requested meanwhile", async () => {
  const turns = new SerialQueue("a.bag");
  const done: string[] = [];
  const work = async (name: string) => {
    done.push(`${name} begins`);
    await setTimeout(1);
    done.push(`${name} ends`);
  };
  const first = turns.begin(() => work("first"));
  assert.deepEqual(done, ["first begins"]);
  assert.ok(turns.busy);
  await turns.take(() => work("second"));
  assert.deepEqual(done.slice(1), [
    "first ends",
    "second begins",
    "second ends",
  ]);
  await first;
  assert.ok(!turns.busy);

  const failed = turns.begin(() => Promise.reject(new Error("no")));
  const behind = turns.take(() => assert.fail("done all the same"));
  await assert.rejects(failed, /no/);
  await assert.rejects(behind, { code: "earlier-write-failed" });
});
