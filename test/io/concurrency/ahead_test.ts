import assert from "node:assert/strict";
import { ahead } from "../../../src/io/concurrency/ahead.ts";

const MB = 1 << 20;

Deno.test("a source continues while its items are used, up to the limit", async () => {
  let given = 0;
  async function* source() {
    for (; given < 100; given++) yield given;
  }
  const taken: number[] = [];
  for await (const item of ahead(source(), () => MB)) {
    taken.push(item);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(given - taken.length <= 5, `${given} at ${taken.length}`);
    if (taken.length === 10) assert.ok(given >= 13, `${given}`);
  }
  assert.deepEqual(taken, Array.from({ length: 100 }, (_, i) => i));
});

Deno.test("an error of a source comes after its items", async () => {
  async function* source() {
    yield 1;
    yield 2;
    throw new Error("no more");
  }
  const taken: number[] = [];
  await assert.rejects(async () => {
    for await (const item of ahead(source(), () => 1)) taken.push(item);
  }, { message: "no more" });
  assert.deepEqual(taken, [1, 2]);
});

Deno.test("a source is closed when nothing more is requested", async () => {
  for (const bytes of [1, 10 * MB]) { // continues, or waits
    let isClosed = false;
    const source = async function* () {
      try {
        for (let i = 0; i < 1e6; i++) yield i;
      } finally {
        isClosed = true;
      }
    };
    for await (const item of ahead(source(), () => bytes)) {
      if (item === 3) break;
    }
    assert.ok(isClosed);
  }
});
