/** Servers whose responses don't identify the state of an object: nothing of them is cached for other programs. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { dirname } from "node:path";
import { open } from "../../../mod.ts";
import { recordfs } from "../../cli/run_cli.ts";
import { withTempDir } from "../../support/paths.ts";
import { type Fault, FileServer } from "../../support/remote/file_server.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

/** Longer than the first response, so that several are needed; contents have no checksums. */
const LENGTH = 900_000;

function tarOf(fill: number): Uint8Array {
  return tarBytes([{ name: "a", data: new Uint8Array(LENGTH).fill(fill) }]);
}

/** Responds with these headers in addition to those of the range. */
function saying(
  headersOf: (
    file: Uint8Array,
    range: string | undefined,
  ) => OutgoingHttpHeaders,
  hasRanges = true,
): Fault {
  return ({ range }, response, file) => {
    if (file === undefined) return false;
    const headers = headersOf(file, range);
    const parts = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
    if (parts === null || !hasRanges) {
      response.writeHead(200, { ...headers, "content-length": file.length });
      response.end(file);
      return true;
    }
    const start = Number(parts[1]);
    const end = Math.min(Number(parts[2]) + 1, file.length);
    response.writeHead(206, {
      ...headers,
      "content-length": end - start,
      "content-range": `bytes ${start}-${end - 1}/${file.length}`,
    });
    response.end(file.subarray(start, end));
    return true;
  };
}

interface Place {
  readonly server: FileServer;
  readonly url: string;
  readonly cache: string;
  readonly warnings: string[];
  put(file: Uint8Array): void;
  open(): ReturnType<typeof open>;
  /** Opens it as another program does, and reads the byte that fills its content. */
  read(): Promise<number>;
}

async function withPlace(
  fault: Fault,
  body: (place: Place) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const put = (file: Uint8Array) =>
      fs.writeFileSync(`${dir}/www/a.tar`, file);
    put(tarOf(1));
    await using server = await FileServer.start(`${dir}/www`);
    server.fault = fault;
    const warnings: string[] = [];
    const url = `${server.url}/a.tar`;
    const cache = `${dir}/cache`;
    const remote = {
      cache: { directory: cache },
      onWarning: (text: string) => void warnings.push(text),
    };
    await body({
      ...{ server, url, cache, warnings, put },
      open: () => open(url, { remote }),
      async read() {
        using container = await open(url, { remote });
        const bytes = await container.read("a");
        assert.ok(bytes.every((byte) => byte === bytes[0]), "of two states");
        return bytes[0]!;
      },
    });
  });
}

function objectsIn(cache: string): string[] {
  return fs.globSync(`${cache}/objects/*/*`);
}

const at = (date: number) => new Date(date).toUTCString();
const NOW = Date.parse("2026-01-01T00:00:00Z");

const forgotten: Record<string, OutgoingHttpHeaders> = {
  "without ETag and Last-Modified": {},
  "with a Last-Modified that is not a time": { "last-modified": "today" },
  "with a Last-Modified of 1970": { "last-modified": at(0) },
  "with a Last-Modified of a second ago": {
    "last-modified": at(NOW - 1000),
    date: at(NOW),
  },
  "with a Last-Modified ahead of its clock": {
    "last-modified": at(NOW + 60_000),
    date: at(NOW),
  },
  "with a weak ETag of a file that is a second old": {
    etag: 'W/"1"',
    "last-modified": at(NOW - 1000),
    date: at(NOW),
  },
};

for (const [what, headers] of Object.entries(forgotten)) {
  for (const hasRanges of [true, false]) {
    const ranges = hasRanges ? "" : ", nor ranges";
    Deno.test(`of a server ${what}${ranges}, nothing is cached for the next program`, async () => {
      await withPlace(saying(() => headers, hasRanges), async (place) => {
        assert.equal(await place.read(), 1);
        assert.deepEqual(objectsIn(place.cache), []);
        place.put(tarOf(2));
        assert.equal(await place.read(), 2);
        const isTold = "etag" in headers || /202\d/.test(
          String(headers["last-modified"]),
        );
        const said = place.warnings.filter((text) =>
          /Have the server/.test(text)
        );
        assert.equal(said.length, isTold ? 0 : 1, place.warnings.join("\n"));
      });
    });
  }
}

const kept: Record<string, (file: Uint8Array) => OutgoingHttpHeaders> = {
  "Last-Modified of three seconds ago": () => ({
    "last-modified": at(NOW - 3000),
    date: at(NOW),
  }),
  "a weak ETag alone": (file) => ({ etag: `W/"${file[600]}"` }),
  "a digest": (file) => ({ "repr-digest": `sha-256=:${file[600]}:` }),
};

