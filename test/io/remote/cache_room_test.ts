/** Size of a cache: one limit for all programs, enforced without scanning the cache. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { TrustedDirectory } from "../../../src/io/dirfd/trusted_directory.ts";
import { CLI, succeed } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { FileServer } from "../../support/remote/file_server.ts";

const SAMPLES = Array.from(
  { length: 10 },
  (_, i) => new Uint8Array(100_000).map((_, k) => (k * 13 + i * 5) >> 2),
);
const NAMES = SAMPLES.map((_, i) => String(i).padStart(6, "0"));

interface Place {
  readonly url: string;
  readonly cache: string;
  readonly server: FileServer;
  /** Reads all samples of an object, identified by its query. */
  read(id: number, size?: number): Promise<void>;
}

async function withPlace(body: (place: Place) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(`${dir}/www`);
    const url = `${server.url}/a.ffr`;
    const cache = `${dir}/cache`;
    await body({
      url,
      cache,
      server,
      async read(id, size) {
        const kept = { directory: cache, size };
        const remote = { cache: kept, onWarning: assert.fail };
        using container = await open(`${url}?id=${id}`, { remote });
        assert.deepEqual(await container.read(NAMES), SAMPLES);
      },
    });
  });
}

function hash(number: number): string {
  return number.toString(16).padStart(32, "a");
}

/** Makes objects that are missing from the ledger, or empty directories of evicted objects. */
function makeObjects(cache: string, count: number, isEmpty: boolean): void {
  for (let i = 0; i < count; i++) {
    const object = `${cache}/objects/${hash(i)}`;
    fs.mkdirSync(object, { recursive: true, mode: 0o700 });
    if (isEmpty) continue;
    const state = `${object}/${hash(i + count)}`;
    fs.mkdirSync(state, { mode: 0o700 });
    const facts = {
      ...{ url: `http://127.0.0.1:1/${i}`, size: 5000, tag: `"${i}"` },
      ...{ mtime: 0, block: 8192, start: "another" },
    };
    const files = {
      "data": new Uint8Array(5000).fill(1),
      "sums": new Uint8Array(4).fill(1),
      "lock": "",
      "facts.json": JSON.stringify(facts),
    };
    for (const [name, content] of Object.entries(files)) {
      fs.writeFileSync(`${state}/${name}`, content, { mode: 0o600 });
    }
  }
}

/** Counts how often directories of a cache are opened or listed during `run`. */
async function countLooks(run: () => Promise<void>): Promise<number> {
  const { open, list } = TrustedDirectory.prototype;
  let looks = 0;
  TrustedDirectory.prototype.open = function (name) {
    looks++;
    return open.call(this, name);
  };
  TrustedDirectory.prototype.list = function () {
    looks++;
    return list.call(this);
  };
  try {
    await run();
  } finally {
    Object.assign(TrustedDirectory.prototype, { open, list });
  }
  return looks;
}

/** Returns the disk usage of all object files in bytes. */
function bytesOf(cache: string): number {
  return fs.globSync(`${cache}/objects/*/*/*`).reduce((sum, path) => {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    return sum + 512 * (stat?.blocks ?? 0);
  }, 0);
}

function emptyIn(cache: string): string[] {
  return fs.globSync(`${cache}/objects/{*,*/*}`)
    .filter((path) => fs.readdirSync(path).length === 0);
}

for (
  const [what, isEmpty] of [
    ["objects", false],
    ["empty directories of objects", true],
  ] as const
) {
  Deno.test(`a cache of many ${what} is opened, and added to, as fast as a new one`, async () => {
    await withPlace(async ({ cache, read }) => {
      const fresh = await countLooks(() => read(0));
      fs.rmSync(cache, { recursive: true });
      makeObjects(cache, 1000, isEmpty);
      fs.chmodSync(cache, 0o700);
      const first = await countLooks(() => read(0));
      const second = await countLooks(() => read(1));
      assert.ok(first < fresh + 100, `${first} looks, not ${fresh}`);
      assert.ok(second < fresh + 100, `${second} looks, not ${fresh}`);
    });
  });
}

Deno.test("eviction examines only as much as it deletes, and leaves no empty directories", async () => {
  await withPlace(async ({ cache, read }) => {
    const count = 1000;
    makeObjects(cache, count, false);
    fs.chmodSync(cache, 0o700);
    const size = bytesOf(cache);
    await read(0, size); // lists them, since the limit is near
    for (let id = 1; id < 5; id++) await read(id, size);
    const before = fs.readdirSync(`${cache}/objects`).length;
    const looks = await countLooks(() => read(1000, size));
    const deleted = before - fs.readdirSync(`${cache}/objects`).length;
    assert.ok(
      looks < 10 * (64 + deleted),
      `${looks} looks, ${deleted} deleted`,
    );
    assert.deepEqual(emptyIn(cache), []);
    assert.ok(bytesOf(cache) <= size);
    await succeed(["cache", "rm", "--all", "--cache-dir", cache]);
    assert.deepEqual(fs.readdirSync(`${cache}/objects`), []);
  });
});

