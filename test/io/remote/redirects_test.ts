/** Redirects like those of model hubs, to signed URLs that expire. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { Client } from "../../../src/io/remote/client.ts";
import { HttpTarget } from "../../../src/io/remote/http/http_target.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";

/** Larger than the first request, each sample in blocks of its own. */
const samples = Array.from(
  { length: 12 },
  (_, i) => new Uint8Array(150_000).map((_, k) => (k * 31 + i * 7) >> 3),
);

/** A hub, and the object store that it redirects to. */
interface Hub {
  readonly hub: FileServer;
  readonly store: FileServer;
  /** URL of the file at the hub. */
  readonly url: string;
  /** Makes earlier signatures expire; new ones are valid. */
  expire(): void;
  /** Status that the store returns for expired signatures; 403 by default. */
  refusal: number;
  /** Whether the store rejects all signatures. */
  isClosed: boolean;
}

async function withHub(use: (hub: Hub) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
    await using store = await FileServer.start(dir);
    await using hub = await FileServer.start(dir);
    let good = 1;
    const made: Hub = {
      hub,
      store,
      url: `${hub.url}/a.ffr`,
      expire: () => void good++,
      refusal: 403,
      isClosed: false,
    };
    hub.fault = ({ path }, response) => {
      const location = `${store.url}${path}?signature=s3cr3t${good}`;
      response.writeHead(302, { location }).end();
      return true;
    };
    store.fault = ({ query }, response) => {
      const isGood = query.get("signature") === `s3cr3t${good}`;
      if (isGood && !made.isClosed) return false;
      response.writeHead(made.refusal).end("<Error><Code>Expired</Code>");
      return true;
    };
    await use(made);
  });
}

const remote = { cache: false as const };

Deno.test("a signed target is used until it expires, and then requested again", async () => {
  for (const refusal of [400, 401, 403, 404, 410]) {
    await withHub(async (made) => {
      made.refusal = refusal;
      using container = await open(made.url, { remote });
      for (const i of [3, 5, 7]) {
        assert.deepEqual(await container.read(nameOf(i)), samples[i]);
      }
      assert.equal(made.hub.asked.length, 1);
      made.expire();
      assert.deepEqual(await container.read(nameOf(9)), samples[9]);
      assert.deepEqual(await container.read(nameOf(11)), samples[11]);
      assert.equal(made.hub.asked.length, 2);
    });
  }
});

Deno.test("after a target fails, the location is requested again", async () => {
  await withHub(async (made) => {
    using container = await open(made.url, { remote });
    made.refusal = 503;
    made.expire();
    assert.deepEqual(await container.read(nameOf(9)), samples[9]);
    assert.equal(made.hub.asked.length, 2);
  });
});

Deno.test("all requests in flight when it expired are repeated", async () => {
  await withHub(async (made) => {
    using container = await open(made.url, { remote });
    const { store } = made;
    const { fault } = store;
    // All requests arrive before the first response.
    const waiting: (() => void)[] = [];
    store.fault = (asked, response) => {
      waiting.push(() => void fault!(asked, response, undefined));
      if (waiting.length === 3) waiting.forEach((answer) => answer());
      if (waiting.length >= 3) store.fault = fault;
      return true;
    };
    made.expire();
    const reads = [4, 7, 10].map((i) => container.read(nameOf(i)));
    const found = await Promise.all(reads);
    assert.deepEqual(found, [samples[4], samples[7], samples[10]]);
  });
});

Deno.test("of sixty readers whose target has expired, one requests a new one", async () => {
  await withHub(async (made) => {
    const client = new Client({ cache: false, onWarning: assert.fail });
    const one = new HttpTarget(new URL(made.url), {});
    const ask = () =>
      client.ask(one, {
        headers: () => new Headers({ range: "bytes=0-9" }),
        take: async (response) => await response.bytes(),
      }, { signal: undefined });
    await ask();
    made.expire();
    made.hub.asked.length = 0;
    const all = Array.from({ length: 60 }, ask);
    for (const bytes of await Promise.all(all)) assert.equal(bytes.length, 10);
    assert.equal(made.hub.asked.length, 1);
    // While the hub still returns the expired URL, each reader asks it at most once.
    const { fault } = made.hub;
    let old = 3;
    made.hub.fault = (asked, response, file) => {
      if (old-- <= 0) return fault!(asked, response, file);
      const location = `${made.store.url}${asked.path}?signature=old`;
      response.writeHead(302, { location }).end();
      return true;
    };
    made.expire();
    made.hub.asked.length = 0;
    const found = await Promise.allSettled(Array.from({ length: 60 }, ask));
    const good = found.filter(({ status }) => status === "fulfilled").length;
    assert.ok(good >= 57, `${good}`);
    assert.ok(made.hub.asked.length <= 6, `${made.hub.asked.length}`);
  });
});

Deno.test("a target that rejects a new signature is reported as access denied, promptly and without the signature", async () => {
  await withHub(async (made) => {
    made.isClosed = true;
    await assert.rejects(
      open(made.url, { remote }),
      (error: Error & { code?: string }) =>
        error.code === "access-denied" &&
        error.message.includes(
          `${made.url}: access denied (HTTP 403 Expired`,
        ) &&
        !error.message.includes("s3cr3t"),
    );
    assert.ok(made.hub.asked.length <= 6, `${made.hub.asked.length}`);
  });
});

Deno.test("redirects of all kinds are followed, including relative and chained ones", async () => {
  await withHub(async ({ hub, store }) => {
    const { fault } = hub;
    const first = "/datasets/me/data/resolve/main/a.ffr";
    const second = "/api/cache/a.ffr";
    for (const status of [301, 302, 303, 307, 308]) {
      for (
        const location of [
          `${second}?download=true`,
          `../../../../..${second}`,
          `//${new URL(hub.url).host}${second}`,
        ]
      ) {
        hub.asked.length = store.asked.length = 0;
        hub.fault = ({ path }, response, file) => {
          if (path === second) {
            return fault!({ path: "/a.ffr" } as never, response, file);
          }
          assert.equal(path, first);
          response.writeHead(status, { location }).end();
          return true;
        };
        const headers = { authorization: "Bearer token" };
        using container = await open(hub.url + first, {
          remote: { ...remote, headers },
        });
        assert.deepEqual(await container.read(nameOf(8)), samples[8]);
        assert.deepEqual(hub.asked.map(({ path }) => path), [first, second]);
        for (const { headers } of hub.asked) {
          assert.equal(headers.authorization, "Bearer token");
        }
        assert.ok(store.asked.length >= 2);
        for (const { headers } of store.asked) {
          assert.equal(headers.authorization, undefined);
        }
      }
    }
  });
});

Deno.test("redirects to unsupported schemes are not followed", async () => {
  await withHub(async ({ hub, url }) => {
    for (
      const location of ["file:///etc/hostname", "http://me:s3cr3t@h/", "http:"]
    ) {
      hub.fault = (_, response) => {
        response.writeHead(302, { location }).end();
        return true;
      };
      await assert.rejects(
        open(url, { remote }),
        (error: Error & { code?: string }) =>
          error.code === "redirect-loop" && !error.message.includes("s3cr3t"),
        location,
      );
    }
  });
});

function nameOf(sample: number): string {
  return String(sample).padStart(6, "0");
}