for (const [what, headersOf] of Object.entries(kept)) {
  Deno.test(`of a server with ${what}, blocks are cached`, async () => {
    await withPlace(saying(headersOf), async (place) => {
      assert.equal(await place.read(), 1);
      assert.equal(objectsIn(place.cache).length, 1);
      place.server.asked.length = 0;
      assert.equal(await place.read(), 1);
      assert.equal(place.server.asked.length, 1); // the request when opening
      assert.deepEqual(place.warnings, []);
    });
  });
}

Deno.test("while an unidentified state is open, its fetched data is cached", async () => {
  await withPlace(saying(() => ({})), async ({ server, open, cache }) => {
    using container = await open();
    await container.read("a");
    assert.equal(objectsIn(cache).length, 1);
    server.asked.length = 0;
    await container.read("a");
    assert.deepEqual(server.asked, []);
  });
});

Deno.test("leftovers of such a state from a killed program are not used", async () => {
  await withPlace(saying(() => ({})), async ({ open, read, cache, put }) => {
    const copy = `${cache}.copy`;
    {
      using container = await open();
      await container.read("a");
      fs.cpSync(`${cache}/objects`, copy, { recursive: true });
    }
    fs.cpSync(copy, `${cache}/objects`, { recursive: true });
    assert.equal(objectsIn(cache).length, 1);
    put(tarOf(2));
    assert.equal(await read(), 2);
  });
});

Deno.test("data that earlier versions cached by size alone is not used", async () => {
  const tagged = saying(() => ({ etag: '"1"' }));
  await withPlace(tagged, async ({ server, read, cache, put }) => {
    await read();
    const [facts] = fs.globSync(`${cache}/objects/*/*/facts.json`);
    const { isLasting: _, ...before } = JSON.parse(
      fs.readFileSync(facts!, "utf8"),
    );
    const tag = `modified 0, ${before.size} bytes`;
    fs.writeFileSync(facts!, JSON.stringify({ ...before, tag }));
    const state = createHash("sha256").update(tag).digest("hex").slice(0, 32);
    fs.renameSync(dirname(facts!), `${dirname(dirname(facts!))}/${state}`);
    server.fault = saying(() => ({}));
    put(tarOf(2));
    assert.equal(await read(), 2);
  });
});

Deno.test("parts without a tag, of an object that had one, are reported, or compared by time", async () => {
  const isFirst = (range: string | undefined) => /bytes=0-/.test(range ?? "");
  const withoutTag = saying((_, range) =>
    isFirst(range) ? { etag: '"1"' } : {}
  );
  await withPlace(withoutTag, async ({ read, warnings }) => {
    assert.equal(await read(), 1);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /Cannot detect .*Have the server send an ETag$/);
  });
  const withTime = saying((file, range) => ({
    ...isFirst(range) && { etag: '"1"' },
    "last-modified": at(file[600] === 1 ? NOW : NOW + 60_000),
  }));
  await withPlace(withTime, async ({ open, put, warnings }) => {
    using container = await open();
    put(tarOf(2));
    await assert.rejects(container.read("a"), { code: "changed" });
    assert.deepEqual(warnings, []);
  });
});

Deno.test("a whole object of a different state than the first response is an error", async () => {
  let answers = 0;
  const changing = saying(() => ({ etag: `"${answers++}"` }), false);
  await withPlace(changing, async ({ read }) => {
    await assert.rejects(read(), { code: "changed" });
  });
});

Deno.test("the index of a large tar is not cached for such a state", async () => {
  const members = Array.from({ length: 9000 }, (_, i) => ({
    name: `${i}`,
    data: new Uint8Array(600),
  }));
  for (
    const [headers, count] of [
      [{}, 0],
      [forgotten["with a Last-Modified of a second ago"]!, 0],
      [{ etag: '"1"' }, 1],
    ] as const
  ) {
    await withPlace(saying(() => headers), async ({ open, put, cache }) => {
      put(tarBytes(members));
      using container = await open();
      assert.equal((await container.list("")).length, members.length);
      assert.equal(fs.globSync(`${cache}/indexes/*`).length, count);
    });
  }
});

Deno.test("`cache fill` reports that such a state cannot be cached", async () => {
  await withPlace(saying(() => ({})), async ({ url, cache }) => {
    const args = ["cache", "fill", url, "--cache-dir", cache];
    const { code, stderr } = await recordfs(args);
    assert.equal(code, 1);
    assert.match(stderr, /Cannot cache .*a\.tar: its server/);
  });
});
