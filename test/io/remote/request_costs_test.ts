import assert from "node:assert/strict";
import { Client } from "../../../src/io/remote/client.ts";
import { RequestCosts } from "../../../src/io/remote/request_costs.ts";

const NAME = "s3://bucket/x.ffr";

function counting() {
  const clock = { now: 5 };
  const said: string[] = [];
  const costs = new RequestCosts((text) => said.push(text), () => clock.now, {
    isSaid: false,
  });
  const fetch = (requests: number, bytes: number, ms = 0) => {
    for (let i = 0; i < requests; i++) {
      clock.now += ms / requests;
      costs.fetched(NAME, bytes);
    }
  };
  return { clock, said, fetch };
}

Deno.test("many tiny requests are reported once, with a hint", () => {
  const { said, fetch } = counting();
  fetch(1000, 8192, 30_000);
  assert.deepEqual(said, []);
  fetch(1, 8192);
  assert.equal(said.length, 1);
  assert.match(
    said[0]!,
    /^s3:\/\/bucket\/x\.ffr is read in many tiny requests: 1001 of 8\.2 kB .* 2 minutes.*recordfs cache fill URL/,
  );
  fetch(5000, 100, 60_000);
  assert.equal(said.length, 1);
});

Deno.test("larger or few requests are not reported", () => {
  const { clock, said, fetch } = counting();
  fetch(100_000, 1 << 16, 100_000);
  clock.now += 600_000;
  for (let minute = 0; minute < 60; minute++) fetch(400, 100, 60_000);
  assert.deepEqual(said, []);
  // A few long ranges among them keep the average cost low.
  clock.now += 600_000;
  fetch(10, 8 << 20);
  fetch(2000, 8192, 1000);
  assert.deepEqual(said, []);
});

Deno.test("old requests are not counted", () => {
  const { clock, said, fetch } = counting();
  fetch(900, 100);
  clock.now += 59_999;
  fetch(0, 0);
  clock.now += 60_001;
  fetch(200, 100);
  assert.deepEqual(said, []);
  clock.now += 60_000;
  fetch(800, 100);
  assert.deepEqual(said, []);
  fetch(1, 100);
  assert.equal(said.length, 1);
});

Deno.test("it is reported once per process, whoever counts", () => {
  const said: string[] = [];
  const shared = { isSaid: false };
  for (let i = 0; i < 3; i++) {
    const costs = new RequestCosts((text) => said.push(text), () => 0, shared);
    for (let k = 0; k < 2000; k++) costs.fetched(NAME, 10);
  }
  assert.equal(said.length, 1);
});

Deno.test("every client counts its requests, along with other observers", () => {
  const said: string[] = [];
  let observed = 0;
  const { observer } = new Client(
    { onWarning: (text) => said.push(text) },
    { asked() {}, retried() {}, fetched: () => observed++ },
  );
  for (let i = 0; i < 1500; i++) observer.fetched(NAME, i * 100, 100, 1);
  assert.equal(observed, 1500);
  assert.equal(said.length, 1);
});
