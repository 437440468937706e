import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { fillCache } from "../../../src/io/remote/fill_cache.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { answerFile, FileServer } from "../../support/remote/file_server.ts";

const samples = Array.from(
  { length: 40 },
  (_, i) => new Uint8Array(100_000).map((_, k) => (k * 13 + i * 5) >> 2),
);

async function withServer(
  use: (
    place: { server: FileServer; url: string; cache: string; www: string },
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const www = `${dir}/www`;
    fs.mkdirSync(www);
    fs.writeFileSync(`${www}/a.ffr`, ffrBytes(samples));
    await using server = await FileServer.start(www);
    await use({ server, url: `${server.url}/a.ffr`, cache: `${dir}/c`, www });
  });
}

async function readAll(
  url: string,
  directory: string,
  size?: number,
  onWarning: (message: string) => void = assert.fail,
): Promise<void> {
  const remote = { cache: { directory, size }, onWarning };
  using container = await open(url, { remote });
  const names = samples.map((_, i) => String(i).padStart(6, "0"));
  assert.deepEqual(await container.read(names), samples);
}

/** Returns the only file of this name below a directory. */
function find(directory: string, name: string): string {
  const found = fs.readdirSync(directory, { recursive: true }) as string[];
  const [one, ...others] = found.filter((path) => path.endsWith(`/${name}`));
  assert.deepEqual(others, []);
  return `${directory}/${one}`;
}

function bytesOf(server: FileServer): number {
  return server.asked.reduce((sum, { range }) => {
    const [, start, end] = /(\d+)-(\d+)/.exec(range ?? "0-0")!.map(Number);
    return sum + end! - start! + 1;
  }, 0);
}

Deno.test("the second time, one request revalidates, and no content is sent", async () => {
  await withServer(async ({ server, url, cache }) => {
    await readAll(url, cache);
    const { length } = server.asked;
    await readAll(url, cache);
    assert.equal(server.asked.length, length + 1);
    assert.ok(server.asked.at(-1)!.headers["if-none-match"]);
    // The same object at a signed location of the same server, with its secret in the query.
    await readAll(`${url}?X-Amz-Signature=abc`, cache);
    assert.equal(server.asked.length, length + 2);
    const names = fs.readdirSync(cache, { recursive: true }) as string[];
    const files = names.map((name) => `${cache}/${name}`)
      .filter((path) => fs.statSync(path).isFile());
    assert.ok(files.length > 0);
    for (const path of files) {
      assert.ok(!fs.readFileSync(path, "latin1").includes("X-Amz"), path);
    }
  });
});

Deno.test("a replaced object is fetched again, and never mixed with the old one", async () => {
  await withServer(async ({ server, url, cache, www }) => {
    await readAll(url, cache);
    const others = samples.toReversed();
    fs.writeFileSync(`${www}/a.ffr`, ffrBytes(others));
    using container = await open(url, {
      remote: { cache: { directory: cache } },
    });
    assert.deepEqual(await container.read("000003"), others[3]);
    assert.ok(server.asked.length > 2);
  });
});

Deno.test("two concurrent readers that fill one cache get the right bytes", async () => {
  await withServer(async ({ url, cache }) => {
    await Promise.all([1, 2, 3].map(() => readAll(url, cache)));
  });
});

Deno.test("a cache that is too small retains its data, and the rest is fetched again", async () => {
  await withServer(async ({ server, url, cache }) => {
    const half = 2_000_000;
    await readAll(url, cache, half);
    const first = bytesOf(server);
    server.asked.length = 0;
    await readAll(url, cache, half);
    const again = bytesOf(server);
    assert.ok(again > 0.3 * first && again < 0.75 * first, `${again}`);
    const { blocks } = fs.statSync(find(cache, "data"));
    assert.ok(blocks * 512 <= half);
  });
});

Deno.test("the least recently used object is evicted, unless it is in use; nothing else is ever deleted", async () => {
  await withServer(async ({ server, url, cache, www }) => {
    const size = 5_000_000;
    fs.writeFileSync(`${www}/b.ffr`, ffrBytes(samples.toReversed()));
    fs.mkdirSync(`${cache}/objects/mine`, { recursive: true });
    fs.writeFileSync(`${cache}/objects/mine/precious`, "x");
    fs.writeFileSync(`${cache}/precious`, "x");
    await readAll(url, cache, size);
    const old = find(cache, "data");
    const remote = { cache: { directory: cache, size } };
    {
      using _used = await open(url, { remote });
      using other = await open(`${server.url}/b.ffr`, { remote });
      await other.read(samples.map((_, i) => String(i).padStart(6, "0")));
      assert.ok(fs.existsSync(old));
    }
    using other = await open(`${server.url}/b.ffr`, { remote });
    await other.read(samples.map((_, i) => String(i).padStart(6, "0")));
    assert.ok(!fs.existsSync(old));
    assert.ok(fs.existsSync(`${cache}/objects/mine/precious`));
    assert.ok(fs.existsSync(`${cache}/precious`));
  });
});

