/** `recordfs cache`: the cache of data fetched from servers. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { assertFailed, recordfs, succeed } from "../run_cli.ts";

const SAMPLES = Array.from(
  { length: 40 },
  (_, i) => new Uint8Array(50_000).fill(i),
);

interface Listed {
  readonly url: string;
  readonly size: number;
  readonly fetched: {
    readonly bytes: number;
    readonly requests: number;
    readonly retries: number;
    readonly hits: number;
  };
}

Deno.test("a container is prefetched, listed, verified and deleted", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/root/parts`, { recursive: true });
    for (const name of ["a", "b"]) {
      fs.writeFileSync(`${dir}/root/parts/${name}.ffr`, ffrBytes(SAMPLES));
    }
    await using server = await FileServer.start(`${dir}/root`);
    const url = `${server.url}/parts`;
    const where = ["--cache-dir", `${dir}/cache`];
    const filled = await succeed(["cache", "fill", `${url}/?x=hush`, ...where]);
    assert.match(filled.stdout, /parts\/: 2 objects, 4\.0 MB/);

    const table = (await succeed(["cache", "ls", ...where])).stdout;
    assert.match(table, /^OBJECT +SIZE +KEPT +PART +FETCHED +USED\n/);
    assert.match(
      table,
      /parts\/a\.ffr +2\.0 MB +2\.0 MB +100 % +.* hits? +20\d\d-/,
    );
    assert.doesNotMatch(table, /hush/);
    const { stdout } = await succeed(["cache", "ls", "--json", ...where]);
    const listed = JSON.parse(stdout) as Listed[];
    const { size } = fs.statSync(`${dir}/root/parts/a.ffr`);
    assert.deepEqual(listed.map((one) => one.size), [size, size]);
    for (const { url, fetched: { bytes, requests, retries } } of listed) {
      const asked = server.asked.filter(({ path }) => url.endsWith(path));
      assert.deepEqual([requests, retries], [asked.length, 0], url);
      assert.ok(bytes >= size && bytes < 1.2 * size, `${bytes}`);
    }

    // Everything is cached, so requests only revalidate it.
    const before = server.asked.length;
    await succeed(["check", `${url}/?x=hush`, ...where]);
    const asked = server.asked.slice(before)
      .filter(({ path }) => path.endsWith(".ffr"));
    assert.ok(asked.every(({ headers }) => "if-none-match" in headers));
    const later = await succeed(["cache", "ls", "--json", ...where]);
    const first = new Map(listed.map((one) => [one.url, one.fetched]));
    for (const { url, fetched } of JSON.parse(later.stdout) as Listed[]) {
      const { bytes, requests, hits } = first.get(url)!;
      assert.deepEqual(
        [fetched.bytes, fetched.requests],
        [bytes, requests + 1],
      );
      assert.ok(fetched.hits > hits);
    }

    const [data] = fs.globSync(`${dir}/cache/objects/*/*/data`);
    const fd = fs.openSync(data!, "r+");
    fs.writeSync(fd, Uint8Array.of(0xff), 0, 1, 777_777);
    fs.closeSync(fd);
    const verified = await recordfs(["cache", "verify", ...where]);
    assert.equal(verified.code, 1);
    assert.match(
      verified.stdout,
      /parts\/[ab]\.ffr: 1 block damaged and deleted/,
    );
    await succeed(["cache", "verify", ...where]);

    // Objects in use are not deleted.
    const remote = { cache: { directory: `${dir}/cache` } };
    {
      using _used = await open(`${url}/a.ffr`, { remote });
      const left = await recordfs(["cache", "rm", `${url}/a.ffr`, ...where]);
      assertFailed(left, 1, /1 object in use and not deleted\. Unmount/);
    }
    await succeed(["cache", "rm", `${url}/a.ffr`, ...where]);
    const rest = await succeed(["cache", "ls", "--json", ...where]);
    assert.match(rest.stdout, /b\.ffr/);
    assert.doesNotMatch(rest.stdout, /a\.ffr/);
    await succeed(["cache", "rm", "--all", ...where]);
    assert.equal((await succeed(["cache", "ls", ...where])).stdout, "");
  });
});

Deno.test("indexes of large tars are listed and deleted by location", async () => {
  await withTempDir(async (dir) => {
    const tar = tarBytes(
      Array.from({ length: 33_000 }, (_, i) => ({ name: `${i}` })),
    );
    fs.mkdirSync(`${dir}/root`);
    for (const path of ["root/far.tar", "near.tar", "other.tar"]) {
      fs.writeFileSync(`${dir}/${path}`, tar);
    }
    await using server = await FileServer.start(`${dir}/root`);
    const ok = (...args: string[]) =>
      succeed([...args, "--cache-dir", `${dir}/cache`]);
    const remote = { cache: { directory: `${dir}/cache` } };
    const far = `${server.url}/far.tar`;
    for (
      const path of [`${far}?x=hush`, `${dir}/near.tar`, `${dir}/other.tar`]
    ) {
      using _opened = await open(path, { remote });
    }
    const listed = async (): Promise<string[]> => {
      const { stdout } = await ok("cache", "ls", "--json");
      assert.doesNotMatch(stdout, /hush/);
      const all: { indexOf?: string; size: number }[] = JSON.parse(stdout);
      return all.filter(({ size }) => size > 33_000)
        .flatMap(({ indexOf }) => indexOf ?? []).sort();
    };
    const [near, other] = [`${dir}/near.tar`, `${dir}/other.tar`];
    assert.deepEqual(await listed(), [near, other, far].sort());
    const { stdout } = await ok("cache", "ls");
    assert.match(stdout, /index of .*near\.tar +[\d.]+ MB/);
    const local = await ok("cache", "rm", near);
    assert.match(local.stdout, /^0 objects and 1 index deleted, [\d.]+ MB\n$/);
    assert.deepEqual(await listed(), [other, far].sort());
    const both = await ok("cache", "rm", far);
    assert.match(both.stdout, /^1 object and 1 index deleted/);
    assert.deepEqual(await listed(), [other]);
    // Damaged indexes are listed and deleted as well.
    const [file] = fs.readdirSync(`${dir}/cache/indexes`);
    fs.writeFileSync(`${dir}/cache/indexes/${file}`, "no index");
    const damaged = await ok("cache", "ls");
    assert.ok(
      damaged.stdout.includes(`index of ${dir}/cache/indexes/${file}`),
    );
    await ok("cache", "rm", "--all");
    assert.deepEqual(fs.readdirSync(`${dir}/cache/indexes`), []);
  });
});

Deno.test("a cache that is too small keeps what fits, and reports the rest", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/root`);
    fs.writeFileSync(`${dir}/root/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(`${dir}/root`);
    const size = ["--cache-dir", `${dir}/cache`, "--cache-size", "1M"];
    const ran = await recordfs([
      "cache",
      "fill",
      `${server.url}/a.ffr`,
      ...size,
    ]);
    assertFailed(
      ran,
      1,
      /could not be cached\. Make the cache larger with --cache-size/,
    );
  });
});

Deno.test("invalid command lines have exit code 2", async () => {
  for (
    const [line, message] of [
      [["rm"], /needs locations, or --all/],
      [["rm", "--all", "http://x/y"], /not both/],
      [["rm", "data.ffr"], /is not a URL/],
      [["fill", "data.ffr"], /is not a URL/],
      [
        ["fill", "http://x/y", "--no-cache"],
        /cache fill and --no-cache exclude each other/,
      ],
    ] as const
  ) {
    assertFailed(await recordfs(["cache", ...line]), 2, message);
  }
});

Deno.test("a cache that others can write to is not listed, verified, filled or emptied, unless its group is trusted", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/root`);
    fs.writeFileSync(`${dir}/root/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(`${dir}/root`);
    const url = `${server.url}/a.ffr`;
    const cache = `${dir}/cache`;
    fs.mkdirSync(cache);
    fs.chmodSync(cache, 0o770);
    const where = ["--cache-dir", cache];
    const shared = [...where, "--cache-shared"];
    await succeed(["cache", "fill", url, ...shared]);
    for (const args of [["ls"], ["rm", "--all"], ["verify"], ["fill", url]]) {
      const ran = await recordfs(["cache", ...args, ...where]);
      assertFailed(
        ran,
        1,
        /^recordfs: Cannot use the cache .*cache can be written by its group .*--cache-shared/,
      );
      assert.equal(ran.stdout, "");
    }
    const listed = await succeed(["cache", "ls", ...shared]);
    assert.match(listed.stdout, /a\.ffr +2\.0 MB +2\.0 MB +100 %/);

    // Commands that do not trust the group work without the cache.
    const name = "000007";
    const { bytes, stderr } = await recordfs(["cat", url, name, ...where]);
    assert.deepEqual(bytes, SAMPLES[7]);
    assert.match(
      stderr,
      /^recordfs: warning: Cannot use the cache [^\n]*--cache-shared[^\n]*\n$/,
    );
    const ran = await recordfs(["cat", url, name, ...shared]);
    assert.deepEqual([ran.stderr, ran.code], ["", 0]);

    // Links in place of the cache's files are deleted themselves, but not their targets.
    const [facts] = fs.globSync(`${cache}/objects/*/*/facts.json`);
    const [counts] = fs.globSync(`${cache}/objects/*/*/counts`);
    const [lock] = fs.globSync(`${cache}/objects/*/*/lock`);
    fs.writeFileSync(`${dir}/precious`, "precious");
    for (const path of [counts!, lock!]) {
      fs.rmSync(path);
      fs.symlinkSync(`${dir}/precious`, path);
    }
    fs.mkdirSync(`${cache}/objects/elsewhere`);
    fs.symlinkSync(`${dir}/root`, `${cache}/objects/elsewhere/link`);
    await succeed(["cache", "ls", ...shared]);
    const removed = await succeed(["cache", "rm", "--all", ...shared]);
    assert.match(removed.stdout, /^1 object deleted/);
    assert.ok(!fs.existsSync(facts!));
    assert.equal(fs.readFileSync(`${dir}/precious`, "utf8"), "precious");
    assert.ok(fs.existsSync(`${dir}/root/a.ffr`));
  });
});
