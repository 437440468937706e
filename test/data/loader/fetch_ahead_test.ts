import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import {
  ConcatDataset,
  DataLoader,
  type Dataset,
  FFRecordDataset,
  Subset,
  Transform,
} from "../../../src/open/data/mod.ts";
import { BatchError } from "../../../src/data/loader/batch_error.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import {
  askedRanges,
  bytesOf,
  holdUntilAsked,
  longestTwice,
} from "../support/asked_ranges.ts";
import { COUNT, ORDER, samples, SETS } from "../support/remote_sets.ts";

/** No disk cache, and a timeout that even a busy machine does not reach. */
const remote = { cache: false, timeout: 60_000 } as const;

async function withServer(
  use: (server: FileServer, www: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const www = `${dir}/www`;
    fs.mkdirSync(www);
    await using server = await FileServer.start(www);
    await use(server, www);
  });
}

async function loaded<T>(
  dataset: Dataset<T>,
  numWorkers: number,
  order: { sampler: readonly number[] } | { shuffle: true },
): Promise<unknown[]> {
  await using loader = new DataLoader<T, T[]>(dataset, {
    batchSize: 2,
    prefetchFactor: numWorkers === 0 ? 1 : 3,
    seed: 3,
    ...order,
    numWorkers,
    collate: false,
    signal: AbortSignal.timeout(60_000), // else held requests would be awaited forever
  });
  const all: unknown[] = [];
  for await (const batch of loader) all.push(...batch);
  return all;
}

for (const [name, make] of Object.entries(SETS)) {
  for (const numWorkers of [0, 2]) {
    Deno.test(`${name} are prefetched, each once: ${numWorkers} workers`, async () => {
      await withServer(async (server, www) => {
        const set = await make(www);
        const order = { sampler: ORDER };
        const local = await set.open(www, remote);
        const expected = await loaded(local, 0, order);
        local.close();

        using dataset = await set.open(server.url, remote);
        server.asked.length = 0;
        // A thread learns of three batches of its own; without threads, all steps are known. The first samples arrive
        // with the files' first bytes.
        const ahead = (numWorkers === 0 ? 16 : 8) * set.bytes;
        holdUntilAsked(server, www, ahead);
        assert.deepEqual(await loaded(dataset, numWorkers, order), expected);
        const ranges = askedRanges(server.asked);
        assert.ok(longestTwice(ranges) < 0.2 * set.bytes);
        assert.ok(bytesOf(ranges) < 1.2 * ORDER.length * set.bytes);
      });
    });
  }
}

Deno.test("a subset, a concatenation and a transform prefetch from their inputs", async () => {
  await withServer(async (server, www) => {
    fs.writeFileSync(`${www}/a.ffr`, ffrBytes(samples.slice(0, 20)));
    fs.writeFileSync(`${www}/b.ffr`, ffrBytes(samples.slice(20)));
    const order = { shuffle: true } as const;
    const made = async (place: string) => {
      const parts = ["a", "b"].map((name) =>
        FFRecordDataset.open(`${place}/${name}.ffr`, { remote })
      );
      const all = new ConcatDataset(await Promise.all(parts));
      return new Transform(new Subset(all, ORDER), (bytes) => bytes[1]!);
    };
    using local = await made(www);
    const expected = await loaded(local, 0, order);
    using dataset = await made(server.url);
    server.asked.length = 0;
    holdUntilAsked(server, www, 16 * samples[0]!.length);
    assert.deepEqual(await loaded(dataset, 0, order), expected);
    const ranges = askedRanges(server.asked);
    assert.ok(longestTwice(ranges) < 30_000);
    assert.ok(bytesOf(ranges) < 1.2 * ORDER.length * samples[0]!.length);
  });
});

for (const numWorkers of [0, 2]) {
  Deno.test(`an abandoned loop prefetches nothing more: ${numWorkers} workers`, async () => {
    await withServer(async (server, www) => {
      fs.writeFileSync(`${www}/a.ffr`, ffrBytes(samples));
      const dataset = await FFRecordDataset.open(`${server.url}/a.ffr`, {
        remote,
      });
      let answers = 0;
      server.fault = (asked) => {
        if (askedRanges([asked]).length === 0) return false;
        return answers++ >= 6; // the remaining requests are never answered
      };
      const loader = new DataLoader(dataset, {
        batchSize: 1,
        numWorkers,
        prefetchFactor: 3,
        collate: false,
      });
      for await (const batch of loader) {
        assert.deepEqual(batch, samples.slice(0, 1));
        break;
      }
      await loader.close();
      dataset.close();
      const { length } = server.asked;
      await setTimeout(100);
      assert.equal(server.asked.length, length);
    });
  });

  Deno.test(`a failed prefetch surfaces on the read: ${numWorkers} workers`, async () => {
    await withServer(async (server, www) => {
      fs.writeFileSync(`${www}/a.ffr`, ffrBytes(samples));
      using dataset = await FFRecordDataset.open(`${server.url}/a.ffr`, {
        remote,
      });
      const size = fs.statSync(`${www}/a.ffr`).size;
      server.fault = (asked, response) => {
        const [range] = askedRanges([asked]);
        if (range === undefined || range.end < size) return false;
        response.writeHead(403).end();
        return true;
      };
      // Not neighbours, which would be merged into one request.
      const sampler = [0, 2, 4, 6, 8, 10, COUNT - 1, 12];
      await using loader = new DataLoader(dataset, {
        sampler,
        numWorkers,
        collate: false,
      });
      const seen: unknown[] = [];
      await assert.rejects(async () => {
        for await (const [sample] of loader) seen.push(sample);
      }, (error) => error instanceof BatchError && error.step === 6);
      assert.deepEqual(seen, sampler.slice(0, 6).map((i) => samples[i]));
    });
  });
}