Deno.test("`cache rm` deletes empty directories, and leftovers of killed programs", async () => {
  await withPlace(async ({ cache, url, read }) => {
    await read(0);
    makeObjects(cache, 5, true);
    const left = `${cache}/objects/${hash(77)}/${hash(78)}`;
    fs.mkdirSync(left, { recursive: true, mode: 0o700 });
    fs.chmodSync(`${left}/..`, 0o700);
    fs.writeFileSync(`${left}/data`, "no facts", { mode: 0o600 });
    fs.mkdirSync(`${cache}/objects/mine`);
    await succeed(["cache", "rm", url, "--cache-dir", cache]);
    assert.deepEqual(fs.readdirSync(`${cache}/objects`), ["mine"]);
  });
});

Deno.test("of many objects, the most recently used are retained", async () => {
  await withPlace(async ({ cache, server, read }) => {
    const count = 300;
    makeObjects(cache, count, false);
    fs.chmodSync(cache, 0o700);
    await read(1);
    for (const path of fs.globSync(`${cache}/objects/*/*/facts.json`)) {
      const isOwn = !path.includes("aaaaaaaa");
      const seconds = 1_700_000_000 + (isOwn ? 1000 : 0);
      fs.utimesSync(path, seconds, seconds);
    }
    const size = bytesOf(cache) + 2_000_000;
    for (let id = 2; id < 6; id++) await read(id, size);
    assert.ok(fs.readdirSync(`${cache}/objects`).length < count);
    server.asked.length = 0;
    await read(1, size);
    assert.equal(server.asked.length, 1); // the revalidation
  });
});

const damages: Record<string, (ledger: string) => void> = {
  "is gone": (ledger) => fs.rmSync(ledger),
  "is empty": (ledger) => fs.truncateSync(ledger, 0),
  "is cut": (ledger) => fs.truncateSync(ledger, 1000),
  "is too long": (ledger) => fs.truncateSync(ledger, 2 ** 40),
  "is not a ledger": (ledger) => fs.writeFileSync(ledger, "x".repeat(8288)),
  "has other slots": (ledger) => {
    const bytes = fs.readFileSync(ledger);
    fs.writeFileSync(ledger, bytes.fill(0x5a, 96));
  },
  "has lost its slots": (ledger) => {
    const bytes = fs.readFileSync(ledger);
    fs.writeFileSync(ledger, bytes.fill(0, 96));
  },
};

for (const [what, damage] of Object.entries(damages)) {
  Deno.test(`a ledger that ${what} is rebuilt, and the limit holds`, async () => {
    await withPlace(async ({ cache, read }) => {
      const size = 4_000_000;
      for (let id = 0; id < 3; id++) await read(id, size);
      damage(`${cache}/ledger`);
      for (let id = 3; id < 8; id++) {
        await read(id, size);
        const bytes = bytesOf(cache);
        assert.ok(bytes <= 1.05 * size, `${bytes} of ${size} bytes`);
      }
      assert.ok(bytesOf(cache) > size / 2);
      assert.ok(fs.statSync(`${cache}/ledger`).size < 100_000);
    });
  });
}

Deno.test("objects that were deleted by hand free their space", async () => {
  await withPlace(async ({ cache, read, server }) => {
    const size = 4_000_000;
    for (let id = 0; id < 3; id++) await read(id, size);
    fs.rmSync(`${cache}/objects`, { recursive: true });
    await read(3, size);
    await read(4, size);
    server.asked.length = 0;
    for (const id of [3, 4]) await read(id, size);
    assert.equal(server.asked.length, 2); // the revalidations
  });
});

Deno.test("several programs share one limit, even if some are killed", async () => {
  await withTempDir(async (dir) => {
    const big = new Uint8Array(12_000_000).map((_, i) => i >> 3);
    fs.mkdirSync(`${dir}/www`);
    const programs = LONG ? 8 : 3;
    for (let i = 0; i < programs; i++) {
      fs.writeFileSync(`${dir}/www/${i}.ffr`, ffrBytes([big, big]));
    }
    await using server = await FileServer.start(`${dir}/www`);
    const cache = `${dir}/cache`;
    const size = 30_000_000;
    let running = programs;
    const start = (i: number) =>
      new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "--no-check", CLI, "cache", "fill"],
          ...[`${server.url}/${i}.ffr`, "--cache-dir", cache],
          ...["--cache-size", String(size)],
        ],
        stdout: "null",
        stderr: "null",
      }).spawn();
    const children = Array.from({ length: programs }, (_, i) => start(i));
    for (const child of children) child.status.then(() => running--);
    let most = 0;
    let killed = false;
    while (running > 0) {
      most = Math.max(most, bytesOf(cache));
      if (!killed && most > size / 4) {
        send(children[0]!.pid, "SIGKILL");
        killed = true;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await start(0).status;
    most = Math.max(most, bytesOf(cache));
    assert.ok(most <= 1.05 * size, `${most} of ${size} bytes`);
    assert.ok(most > size / 2, `${most} of ${size} bytes`);
    await start(1).status; // removes the leftovers of the killed one
    assert.deepEqual(fs.readdirSync(`${cache}/programs`), []);
  });
});
