/** Directory listings of real web servers, with names that must be escaped in URLs, in HTML or in both. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FFRecordReader } from "../../../src/formats/ffrecord/read/reader.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import type { RemoteOptions } from "../../../src/io/remote/remote_options.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { prefersHtml } from "../../../src/serve/accept.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withMemoryDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { startApache } from "../../support/remote/apache.ts";
import { startNginx } from "../../support/remote/nginx.ts";

const NAMES = [
  "plain.txt",
  "a b",
  "a+b",
  "100%",
  "a%20b",
  "a#b",
  "a?b",
  "a&b",
  "a&amp;b",
  "a<b>",
  `quotes ' and "`,
  "a:b",
  "a;b=c",
  "ä é",
  "日本",
  "😀",
  "back\\slash",
  "~tilde",
  "(1)",
  "[2]",
  "x".repeat(200),
];

async function withFiles(use: (root: string) => Promise<void>): Promise<void> {
  await withMemoryDir(async (dir) => {
    const root = `${dir}/root`;
    fs.mkdirSync(`${root}/dir é#1/deep`, { recursive: true });
    for (const name of NAMES) {
      fs.writeFileSync(`${root}/${name}`, name);
      fs.mkdirSync(`${root}/dir é#1/deep/of ${name}`);
    }
    fs.mkdirSync(`${root}/parts`);
    for (const [i, name] of ["a+0.ffr", "a 1.ffr", "b#2.ffr"].entries()) {
      fs.writeFileSync(`${root}/parts/${name}`, ffrBytes([Uint8Array.of(i)]));
    }
    // Apache runs as another user.
    await new Deno.Command("chmod", { args: ["-R", "a+rX", dir] }).output();
    await use(root);
  });
}

/** Compares everything read from a server with the files on disk. */
async function compare(
  url: string,
  root: string,
  options: RemoteOptions = { cache: false },
): Promise<void> {
  const storage = new RemoteStorage(`${url}/`, options);
  const list = async (path: string) => (await runAsync(storage.list(path)))!;
  const top = await list(storage.root);
  assert.deepEqual([...top].sort(), fs.readdirSync(root).sort());
  for (const name of NAMES) {
    const path = `${storage.root}/${name}`;
    const facts = (await runAsync(storage.stat(path)))!;
    const bytes = new TextEncoder().encode(name);
    assert.deepEqual([facts.isDirectory, facts.size], [false, bytes.length]);
    const source = await runAsync(storage.open(path));
    const into = new Uint8Array(source.size);
    await source.readAt(into, 0);
    assert.deepEqual(into, bytes);
    source.close();
  }
  const deep = await list(`${storage.root}/dir é#1/deep`);
  assert.deepEqual([...deep].sort(), NAMES.map((name) => `of ${name}`).sort());
  for (const name of deep) {
    const path = `${storage.root}/dir é#1/deep/${name}`;
    assert.deepEqual(await list(path), []);
    assert.ok((await runAsync(storage.stat(path)))!.isDirectory);
  }
  using parts = await FFRecordReader.open(`${url}/parts`, {
    storage: new RemoteStorage(`${url}/parts`, options),
  });
  const read = await parts.read([0, 1, 2]);
  assert.deepEqual(read.map(([first]) => first).sort(), [0, 1, 2]);
}

for (const format of ["html", "json"]) {
  Deno.test({
    name: `nginx's index is parsed as ${format}`,
    ...needs("nginx"),
    fn: () =>
      withFiles(async (root) => {
        await using nginx = await startNginx((port) => `
          server {
            listen 127.0.0.1:${port};
            root ${root};
            autoindex on;
            autoindex_format ${format};
          }`);
        await compare(nginx.url, root);
      }),
  });
}

Deno.test({
  name: "a directory of 10,000 names is listed completely",
  ...needs("nginx"),
  fn: () =>
    withMemoryDir(async (root) => {
      const names = Array.from({ length: 10_000 }, (_, i) => `${i} & ü.txt`);
      for (const name of names) fs.writeFileSync(`${root}/${name}`, "");
      await using nginx = await startNginx((port) =>
        `server { listen 127.0.0.1:${port}; root ${root}; autoindex on; }`
      );
      const storage = new RemoteStorage(`${nginx.url}/`, { cache: false });
      const listed = (await runAsync(storage.list(storage.root)))!;
      assert.deepEqual([...listed].sort(), names.sort());
    }),
});

for (const style of ["", "FancyIndexing", "FancyIndexing HTMLTable"]) {
  Deno.test({
    name: `Apache's index is parsed: ${style || "plain"}`,
    ...needs("apache2"),
    fn: () =>
      withFiles(async (root) => {
        await using apache = await startApache(root, `Charset=UTF-8 ${style}`);
        await compare(apache.url, root);
      }),
  });
}

Deno.test({
  name: "the index of Python's server is parsed",
  ...needs("python3"),
  fn: () =>
    withFiles(async (root) => {
      const server = new Deno.Command(PYTHON, {
        args: ["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"],
        cwd: root,
        stdout: "piped",
        stderr: "null",
      }).spawn();
      try {
        const cache = { directory: `${root}.cache` };
        const url = await urlSaidBy(server.stdout);
        await compare(url, root, { cache, onWarning() {} });
      } finally {
        server.kill();
        await server.status;
      }
    }),
});

/** Returns the URL in a server's first output, and drains the rest. */
async function urlSaidBy(output: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  for await (const chunk of output) {
    said += new TextDecoder().decode(chunk);
    const port = /port (\d+).*\n/.exec(said)?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error(`it does not start: ${said}`);
}

Deno.test("a listing is requested as JSON, with sizes and times, and as HTML from other servers", async () => {
  const asked: string[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    ({ url, headers }) => {
      const accept = headers.get("accept")!;
      asked.push(`${new URL(url).pathname} ${accept}`);
      const isJson = !prefersHtml(accept);
      const mtime = "Wed, 14 Nov 2018 00:00:00 GMT";
      const list = [{ name: "a.txt", type: "file", size: 7, mtime }];
      return new Response(
        isJson ? JSON.stringify(list) : '<a href="a.txt">a.txt</a>',
        {
          headers: {
            "content-type": isJson ? "application/json" : "text/html",
          },
        },
      );
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const storage = new RemoteStorage(url, { cache: false });
  assert.deepEqual(await runAsync(storage.list(storage.root)), ["a.txt"]);
  const facts = await runAsync(storage.stat(`${storage.root}/a.txt`));
  assert.deepEqual([facts?.size, facts?.isDirectory], [7, false]);
  assert.equal(asked.length, 1, asked.join("\n")); // the listing has the size
  assert.match(asked[0]!, /\btext\/html\b/);
});
