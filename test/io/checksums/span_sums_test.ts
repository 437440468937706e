import assert from "node:assert/strict";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { FormatError } from "../../../src/base/errors.ts";
import type { Span } from "../../../src/io/checksums/range_sums.ts";
import { spanSums } from "../../../src/io/checksums/span_sums.ts";
import { FileSource } from "../../../src/io/storage/file_source.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";
import { withTempDir } from "../../support/paths.ts";

/** Number of bytes that is large enough to start threads. */
const MANY = 2 ** 30;

/** Makes a file of 40 blocks, each a span of two ranges. */
async function withSpans(
  use: (made: {
    path: string;
    source: FileSource;
    spans: (Span & { source: FileSource; number: number })[];
    expected: number[][];
  }) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/file`;
    const bytes = new Uint8Array(40 * 100_000).map((_, i) => i * 7 + (i >> 9));
    fs.writeFileSync(path, bytes);
    const source = runSync(FileSource.open(path));
    const spans = Array.from({ length: 40 }, (_, number) => {
      const start = number * 100_000;
      const ranges = Float64Array.of(start, 10, start + 10, 99_990);
      return { source, ranges, checksumKind: "crc32", number } as const;
    });
    const expected = spans.map(({ ranges: [a, b, c, d] }) => [
      crc32(bytes.subarray(a!, a! + b!)),
      crc32(bytes.subarray(c!, c! + d!)),
    ]);
    try {
      await use({ path, source, spans, expected });
    } finally {
      source.close();
    }
  });
}

Deno.test("spans are checksummed in order, whichever thread does it", async () => {
  await withSpans(async ({ spans, expected }) => {
    for (const bytes of [0, MANY]) {
      let next = 0;
      for await (const { span, sums } of spanSums(spans, bytes, undefined)) {
        assert.equal(span.number, next);
        assert.deepEqual([...Array.from(sums)], expected[next++]);
      }
      assert.equal(next, spans.length);
    }
  });
});

Deno.test("an early or requested stop leaves no thread behind", async () => {
  await withSpans(async ({ spans }) => {
    for await (const _ of spanSums(spans, MANY, undefined)) break;
    const abort = new AbortController();
    const reason = new Error("enough");
    await assert.rejects(async () => {
      for await (const { span } of spanSums(spans, MANY, abort.signal)) {
        if (span.number === 3) abort.abort(reason);
      }
      abort.signal.throwIfAborted();
    }, reason);
  });
});

Deno.test("an unreadable range is reported, and the others are checksummed", async () => {
  await withSpans(async ({ path, spans, expected }) => {
    fs.truncateSync(path, 30 * 100_000 + 5);
    const found: number[] = [];
    for await (const { span, sums } of spanSums(spans, MANY, undefined)) {
      for (const [i, sum] of Array.from(sums).entries()) {
        if (sum instanceof FormatError) found.push(span.number + i / 2);
        else assert.equal(sum, expected[span.number]![i]);
      }
    }
    const cut = Array.from({ length: 20 }, (_, i) => 30 + i / 2);
    assert.deepEqual(found, cut);
  });
});
