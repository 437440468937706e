/** Servers with several threads. */
import assert from "node:assert/strict";
import {
  openDeferred,
  threadOpener,
} from "../../src/cli/serve/open_deferred.ts";
import { type ServedAddress, serveInThreads } from "../../src/serve/serve.ts";
import type { ServeOptions } from "../../src/serve/options.ts";
import { CLI, run } from "../cli/run_cli.ts";
import { until } from "../cli/mount/mount_place.ts";
import { needs } from "../support/programs/programs.ts";
import { packed } from "../support/serve/served_folder.ts";
import {
  startServing,
  withContainers,
} from "../support/serve/serving_command.ts";

/** Serves a container in two threads. The second opens it after `before`. */
async function inTwoThreads(
  path: string,
  options: ServeOptions,
  use: (server: ServedAddress) => Promise<void>,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const given = { given: [path], options: {} };
  const opened = await openDeferred(given);
  using fs = opened.fs;
  const opener = threadOpener(given, opened);
  await before();
  const all = { token: null, ...options };
  await using server = serveInThreads(fs, all, { count: 1, opener });
  await use(server);
}

/** Requests a URL by curl over concurrent connections, while this thread is blocked. */
function askWhileBusy(url: string, times: number): string[] {
  const script =
    `for i in $(seq ${times}); do curl --silent --max-time 1 ${url} & done; wait`;
  const { stdout } = new Deno.Command("sh", { args: ["-c", script] })
    .outputSync();
  return new TextDecoder().decode(stdout).match(/content of a/g) ?? [];
}

/** Waits until the second thread responds: while this thread is blocked, only it can. */
async function untilBothAnswer(url: string): Promise<void> {
  await until(() => askWhileBusy(url, 20).length > 0);
}

/** Requests a URL repeatedly, each time over a new connection. */
async function askAnew(
  url: string,
  times: number,
  init: RequestInit = {},
): Promise<{ status: number; text: string }[]> {
  const answers = [];
  for (let i = 0; i < times; i++) {
    const headers = { ...init.headers, connection: "close" };
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const response = await fetch(url, { ...init, headers, client });
    answers.push({ status: response.status, text: await response.text() });
  }
  return answers;
}

Deno.test({
  name: "while one thread of a server is busy, another one responds",
  ...needs("curl"),
  fn: () =>
    withContainers((dir) =>
      inTwoThreads(`${dir}/a.ffr`, {}, async ({ url }) => {
        await untilBothAnswer(`${url}files/a.txt`);
      })
    ),
});

Deno.test({
  name: "threads count requests and checks together, and report all",
  ...needs("curl"),
  fn: () =>
    withContainers(async (dir) => {
      const asked: string[] = [];
      const options: ServeOptions = {
        maxRequests: 1,
        onAccess: ({ path, status }) => asked.push(`${path} ${status}`),
      };
      const large = new Uint8Array(32 << 20); // larger than the buffers of a connection
      const path = `${dir}/large.ffr`;
      await Deno.writeFile(path, packed({ "a.txt": "content of a", large }));
      await inTwoThreads(path, options, async ({ url }) => {
        await untilBothAnswer(`${url}files/a.txt`);
        const checks = await askAnew(`${url}api/check`, 10, { method: "POST" });
        for (const { status, text } of checks) {
          assert.equal(status, 200);
          const last = JSON.parse(text.trimEnd().split("\n").at(-1)!);
          assert.deepEqual([last.report.samples, last.report.damaged], [3, 0]);
        }
        const held = await fetch(`${url}files/?tar`);
        const answers = await askAnew(`${url}files/?tar`, 20);
        const few = await askAnew(`${url}files/nothing`, 20);
        await held.body!.cancel();
        const all = new Set(answers.map(({ status }) => status));
        assert.deepEqual([...all], [503]);
        assert.ok(few.every(({ status }) => status === 404));
        // The other thread reports its requests a little later.
        const missed = () => asked.filter((one) => one.endsWith("nothing 404"));
        await until(() => missed().length === 20);
        await until(async () => {
          const [one] = await askAnew(`${url}files/?tar`, 1);
          return one!.status === 200;
        });
      });
    }),
});

