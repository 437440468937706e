/** Programs that share a cache and read the same data concurrently fetch each block once. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { open } from "../../../mod.ts";
import { CacheRoot } from "../../../src/io/remote/cache/cache_root.ts";
import {
  type Claim,
  RangeClaims,
} from "../../../src/io/remote/cache/range_claims.ts";
import { recordfsProcess } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { send } from "../../support/programs/processes.ts";

function claimsIn(directory: string, object: string): RangeClaims {
  return new RangeClaims(new CacheRoot({ directory }, assert.fail), object);
}

const CLAIM = `
  import { CacheRoot } from ${
  JSON.stringify(
    import.meta.resolve("../../../src/io/remote/cache/cache_root.ts"),
  )
};
  import { RangeClaims } from ${
  JSON.stringify(
    import.meta.resolve("../../../src/io/remote/cache/range_claims.ts"),
  )
};
  const [directory] = Deno.args;
  const root = new CacheRoot({ directory }, console.error);
  const claim = new RangeClaims(root, "a").tryTake(10, 19);
  console.log(claim === undefined ? "not claimed" : "claimed");
  setInterval(() => {}, 1000);
`;

Deno.test("ranges claimed by another program are free once it is killed, and unclaimed ones always", async () => {
  await withTempDir(async (dir) => {
    const directory = `${dir}/cache`;
    fs.writeFileSync(`${dir}/claim.ts`, CLAIM);
    const other = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", "--config"],
        new URL("../../../deno.json", import.meta.url).pathname,
        ...[`${dir}/claim.ts`, directory],
      ],
      stdout: "piped",
    }).spawn();
    const reader = other.stdout.getReader();
    const { value } = await reader.read();
    assert.equal(new TextDecoder().decode(value), "claimed\n");
    const claims = claimsIn(directory, "a");
    for (const [first, last] of [[0, 10], [12, 13], [19, 30], [0, 99]]) {
      assert.equal(claims.tryTake(first!, last!), undefined);
    }
    for (const [first, last] of [[0, 9], [20, 30]]) {
      claims.tryTake(first!, last!)![Symbol.dispose]();
    }
    const others = claimsIn(directory, "b");
    others.tryTake(10, 19)![Symbol.dispose]();
    others.close();
    send(other.pid, "SIGKILL");
    await other.status;
    await reader.cancel();
    claims.tryTake(0, 99)![Symbol.dispose]();
    claims.close();
  });
});

Deno.test("two readers of one program exclude each other from a range, and release it", async () => {
  await withTempDir((directory) => {
    const [one, two] = [claimsIn(directory, "a"), claimsIn(directory, "a")];
    const claim: Claim = one.tryTake(1, 5)!;
    assert.equal(two.tryTake(5, 6), undefined);
    one.close();
    assert.equal(two.tryTake(5, 6), undefined);
    claim[Symbol.dispose]();
    two.tryTake(5, 6)![Symbol.dispose]();
    two.close();
    return Promise.resolve();
  });
});

/** Samples that are read one by one; 30 pieces of 8 MiB would take long. */
const SAMPLES = Array.from(
  { length: 40 },
  (_, i) => new Uint8Array(150_000).map((_, k) => (k * 31 + i * 7) >> 3),
);

Deno.test("programs that read all of a container concurrently fetch each piece once, correctly", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const file = ffrBytes(SAMPLES);
    fs.writeFileSync(`${dir}/www/a.ffr`, file);
    await using server = await FileServer.start(`${dir}/www`);
    const sent: number[] = [];
    server.fault = ({ range, headers }, response) => {
      if (headers["if-none-match"] !== undefined) return false;
      const [, start, last] = /(\d+)-(\d+)/.exec(range ?? "")!.map(Number);
      if (start === 0) return false;
      sent.push(Math.min(last! + 1, file.length) - start!);
      // Slow responses, so that all programs want the same ranges meanwhile.
      const body = file.subarray(start, last! + 1);
      response.writeHead(206, {
        etag: `"${"a".repeat(8)}"`,
        "content-range": `bytes ${start}-${
          start! + body.length - 1
        }/${file.length}`,
        "content-length": body.length,
      });
      let done = 0;
      const timer = setInterval(() => {
        if (done >= body.length) {
          clearInterval(timer);
          response.end();
        } else response.write(body.subarray(done, done += 200_000));
      }, 50);
      return true;
    };
    const answer = server.fault;
    server.fault = (asked, response, bytes) => {
      if (answer(asked, response, bytes)) return true;
      response.writeHead(206, {
        etag: `"${"a".repeat(8)}"`,
        "content-range": `bytes 0-262143/${file.length}`,
        "content-length": 262_144,
      }).end(file.subarray(0, 262_144));
      return true;
    };
    const args = [
      ...["check", `${server.url}/a.ffr`, "--cache-dir", `${dir}/cache`],
    ];
    const ran = await Promise.all(
      Array.from({ length: 3 }, () => recordfsProcess(args)),
    );
    for (const { code, stderr } of ran) assert.equal(code, 0, stderr);
    const bytes = sent.reduce((sum, length) => sum + length, 0);
    assert.ok(bytes < file.length, `${bytes} of ${file.length}`);
  });
});

Deno.test("a range that another program claimed without progress is fetched", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(`${dir}/www`);
    const cache = { directory: `${dir}/cache` };
    const remote = { cache, timeout: 2000 };
    using container = await open(`${server.url}/a.ffr`, { remote });
    // Claims everything that a stopped program could have claimed, of any object.
    using root = new CacheRoot(cache, assert.fail).make([]);
    using file = root.makeFile("claims");
    while (!file.tryLockRange(0n, 0n)) {
      await new Promise((resolve) => setTimeout(resolve, 5)); // until prefetching has ended
    }
    assert.deepEqual(await container.read("000039"), SAMPLES[39]);
  });
});

Deno.test("programs that open a tar for the first time concurrently request each part of it once", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const content = Buffer.alloc(30_000, "recordfs");
    const names = Array.from({ length: 1000 }, (_, i) => `${i}.bin`);
    fs.writeFileSync(
      `${dir}/www/a.tar`,
      tarBytes(names.map((name) => ({ name, data: content }))),
    );
    await using server = await FileServer.start(`${dir}/www`);
    const list = async (programs: number, cache: string) => {
      server.asked.length = 0;
      const args = [
        ...["ls", `${server.url}/a.tar`, "--cache-dir", `${dir}/${cache}`],
      ];
      const ran = await Promise.all(
        Array.from({ length: programs }, () => recordfsProcess(args)),
      );
      for (const { code, stdout, stderr } of ran) {
        assert.equal(code, 0, stderr);
        assert.equal(stdout.trim().split("\n").length, names.length);
      }
      return server.asked.length;
    };
    const one = await list(1, "one");
    assert.ok(one >= 4, `${one}`);
    const openings = 2; // opening the tar, and looking for its index
    const all = await list(5, "all");
    assert.ok(all <= one + 4 * openings + 2, `${one} and ${all}`);
  });
});
