/** Statistics of cached objects, counted by any number of processes. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  ObjectCounter,
  readCounts,
} from "../../../src/io/remote/cache/object_counts.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { until } from "../../cli/mount/mount_place.ts";

const NOTHING = { bytes: 0, requests: 0, retries: 0, hits: 0 };

/** Starts a process that counts in a directory repeatedly. */
function counting(directory: string, times: number): Deno.ChildProcess {
  const module = `${REPOSITORY}src/io/remote/cache/object_counts.ts`;
  const program = `import { ObjectCounter } from "${module}";
    for (let i = 0; i < ${times}; i++) {
      const counter = new ObjectCounter("${directory}");
      counter.asked();
      counter.fetched(1000);
      counter.hit();
      counter.close();
    }`;
  return new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", `${REPOSITORY}deno.json`, program],
  }).spawn();
}

Deno.test("counts of a process are added when it ends, visible only to the owner", async () => {
  await withTempDir((dir) => {
    assert.deepEqual(readCounts(dir), NOTHING);
    {
      const idle = new ObjectCounter(dir);
      idle.close();
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    for (let i = 0; i < 2; i++) {
      const counter = new ObjectCounter(dir);
      counter.asked();
      counter.asked();
      counter.retried();
      counter.fetched(2 ** 40);
      counter.hit();
      Atomics.add(counter.hits, 0, 4); // as another thread would
      counter.close();
      counter.close();
    }
    assert.deepEqual(readCounts(dir), {
      bytes: 2 ** 41,
      requests: 4,
      retries: 2,
      hits: 10,
    });
    assert.equal(fs.statSync(`${dir}/counts`).mode & 0o777, 0o600);
    return Promise.resolve();
  });
});

Deno.test("counts of concurrent processes are complete", async () => {
  await withTempDir(async (dir) => {
    const all = await Promise.all(
      [1, 2, 3].map(() => counting(dir, 50).status),
    );
    assert.ok(all.every(({ success }) => success));
    assert.deepEqual(readCounts(dir), {
      bytes: 150_000,
      requests: 150,
      retries: 0,
      hits: 150,
    });
  });
});

Deno.test("a killed process leaves valid counts, which continue to be used", async () => {
  await withTempDir(async (dir) => {
    const child = counting(dir, 1e9);
    await until(() => readCounts(dir).requests > 20);
    child.kill("SIGKILL");
    await child.status;
    const { bytes, requests, hits } = readCounts(dir);
    assert.deepEqual([bytes, hits], [1000 * requests, requests]);
    assert.ok((await counting(dir, 5).status).success);
    assert.equal(readCounts(dir).requests, requests + 5);
  });
});

Deno.test("counts that are damaged, or cannot be written, block nothing", async () => {
  await withTempDir((dir) => {
    for (const content of [new Uint8Array(7), new Uint8Array(32).fill(0xff)]) {
      fs.writeFileSync(`${dir}/counts`, content);
      assert.deepEqual(readCounts(dir), NOTHING);
      const counter = new ObjectCounter(dir);
      counter.asked();
      counter.close();
      assert.deepEqual(readCounts(dir), { ...NOTHING, requests: 1 });
    }
    const counter = new ObjectCounter(`${dir}/gone`);
    counter.asked();
    counter.close();
    return Promise.resolve();
  });
});

Deno.test("a long-running process adds its counts periodically", async () => {
  await withTempDir(async (dir) => {
    const counter = new ObjectCounter(dir);
    counter.asked();
    await until(() => readCounts(dir).requests === 1);
    counter.close();
    assert.equal(readCounts(dir).requests, 1);
  });
});
