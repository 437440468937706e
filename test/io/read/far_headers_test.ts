/** Time to find the headers of a remote source, with a simulated clock and connection. */
import assert from "node:assert/strict";
import { FAR_WINDOW, FarHeaders } from "../../../src/io/read/far_headers.ts";

const HEADER = 512;
const LEAST = 1024;
const BLOCK = 8192;

/** Simulated connection: latency in milliseconds, and bytes a millisecond. */
interface Line {
  readonly latency: number;
  readonly rate: number;
}

/** Finds the headers of contents of these sizes. Returns the time and the bytes received. */
function find(sizes: readonly number[], line: Line) {
  const far = new FarHeaders();
  const ends: number[] = [];
  sizes.reduce((at, size, i) => ends[i] = at + HEADER + size, 0);
  const total = ends.at(-1)!;
  let now = 0;
  let bytes = 0;
  let free = 0;
  /** Prefetched windows, and their arrival times. */
  const ahead = new Map<number, number>();
  let requests = 0;
  const request = (length: number) => {
    bytes += length;
    // Latency varies.
    const latency = line.latency * (1 + (requests++ * 7 % 10) / 20);
    return free = Math.max(free, now + latency) + length / line.rate;
  };
  let until = 0;
  for (const header of [0, ...ends.slice(0, -1)]) {
    far.passed(header);
    if (header + HEADER <= until) continue;
    const length = Math.min(far.lengthAt(header, LEAST), total - header);
    const end = header + length;
    assert.ok(length >= HEADER && length <= FAR_WINDOW + BLOCK);
    if (far.isFollowing && end % FAR_WINDOW === 0) {
      for (const start of [end, end + FAR_WINDOW]) {
        if (start < total && !ahead.has(start)) {
          ahead.set(start, request(Math.min(FAR_WINDOW, total - start)));
        }
      }
    }
    const begun = now;
    // Blocks are fetched whole; the first request fetched the beginning.
    const window = Math.floor(header / FAR_WINDOW) * FAR_WINDOW;
    if (ahead.has(window)) now = Math.max(now, ahead.get(window)!);
    else if (end > 1 << 18) now = request(length + header % BLOCK);
    else now += 0.5;
    far.took(length, now - begun, now);
    until = end;
  }
  return { ms: now, bytes };
}

const LINES: readonly Line[] = [1, 50].flatMap((latency) =>
  [10, 1000].map((megabits) => ({ latency, rate: megabits * 125 }))
);

for (const line of LINES) {
  const { latency, rate } = line;
  const named = `${latency} ms and ${rate / 125} Mbit/s`;
  for (const kilobytes of [300, 1000, 4000]) {
    Deno.test(`headers between contents of ${kilobytes} kB are found in at most twice the time of the better strategy, at ${named}`, () => {
      const count = 300_000 / kilobytes;
      const sizes = Array.from(
        { length: count },
        (_, i) => kilobytes * (900 + (i * 37) % 200),
      );
      const total = sizes.reduce((sum, size) => sum + size + HEADER, 0);
      const whole = latency + total / rate;
      const alone = count * (1.2 * latency + BLOCK / rate);
      const { ms } = find(sizes, line);
      assert.ok(ms <= 2 * Math.min(whole, alone), `${ms}: ${whole}, ${alone}`);
    });
  }

  Deno.test(`small contents are read with their headers at ${named}`, () => {
    const sizes = Array<number>(20_000).fill(5000);
    const total = sizes.length * (5000 + HEADER);
    assert.ok(find(sizes, line).bytes > 0.9 * total);
  });

  Deno.test(`contents larger than a window are skipped at ${named}`, () => {
    const sizes = Array<number>(100).fill(20_000_000);
    assert.ok(find(sizes, line).bytes < 10_000_000);
  });
}

Deno.test("a connection that becomes faster than its first requests is detected", () => {
  const sizes = Array<number>(3000).fill(1_000_000);
  const line = { latency: 50, rate: 1250 };
  const slow = find(sizes, line);
  let asked = 0;
  const quicker = {
    latency: 50,
    // The first requests are slow, as over a new connection.
    get rate() {
      return asked++ < 30 ? 1250 : 125_000;
    },
  };
  const { ms } = find(sizes, quicker);
  assert.ok(ms < slow.ms / 3, `${ms} and ${slow.ms}`);
});

Deno.test("samples of a large file and small files are skipped alike", () => {
  const sizes = Array.from(
    { length: 900 },
    (_, i) => [1_000_000, 10, 2000][i % 3]!,
  );
  const { bytes } = find(sizes, { latency: 1, rate: 1250 });
  assert.ok(bytes < 10_000_000, `${bytes}`);
});