Deno.test({
  name:
    "the page's session is shared by all threads, and none of them reveals its path",
  ...needs("curl"),
  fn: () =>
    withContainers(async (dir) => {
      const asked: string[] = [];
      const token = "0123456789abcdef";
      const options: ServeOptions = {
        token,
        onAccess: ({ path }) => asked.push(path),
      };
      await inTwoThreads(`${dir}/a.ffr`, options, async ({ link }) => {
        const login = await fetch(link, { redirect: "manual" });
        const [cookie] = login.headers.getSetCookie()[0]!.split(";");
        const file = new URL("files/a.txt", link).href;
        // Sent by curl while this thread is blocked, so that only the other one can respond.
        const withCookie = `--header 'Cookie: ${cookie}' ${file}`;
        await untilBothAnswer(withCookie);
        const answers = await askAnew(file, 10, {
          headers: { cookie: cookie! },
        });
        assert.ok(answers.every(({ status }) => status === 200));
        const secret = link.split("/")[4]!;
        assert.match(secret, /^[\w-]{22}$/);
        await until(() => asked.length > 11);
        assert.ok(asked.every((path) => !path.includes(secret)));
        assert.ok(asked.includes("/s/*/files/a.txt"));
      });
    }),
});

for (
  const [what, before, message] of [
    [
      "is gone",
      (path: string) => Deno.remove(path),
      /thread of the server ended, and others continue: Cannot open .*a\.ffr/,
    ],
    [
      "has changed",
      (path: string) => Deno.writeFile(path, packed({ "a.txt": "other" })),
      /thread of the server ended, and others continue: .*a\.ffr.* changed/,
    ],
  ] as const
) {
  Deno.test(`a thread that finds that a served container ${what} is reported, and others respond`, () =>
    withContainers(async (dir) => {
      const errors: string[] = [];
      const options: ServeOptions = {
        onError: (error) => errors.push(String(error)),
      };
      const path = `${dir}/a.ffr`;
      await inTwoThreads(path, options, async ({ url }) => {
        await until(() => errors.length > 0);
        assert.match(errors[0]!, message);
        const answers = await askAnew(`${url}files/`, 20);
        assert.ok(answers.every(({ status }) => status === 200));
      }, () => before(path));
    }));
}

Deno.test("threads know registered formats", () =>
  withContainers(async (dir) => {
    const module = new URL(
      "../support/toy_format/toy_format.ts",
      import.meta.url,
    );
    const index = JSON.stringify([["greeting", "en", 5, 0x3610a686]]);
    const size = String(index.length).padStart(8, "0");
    const path = `${dir}/x.toy`;
    await Deno.writeTextFile(path, `TOY1 ${size}\n${index}hello`);
    const server = await startServing([
      ...["serve", "--workers", "2", "--format-module", module.pathname],
      ...["--port", "0", "--no-token", path],
    ]);
    const answers = await askAnew(`${server.url}files/greeting`, 30);
    assert.ok(answers.every(({ text }) => text === "hello"));
    const { code, stderr } = await server.end("SIGTERM");
    assert.equal(code, 0);
    assert.ok(!stderr.includes("has ended"), stderr);
  }));

Deno.test("a port is shared with no other server, and is free when its server has ended", () =>
  withContainers(async (dir) => {
    const args = ["serve", "--workers", "3", `${dir}/a.ffr`, "--port"];
    const server = await startServing([...args, "0"]);
    const { port } = new URL(server.url);
    const other = await run([
      ...[Deno.execPath(), "run", "-A", "--no-check", CLI, ...args, port],
    ]);
    assert.equal(other.code, 1);
    assert.match(
      other.stderr,
      /another program uses that port\. Choose another with --port/,
    );
    const headers = { authorization: `Bearer ${server.token}` };
    const url = `${server.url}files/a.txt`;
    const answers = await askAnew(url, 30, { headers });
    assert.ok(answers.every(({ text }) => text === "content of a"));
    const { code, stderr } = await server.end("SIGTERM");
    assert.equal(code, 0);
    assert.equal(stderr.match(/ GET \/files\/a\.txt 200 /g)?.length, 30);
    const next = await startServing([...args, port]);
    assert.equal((await next.end("SIGINT")).code, 0);
  }));

Deno.test("several workers need Deno to share a port, and a local container", () =>
  withContainers(async (dir) => {
    const serve = (flags: readonly string[], ...args: string[]) =>
      run([
        ...[Deno.execPath(), "run", "-A", "--no-check", ...flags, CLI],
        ...["serve", "--port", "0", "--workers", "2", ...args],
      ]);
    const config = new URL("../../deno.json", import.meta.url);
    const { unstable, imports } = JSON.parse(await Deno.readTextFile(config));
    assert.ok(unstable.includes("net"));
    const map = `${dir}/import_map.json`;
    await Deno.writeTextFile(map, JSON.stringify({ imports }));
    const without = ["--no-config", "--no-lock", `--import-map=${map}`];
    const alone = await serve(without, `${dir}/a.ffr`);
    assert.equal(alone.code, 2);
    assert.match(alone.stderr, /--workers 2 is not possible: .*--unstable-net/);
    const remote = await serve([], "http://127.0.0.1:9/a.ffr");
    assert.equal(remote.code, 2);
    assert.match(
      remote.stderr,
      /--workers 2 is not possible: remote containers/,
    );
  }));
