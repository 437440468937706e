/** Request rate to a store that fails or throttles, over all readers together. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import {
  StoreBackoff,
  timeNow,
} from "../../../src/io/remote/retry/store_backoff.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { type Fault, FileServer } from "../../support/remote/file_server.ts";

const READERS = 60;
/** Sample indices beyond the first request: every other one, so that requests can't be merged. */
const NUMBERS = Array.from({ length: READERS }, (_, i) => 2 * i + 5);
const samples = Array.from(
  { length: NUMBERS.at(-1)! + 1 },
  (_, i) => new Uint8Array(100_000).map((_, k) => (k * 31 + i * 7) >> 3),
);

/** Opens a container, then injects a fault while many readers read it. */
async function readWhile(
  fault: Fault,
  during: (server: FileServer) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
    await using server = await FileServer.start(dir);
    const remote = { cache: false, onWarning: () => {} } as const;
    using container = await open(`${server.url}/a.ffr`, { remote });
    server.fault = fault;
    server.asked.length = 0;
    const reads = NUMBERS.map(async (i) => {
      const read = await container.read(String(i).padStart(6, "0"));
      assert.deepEqual(read, samples[i]);
    });
    await during(server);
    server.fault = undefined;
    const begun = performance.now();
    await Promise.all(reads);
    const took = performance.now() - begun;
    assert.ok(took < 3000, `they ended after ${took} ms`);
  });
}

const sleep = (ms: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, ms));

Deno.test(`${READERS} reads end soon after their store has recovered`, async () => {
  const seconds = LONG ? 30 : 7;
  const away: Fault = (_, response) => {
    response.writeHead(503).end();
    return true;
  };
  await readWhile(away, async (server) => {
    await sleep(seconds * 1000);
    const { length } = server.asked;
    // The initial requests, and then about one a second from all readers together.
    assert.ok(length >= 5 && length < 15 + 1.5 * seconds, `${length}`);
  });
});

Deno.test("a store that responds 429 is asked at most ten times per second", async () => {
  const times: number[] = [];
  await readWhile(
    (_, response) => {
      times.push(performance.now());
      response.writeHead(429).end();
      return true;
    },
    () => sleep(3000),
  );
  for (const [i, time] of times.entries()) {
    const within = times.slice(i).filter((other) => other < time + 1000).length;
    assert.ok(within <= 10, `${within} from ${time - times[0]!} ms on`);
  }
});

Deno.test("a store that accepts some requests and responds 429 to the rest is asked less often until everything is read", async () => {
  let taken: number[] = [];
  let refused = 0;
  await readWhile(
    (_, response) => {
      const now = performance.now();
      taken = taken.filter((time) => time > now - 1000);
      if (taken.length < 20) {
        taken.push(now);
        return false;
      }
      refused++;
      response.writeHead(429).end();
      return true;
    },
    async (server) => {
      while (server.asked.length - refused < READERS) await sleep(10);
    },
  );
  assert.ok(refused < READERS, `${refused} were refused`);
});

function backoffs(count: number): StoreBackoff[] {
  const state = new BigInt64Array(new SharedArrayBuffer(64));
  return Array.from({ length: count }, () => new StoreBackoff(state));
}

const failure = (after?: number) => ({
  begun: timeNow(),
  after,
  isSlowDown: false,
  reason: new Error("away"),
});

Deno.test("the backoff of one thread applies to the others", async () => {
  const [first, second] = backoffs(2);
  const { signal } = new AbortController();
  assert.ok(first!.failed(failure(60_000)));
  let isSent = false;
  const sent = second!.pass(signal).then(() => void (isSent = true));
  await sleep(300);
  assert.equal(isSent, false);
  first!.answered(timeNow());
  await sent;
});

Deno.test("of many readers that wait for a store, one sends the first request", async () => {
  const [backoff] = backoffs(1);
  const { signal } = new AbortController();
  assert.ok(backoff!.failed(failure()));
  let sent = 0;
  const all = Array.from(
    { length: 20 },
    () => backoff!.pass(signal).then(() => void sent++),
  );
  while (sent === 0) await sleep(5);
  await sleep(100);
  assert.equal(sent, 1);
  while (sent < 20) {
    backoff!.answered(timeNow());
    await sleep(1);
  }
  await Promise.all(all);
});

Deno.test("an aborted reader does not wait for a store", async () => {
  const [backoff] = backoffs(1);
  assert.ok(backoff!.failed(failure(60_000)));
  const abort = new AbortController();
  const sent = backoff!.pass(abort.signal);
  abort.abort(new Error("enough"));
  await assert.rejects(sent, /enough/);
});

Deno.test("a request that fails while others succeed affects no others", () => {
  const [backoff] = backoffs(1);
  const begun = timeNow() - 10;
  backoff!.answered(begun);
  assert.equal(backoff!.failed({ ...failure(), begun }), false);
});
