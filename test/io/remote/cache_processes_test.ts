/** A cache shared by several processes, some of which are killed. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { CLI, recordfsProcess, succeed } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import { startNginx } from "../../support/remote/nginx.ts";
import { until } from "../../cli/mount/mount_place.ts";

const BLOCK = 8192;
const KILLS = LONG ? 100 : 12;

const SAMPLES = Array.from({ length: 400 }, (_, i) => {
  const words = new Uint32Array(25_000).map((_, k) => (k + 1) * (2 * i + 1));
  return new Uint8Array(words.buffer);
});
const NAMES = SAMPLES.map((_, i) => String(i).padStart(6, "0"));
const FILE = ffrBytes(SAMPLES);

interface Place {
  readonly url: string;
  readonly cache: string;
  /** Returns the responses so far. */
  sent(): { readonly requests: number; readonly bytes: number };
}

function test(name: string, body: (place: Place) => Promise<void>): void {
  Deno.test({
    name,
    ...needs("nginx"),
    fn: () =>
      withTempDir(async (dir) => {
        fs.writeFileSync(`${dir}/a.ffr`, FILE);
        await using nginx = await startNginx((port) => `
          log_format sent '$status $body_bytes_sent';
          access_log ${dir}/log sent;
          server { listen 127.0.0.1:${port}; root ${dir}; }`);
        await body({
          url: `${nginx.url}/a.ffr`,
          cache: `${dir}/cache`,
          sent() {
            const lines = fs.readFileSync(`${dir}/log`, "utf8").trim();
            const sizes = lines.split("\n").map((line) =>
              Number(line.split(" ")[1])
            );
            const bytes = sizes.reduce((sum, size) => sum + size, 0);
            return { requests: sizes.length, bytes };
          },
        });
      }),
  });
}

/** Compares the blocks that a cache lists with the file, and counts them. */
function blocksIn(cache: string): number {
  const [sums] = fs.globSync(`${cache}/objects/*/*/sums`);
  const [data] = fs.globSync(`${cache}/objects/*/*/data`);
  if (sums === undefined || data === undefined) return 0;
  const noted = fs.readFileSync(sums);
  const kept = fs.readFileSync(data);
  let blocks = 0;
  for (let block = 0; 4 * block + 4 <= noted.length; block++) {
    if (noted.readUint32LE(4 * block) === 0) continue;
    blocks++;
    const [start, end] = [block * BLOCK, (block + 1) * BLOCK];
    assert.ok(
      kept.subarray(start, end).equals(FILE.subarray(start, end)),
      `block ${block} is not what it says`,
    );
  }
  return blocks;
}

/** Asserts that everything is cached and correct. */
async function assertFull({ url, cache, sent }: Place): Promise<void> {
  assert.equal(blocksIn(cache), Math.ceil(FILE.length / BLOCK));
  await succeed(["cache", "verify", "--cache-dir", cache]);
  const { bytes } = sent();
  using container = await open(url, {
    remote: { cache: { directory: cache } },
  });
  assert.deepEqual(await container.read(NAMES), SAMPLES);
  assert.equal(sent().bytes, bytes);
}

test("processes that fill one cache concurrently, all with the same data", async (place) => {
  const fill = ["cache", "fill", place.url, "--cache-dir", place.cache];
  const ran = await Promise.all([1, 2, 3].map(() => recordfsProcess(fill)));
  assert.deepEqual(ran.map(({ code }) => code), [0, 0, 0]);
  await assertFull(place);
});

test("processes that fill one cache concurrently, each with its part", async (place) => {
  const readers = [0, 1, 2].map(async (i) => {
    const names = NAMES.filter((_, k) => k % 3 === i || k % 40 === 0);
    const { bytes, code, stderr } = await recordfsProcess(
      ["cat", place.url, ...names, "--cache-dir", place.cache],
    );
    assert.deepEqual([code, stderr], [0, ""]);
    const expected = names.map((name) => SAMPLES[Number(name)]!);
    assert.ok(Buffer.concat(expected).equals(bytes));
  });
  await Promise.all(readers);
  blocksIn(place.cache);
  // Data fetched by one process is available to the others.
  const fill = ["cache", "fill", place.url, "--cache-dir", place.cache];
  assert.equal((await recordfsProcess(fill)).code, 0);
  await assertFull(place);
});

test("processes that are killed while they fill a cache do not damage it", async (place) => {
  const { url, cache } = place;
  const fill = ["cache", "fill", url, "--cache-dir", cache];
  const whole = Math.ceil(FILE.length / BLOCK);
  let halfWay = 0;
  for (let kills = 0; kills < KILLS;) {
    const before = blocksIn(cache);
    if (before === whole) fs.rmSync(cache, { recursive: true });
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", CLI, ...fill],
      stdout: "null",
      stderr: "null",
    }).spawn();
    let hasEnded = false;
    const ended = child.status.then(() => hasEnded = true);
    const disk = () =>
      fs.globSync(`${cache}/objects/*/*/data`)
        .reduce((sum, path) => sum + fs.statSync(path).blocks, 0);
    const start = disk();
    await until(() => hasEnded || disk() > start);
    await new Promise((resolve) => setTimeout(resolve, 30 * Math.random()));
    if (!hasEnded) kills++;
    send(child.pid, "SIGKILL");
    await ended;
    const blocks = blocksIn(cache);
    if (blocks > 0 && blocks < whole) halfWay++;
  }
  assert.ok(halfWay > 0);
  assert.equal((await recordfsProcess(fill)).code, 0);
  await assertFull(place);
});
