/** Programs that share a cache and need the index of one container concurrently: one of them builds it. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { IndexClaim } from "../../../src/io/index_cache/index_claim.ts";
import {
  type CacheLocation,
  cacheLocation,
} from "../../../src/io/index_cache/cache_location.ts";
import { RemoteSource } from "../../../src/io/remote/remote_source.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { recordfsProcess } from "../../cli/run_cli.ts";
import { withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { answerFile, FileServer } from "../../support/remote/file_server.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

const PROGRAMS = 12;
const MEMBERS = 100;
/** Latency in milliseconds, so high that reading contents along with headers is faster even on a busy machine. */
const LATENCY = 600;

Deno.test("twelve programs that open a tar of large members for the first time make one extra request each", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const data = new Uint8Array(1_000_000).fill(97);
    const names = Array.from({ length: MEMBERS }, (_, i) => `${i}.bin`);
    fs.writeFileSync(
      `${dir}/www/a.tar`,
      tarBytes(names.map((name) => ({ name, data }))),
    );
    await using server = await FileServer.start(`${dir}/www`);
    server.fault = (asked, response, file) => {
      if (file === undefined) return false;
      setTimeout(() => answerFile(asked, file, new Date(0), response), LATENCY);
      return true;
    };
    const list = async (programs: number, cache: string) => {
      server.asked.length = 0;
      const args = ["ls", `${server.url}/a.tar`, "--cache-dir"];
      const ran = await Promise.all(
        Array.from(
          { length: programs },
          () => recordfsProcess([...args, `${dir}/${cache}`]),
        ),
      );
      for (const { code, stdout, stderr } of ran) {
        assert.deepEqual([code, stderr], [0, ""]);
        const listed = stdout.trim().split("\n");
        assert.deepEqual(listed.toSorted(), names.toSorted());
      }
      return server.asked.map(({ path, range }) => `${path} ${range}`);
    };
    const one = await list(1, "one");
    const all = await list(PROGRAMS, "all");
    const beside = all.filter((asked) => asked.startsWith("/a.idx"));
    assert.equal(beside.length, 1, all.join("\n"));
    // Request times vary, and with them the ranges that the builder requests.
    const most = one.length + PROGRAMS - 1 + 4;
    assert.ok(all.length <= most, [one.length, ...all].join("\n"));
  });
});

interface Opened {
  readonly source: RemoteSource;
  readonly place: CacheLocation;
  readonly cache: string;
}

/**
 * Opens an object of 8 MiB with a cache.
 *
 * @param fetchTime Estimated milliseconds to fetch all of it.
 */
