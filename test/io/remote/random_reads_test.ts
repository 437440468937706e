/** Reads of any ranges at any time, from servers that send bodies in pieces of any size and cut some of them. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import type { RemoteOptions } from "../../../src/io/remote/remote_options.ts";
import type { RemoteSource } from "../../../src/io/remote/remote_source.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import fc from "../../support/random.ts";
import {
  type Fault,
  FileServer,
  tagOf,
} from "../../support/remote/file_server.ts";

/** Not a multiple of the block size. */
const SIZE = 1_500_007;
const FILE = new Uint8Array(SIZE).map((_, i) => (i * 2654435761) >>> 13);

interface Part {
  readonly offset: number;
  readonly length: number;
  /** Whether the read is hinted beforehand, and marked as sequential. */
  readonly isSequential: boolean;
}

/** Bytes that a server sends at a time. */
const pieceSize = fc.oneof(
  fc.integer({ min: 1, max: 20_000 }),
  fc.integer({ min: 60_000, max: 400_000 }),
);
/** Reads, each with the number of event loop turns between it and the previous one. */
const readsOf = fc.array(
  fc.record({
    offset: fc.integer({ min: 0, max: SIZE - 1 }),
    length: fc.integer({ min: 1, max: 300_000 }),
    isSequential: fc.boolean(),
    turns: fc.nat(3),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Cache settings. */
const STORES: Record<string, (dir: string) => Partial<RemoteOptions>> = {
  "a cache": (dir) => ({ cache: { directory: `${dir}/cache` } }),
  "a cache with room for a part of it": (dir) => ({
    cache: { directory: `${dir}/small`, size: 400_000 },
  }),
  "no cache": () => ({ cache: false }),
};

/** Sends pieces of these sizes, one a turn, and cuts the body once after `cutAfter` of them. */
function sendsIn(sizes: readonly number[], cutAfter: number): Fault {
  let cuts = 1;
  return ({ range }, response, file) => {
    const [, first, last] = /(\d+)-(\d+)/.exec(range ?? "") ?? [];
    if (last === undefined || file === undefined) return false;
    const start = Number(first);
    const end = Math.min(Number(last) + 1, file.length);
    response.writeHead(206, {
      etag: tagOf(file),
      "content-length": end - start,
      "content-range": `bytes ${start}-${end - 1}/${file.length}`,
    });
    let sent = start;
    let pieces = 0;
    const send = () => {
      if (pieces === cutAfter && cuts-- > 0) return void response.destroy();
      const size = sizes[pieces++ % sizes.length]!;
      response.write(file.subarray(sent, Math.min(sent + size, end)));
      sent += size;
      if (sent >= end) response.end();
      else setImmediate(send);
    };
    send();
    return true;
  };
}

/** Reads a range: first the cached bytes, then the rest. */
async function compareRead(
  source: RemoteSource,
  { offset, length, isSequential }: Part,
): Promise<void> {
  const wanted = FILE.subarray(offset, offset + length);
  if (isSequential) source.prefetch(offset, length);
  const bytes = new Uint8Array(wanted.length);
  const now = source.readCached(bytes, offset);
  const rest = bytes.subarray(now);
  const later = await source.readAt(rest, offset + now, { isSequential });
  assert.equal(now + later, wanted.length);
  assert.ok(Buffer.from(bytes).equals(wanted), `${length} bytes at ${offset}`);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

for (const [what, options] of Object.entries(STORES)) {
  for (const isReadOnce of [false, true]) {
    const how = isReadOnce ? ", by someone who needs nothing twice" : "";
    Deno.test(`every read at any time with ${what} is correct${how}`, async () => {
      await withTempDir(async (dir) => {
        fs.mkdirSync(`${dir}/www`);
        fs.writeFileSync(`${dir}/www/a`, FILE);
        await using server = await FileServer.start(`${dir}/www`);
        let run = 0;
        const property = fc.asyncProperty(
          fc.array(pieceSize, { minLength: 1, maxLength: 5 }),
          fc.nat(6),
          readsOf,
          async (sizes, cutAfter, reads) => {
            const place = `${dir}/${run++}`;
            fs.mkdirSync(place);
            server.fault = sendsIn(sizes, cutAfter);
            const storage = new RemoteStorage(`${server.url}/a`, {
              ...options(place),
              timeout: 20_000,
            });
            const source = await runAsync(storage.open(storage.root));
            try {
              if (isReadOnce) await storage.keepNoMore();
              await Promise.all(reads.map(async ({ turns, ...part }, i) => {
                for (let turn = 0; turn < i * turns; turn++) await nextTurn();
                await compareRead(source, part);
                await compareRead(source, part); // other reads may still be waiting
              }));
              const all = { offset: 0, length: SIZE, isSequential: false };
              await compareRead(source, all);
            } finally {
              source.close();
            }
          },
        );
        await fc.assert(property, { numRuns: FULL ? 12 : 5 });
      });
    });
  }
}
