/** Timeouts of slow servers: a request is limited as a whole, unless bytes keep arriving. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";
import { Arrivals } from "../../../src/io/remote/retry/stall_watch.ts";
import { Client } from "../../../src/io/remote/client.ts";
import { HttpTarget } from "../../../src/io/remote/http/http_target.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";

/** One second of the simulated clock. */
const SECOND = 1000;
const PERIOD = 8 * SECOND;
/** Least bytes in a period, at 819 a second. */
const LEAST = 819 * 8;

/**
 * Polls every 10 ms and returns when too few bytes have arrived, or `undefined` if that does not happen before
 * `until`.
 */
function endOf(
  arrive: (arrivals: Arrivals, time: number) => void,
  until: number,
): number | undefined {
  let time = 0;
  const arrivals = new Arrivals(PERIOD, LEAST, () => time);
  for (; time < until; time += 10) {
    arrive(arrivals, time);
    if (arrivals.areTooFew) return time;
  }
  return undefined;
}

Deno.test("a server stalls if it sends nothing, or one byte at a time, for a period", () => {
  for (const bytes of [0, 1, 4]) {
    const end = endOf((arrivals) => arrivals.add(bytes), 10 * PERIOD);
    assert.ok(end! >= PERIOD && end! <= PERIOD + SECOND, `${bytes}: ${end}`);
  }
});

Deno.test("a kilobyte per second is never a stall, in whatever pieces it comes", () => {
  for (const every of [10, 500, 2000]) {
    const end = endOf((arrivals, time) => {
      if (time % every === 0) arrivals.add(1.024 * every);
    }, 200 * PERIOD);
    assert.equal(end, undefined, `every ${every} ms`);
  }
});

Deno.test("bytes of long ago do not count", () => {
  const end = endOf((arrivals, time) => {
    if (time < 3 * PERIOD) arrivals.add(1 << 20);
  }, 10 * PERIOD);
  assert.ok(end! >= 3 * PERIOD && end! <= 4 * PERIOD + SECOND, `${end}`);
});

Deno.test("time spent waiting for something else does not count", () => {
  let time = 0;
  const arrivals = new Arrivals(PERIOD, LEAST, () => time);
  arrivals.pause();
  time = 5 * PERIOD;
  assert.equal(arrivals.areTooFew, false);
  arrivals.resume();
  time += PERIOD - 1;
  assert.equal(arrivals.areTooFew, false);
  time += 2;
  assert.equal(arrivals.areTooFew, true);
  arrivals.restart();
  assert.equal(arrivals.areTooFew, false);
});

const SAMPLE = new Uint8Array(12_000).map((_, k) => (k * 31) >> 3);
const FILE = ffrBytes([SAMPLE]);
const encoder = new TextEncoder();

/** Responds to a parsed range request; then the connection is closed. */
type Answer = (
  send: (bytes: Uint8Array | string) => Promise<unknown>,
  first: number,
  last: number,
) => Promise<void>;

/** Serves a file over HTTP/1.1 with responses by `answer` while `body` runs. */
async function withAnswers(
  answer: Answer,
  body: (url: string) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const connections = new Set<Deno.TcpConn>();
  const serve = async (connection: Deno.TcpConn) => {
    connections.add(connection);
    const buffer = new Uint8Array(1 << 16);
    const got = await connection.read(buffer);
    const head = new TextDecoder().decode(buffer.subarray(0, got ?? 0));
    const [, first, last] = /bytes=(\d+)-(\d+)/i.exec(head)!.map(Number);
    await answer(
      async (bytes) => {
        const all = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
        for (let done = 0; done < all.length;) {
          done += await connection.write(all.subarray(done));
        }
      },
      first!,
      Math.min(last!, FILE.length - 1),
    );
    connection.close();
    connections.delete(connection);
  };
  const serving = (async () => {
    for await (const connection of listener) serve(connection).catch(() => {});
  })().catch(() => {});
  try {
    await body(`http://127.0.0.1:${port}/a.ffr`);
  } finally {
    listener.close();
    for (const connection of connections) {
      try {
        connection.close();
      } catch {
        // The client closed it first.
      }
    }
    await serving;
  }
}