async function withSource(
  fetchTime: number,
  body: (opened: Opened) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.tar`, new Uint8Array(8 << 20));
    await using server = await FileServer.start(`${dir}/www`);
    const url = `${server.url}/a.tar`;
    const cache = `${dir}/cache`;
    const storage = new RemoteStorage(url, {
      cache: { directory: cache },
      timeout: 24_000, // others wait 3 s for a builder without progress
    });
    const source = await runAsync(storage.open(storage.root));
    assert.ok(source instanceof RemoteSource);
    assert.ok(source.fetchTime > 0);
    Object.defineProperty(source, "fetchTime", { value: fetchTime });
    try {
      const place = cacheLocation(source, "test 1", {})!;
      await body({ source, place, cache });
    } finally {
      source.close();
    }
  });
}

const none = () => undefined;

/** Whether a promise takes longer than `ms` milliseconds. */
async function lasts(ms: number, one: Promise<unknown>): Promise<boolean> {
  return await Promise.race([sleep(ms, true), one.then(() => false)]);
}

Deno.test("waiters for an index receive it as soon as it is cached", async () => {
  await withSource(60_000, async ({ source, place }) => {
    using maker = new IndexClaim(source, place);
    assert.equal(await maker.take(none, undefined), undefined);
    using other = new IndexClaim(source, place);
    const kept: string[] = [];
    const taken = other.take(() => kept[0], undefined);
    assert.ok(await lasts(200, taken));
    kept.push("made");
    assert.equal(await taken, "made");
  });
});

Deno.test("if the builder of an index ends without one, another follows, and the others do not wait for a third", async () => {
  await withSource(60_000, async ({ source, place }) => {
    const first = new IndexClaim(source, place);
    await first.take(none, undefined);
    const others = Array.from({ length: 3 }, () => {
      const claim = new IndexClaim(source, place);
      return { claim, taken: claim.take(none, undefined) };
    });
    assert.ok(await lasts(200, Promise.race(others.map((one) => one.taken))));
    first[Symbol.dispose]();
    const begun = performance.now();
    const second = await Promise.race(
      others.map(async (one) => (await one.taken, one)),
    );
    assert.ok(performance.now() - begun < 2500);
    const rest = others.filter((one) => one !== second);
    assert.ok(await lasts(100, Promise.race(rest.map((one) => one.taken))));
    second.claim[Symbol.dispose]();
    await Promise.all(rest.map((one) => one.taken));
    assert.ok(performance.now() - begun < 2900);
    for (const { claim } of rest) claim[Symbol.dispose]();
  });
});

Deno.test("waiting for a slow builder takes no longer than fetching the object", async () => {
  await withSource(4000, async ({ source, place }) => {
    using maker = new IndexClaim(source, place);
    await maker.take(none, undefined);
    let at = 1 << 20;
    const fetching = setInterval(
      () => void source.readAt(new Uint8Array(1), at += 1 << 16),
      100,
    );
    try {
      using other = new IndexClaim(source, place);
      const begun = performance.now();
      await other.take(none, undefined);
      const ms = performance.now() - begun;
      assert.ok(ms >= 4000 && ms < 8000, `${ms}`);
    } finally {
      clearInterval(fetching);
    }
  });
});

Deno.test("waiting for the builder can be aborted", async () => {
  await withSource(60_000, async ({ source, place }) => {
    using maker = new IndexClaim(source, place);
    await maker.take(none, undefined);
    using other = new IndexClaim(source, place);
    const aborting = new AbortController();
    const taken = other.take(none, aborting.signal);
    aborting.abort(new Error("enough"));
    await assert.rejects(taken, { message: "enough" });
  });
});

const MAKE = `
  import { IndexClaim } from ${
  JSON.stringify(
    import.meta.resolve("../../../src/io/index_cache/index_claim.ts"),
  )
};
  import { CacheRoot } from ${
  JSON.stringify(
    import.meta.resolve("../../../src/io/remote/cache/cache_root.ts"),
  )
};
  const [directory, name, state] = Deno.args;
  const source = {
    fetchTime: 0,
    fetcher: { lastKept: () => 0 },
    origin: { options: {} },
  };
  const root = new CacheRoot({ directory }, console.error);
  const claim = new IndexClaim(source, { root, name, state, of: "" });
  await claim.take(() => undefined);
  console.log("claimed");
  setInterval(() => {}, 1000);
`;

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  Deno.test(`another program builds the index after ${signal} has stopped the first one`, async () => {
    await withSource(60_000, async ({ source, place, cache }) => {
      const script = `${cache}/../make.ts`;
      fs.writeFileSync(script, MAKE);
      const other = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "--no-check", "--config"],
          new URL("../../../deno.json", import.meta.url).pathname,
          ...[script, cache, place.name, place.state],
        ],
        stdout: "piped",
      }).spawn();
      const output = other.stdout.getReader();
      try {
        const { value } = await output.read();
        assert.equal(new TextDecoder().decode(value), "claimed\n");
        using claim = new IndexClaim(source, place);
        const taken = claim.take(none, undefined);
        assert.ok(await lasts(200, taken));
        send(other.pid, signal);
        const begun = performance.now();
        await taken;
        const ms = performance.now() - begun;
        // A stopped program releases no claim: others wait until 3 s have passed without a new block.
        if (signal === "SIGKILL") assert.ok(ms < 2500, `${ms}`);
        else assert.ok(ms > 2500 && ms < 20_000, `${ms}`);
      } finally {
        send(other.pid, "SIGKILL");
        await other.status;
        await output.cancel();
      }
    });
  });
}
