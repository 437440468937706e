/** Listings that are requested page by page. */
import assert from "node:assert/strict";
import { PagedSource } from "../../../src/serve/page/listing/source.ts";

Deno.test("a server that does not respond is not polled in a loop, and is retried later", async () => {
  let asked = 0;
  let isUp = false;
  const ended = new AbortController();
  const source: PagedSource<number> = new PagedSource(
    10,
    (at, limit) => {
      asked++;
      if (!isUp) return Promise.reject(new Error("The server does not answer"));
      const items = Array.from({ length: limit }, (_, i) => at + i);
      return Promise.resolve({ items, total: 100, hasMore: true });
    },
    () => source.want(0, 10), // like a scroller, which requests what it draws
    ended.signal,
  );
  await source.load(0);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(asked, 1);
  assert.match(source.problem!, /does not answer/);
  isUp = true;
  const begun = performance.now();
  while (source.at(3) === undefined && performance.now() - begun < 20_000) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(source.at(3), 3);
  assert.equal(source.problem, null);
  assert.equal(asked, 2);
  ended.abort();
});