Deno.test("a block that was changed on the disk after a reboot is fetched again", async () => {
  await withServer(async ({ server, url, cache }) => {
    await readAll(url, cache);
    const facts = find(cache, "facts.json");
    const before = JSON.parse(fs.readFileSync(facts, "utf8"));
    fs.writeFileSync(facts, JSON.stringify({ ...before, start: "earlier" }));
    const data = fs.openSync(find(cache, "data"), "r+");
    fs.writeSync(data, new Uint8Array(3), 0, 3, 1_000_000);
    fs.closeSync(data);
    server.asked.length = 0;
    await readAll(url, cache);
    assert.deepEqual(
      server.asked.map(({ range }) => range).slice(1),
      [`bytes=${122 * 8192}-${123 * 8192 - 1}`],
    );
  });
});

Deno.test("a cache that cannot be written makes reading slower, with one warning", async () => {
  await withServer(async ({ url, cache }) => {
    fs.writeFileSync(cache, "a file");
    const warnings: string[] = [];
    await readAll(url, cache, undefined, (text) => warnings.push(text));
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /^Cannot use the cache .*: .*`cache\.directory`/,
    );
  });
});

Deno.test("adjacent ranges are one request", async () => {
  await withServer(async ({ server, url, cache }) => {
    await readAll(url, cache);
    const { length } = server.asked;
    assert.ok(length <= 5, `${length} requests for 4 MB`); // samples of 100 KB
  });
});

Deno.test("a sequential reader prefetches more and more", async () => {
  await withServer(async ({ server, url, cache }) => {
    for (const kept of [{ directory: cache }, false as const]) {
      server.asked.length = 0;
      using container = await open(url, { remote: { cache: kept } });
      for (const [i, sample] of samples.entries()) {
        const read = await container.read(String(i).padStart(6, "0"));
        assert.deepEqual(read, sample);
      }
      const { length } = server.asked;
      assert.ok(length <= 12, `${length} requests for 40 samples`);
    }
  });
});

Deno.test("objects that differ only in the query are distinguished", async () => {
  await withServer(async ({ server, url, cache, www }) => {
    fs.writeFileSync(`${www}/b.ffr`, ffrBytes(samples.toReversed()));
    server.fault = ({ headers, query, range }, response) => {
      // Of equal size and time, and without ETags.
      const name = query.get("id")!;
      const file = fs.readFileSync(`${www}/${name}.ffr`);
      const send = response.setHeader.bind(response);
      response.setHeader = (header, value) =>
        header === "etag" || header === "last-modified"
          ? response
          : send(header, value);
      answerFile({ headers, range }, file, new Date(0), response);
      return true;
    };
    const remote = { cache: { directory: cache } };
    using a = await open(`${url}?id=a`, { remote });
    using b = await open(`${url}?id=b`, { remote });
    assert.deepEqual(await a.read("000001"), samples[1]);
    assert.deepEqual(await b.read("000001"), samples.at(-2));
  });
});

Deno.test("only the network permission is needed", async () => {
  await withServer(async ({ url }) => {
    const mod = new URL("../../../mod.ts", import.meta.url).href;
    const script = `import { open } from ${JSON.stringify(mod)};
      const warnings = [];
      const remote = { onWarning: (text) => warnings.push(text) };
      using container = await open(${JSON.stringify(url)}, { remote });
      console.log((await container.read("000007")).length, warnings.length);`;
    const deno = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", `--allow-net=${new URL(url).host}`, "-"],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await new Blob([script]).stream().pipeTo(deno.stdin);
    const { stdout, stderr } = await deno.output();
    const said = new TextDecoder();
    assert.equal(said.decode(stdout), "100000 1\n", said.decode(stderr));
  });
});

Deno.test("a range with two missing runs, a block apart, is one request that ends", async () => {
  await withServer(async ({ server, url, cache }) => {
    const remote = { cache: { directory: cache } };
    const storage = new RemoteStorage(url, remote);
    const source = await runAsync(storage.open(storage.root));
    const block = 8192;
    const middle = new Uint8Array(block);
    await source.readAt(middle, 100 * block);
    server.asked.length = 0;
    const all = new Uint8Array(20 * block);
    await source.readAt(all, 90 * block);
    assert.deepEqual(all.subarray(10 * block, 11 * block), middle);
    const file = ffrBytes(samples).subarray(90 * block, 110 * block);
    assert.deepEqual(all, new Uint8Array(file));
    assert.equal(server.asked.length, 1);
    source.close();
  });
});

Deno.test("a program that fills a cache from a hanging server can be aborted at once", async () => {
  await withServer(async ({ server, url, cache }) => {
    const storage = new RemoteStorage(url, { cache: { directory: cache } });
    const source = await runAsync(storage.open(storage.root));
    const giveUp = new AbortController();
    server.fault = () => {
      setTimeout(() => giveUp.abort(new Error("enough")), 0);
      return true; // never responds
    };
    const filling = fillCache(source, () => {}, giveUp.signal);
    await assert.rejects(filling, /enough/);
    source.close();
  });
});