function head(first: number, last: number, length = last + 1 - first): string {
  return [
    "HTTP/1.1 206 Partial Content",
    'ETag: "a"',
    `Content-Range: bytes ${first}-${last}/${FILE.length}`,
    `Content-Length: ${length}`,
    "Connection: close",
    "\r\n",
  ].join("\r\n");
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a byte every 20 ms, until the client disconnects. */
async function trickle(
  send: (bytes: Uint8Array | string) => Promise<unknown>,
  bytes: Uint8Array,
): Promise<void> {
  for (let i = 0; i < bytes.length; i++) {
    await send(bytes.subarray(i, i + 1));
    await wait(20);
  }
}

const slow: Record<string, Answer> = {
  "an endless head, one byte at a time": async (send) => {
    await send("HTTP/1.1 206 Partial Content\r\nX-Slow: ");
    await trickle(send, new Uint8Array(1e6).fill(0x61));
  },
  "a body, one byte at a time": async (send, first, last) => {
    await send(head(first, last));
    await trickle(send, FILE.subarray(first, last + 1));
  },
  "one byte, and ends": async (send, first, last) => {
    await send(head(first, last));
    await send(FILE.subarray(first, first + 1));
  },
  "one byte, as if that were requested": async (send, first) => {
    await send(head(first, first));
    await send(FILE.subarray(first, first + 1));
    await wait(20);
  },
  "an error response, one byte at a time": async (send) => {
    await send("HTTP/1.1 503 No\r\nContent-Length: 1000000\r\n\r\n");
    await trickle(send, new Uint8Array(1e6));
  },
  "nothing": () => new Promise(() => {}),
};

// Tested concurrently, since they mostly wait.
Deno.test("a server that sends one byte at a time is abandoned within the timeout", async () => {
  const timeout = 2500;
  await Promise.all(
    Object.entries(slow).map(([what, answer]) =>
      withAnswers(answer, async (url) => {
        const begun = performance.now();
        const remote = { cache: false, timeout, onWarning: () => {} } as const;
        await assert.rejects(open(url, { remote }), {
          code: /^(unreachable|server-failed)$/,
          message: /tried \d+ times in 3 s/,
        }, what);
        const took = performance.now() - begun;
        assert.ok(
          took > timeout - 50 && took < 4 * timeout,
          `${what}: ${took}`,
        );
      })
    ),
  );
});

Deno.test("a download of more than 1 KB/s is not aborted, however long it takes", async () => {
  const timeout = 2000;
  const answer: Answer = async (send, first, last) => {
    await send(head(first, last));
    for (let at = first; at <= last; at += 400) {
      await send(FILE.subarray(at, Math.min(at + 400, last + 1)));
      await wait(150);
    }
  };
  await withAnswers(answer, async (url) => {
    const begun = performance.now();
    const remote = { cache: false, timeout, onWarning: assert.fail } as const;
    using container = await open(url, { remote });
    assert.ok(performance.now() - begun > 1.5 * timeout);
    assert.deepEqual(await container.read("000000"), SAMPLE);
  });
});

Deno.test("requests that wait for others to a hanging server share their timeout", async () => {
  const timeout = 2000;
  await withAnswers(() => new Promise(() => {}), async (url) => {
    const client = new Client({ timeout, maxRequests: 2, onWarning() {} });
    const target = new HttpTarget(new URL(url), {});
    const ask = () =>
      client.ask(target, {
        headers: () => new Headers({ range: "bytes=0-9" }),
        take: async (response) => await response.bytes(),
      }, { signal: undefined });
    const begun = performance.now();
    const ends = await Promise.allSettled(Array.from({ length: 6 }, ask));
    const took = performance.now() - begun;
    assert.ok(ends.every(({ status }) => status === "rejected"));
    // In sequence, they would take three times as long.
    assert.ok(took > timeout - 50 && took < 2.5 * timeout, `${took}`);
  });
});

Deno.test("requests that wait for others in progress do not time out, however long that takes", async () => {
  const timeout = 2000;
  const answer: Answer = async (send, first, last) => {
    await wait(500);
    await send(head(first, last));
    await send(FILE.subarray(first, last + 1));
  };
  await withAnswers(answer, async (url) => {
    const client = new Client({ timeout, maxRequests: 1, onWarning() {} });
    const target = new HttpTarget(new URL(url), {});
    const ask = () =>
      client.ask(target, {
        headers: () => new Headers({ range: "bytes=0-9" }),
        take: async (response) => (await response.bytes()).length,
      }, { signal: undefined });
    const all = await Promise.all(Array.from({ length: 6 }, ask));
    assert.deepEqual(all, Array(6).fill(10));
  });
});
