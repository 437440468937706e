import assert from "node:assert/strict";
import { open } from "../../../src/open/open.ts";
import { needs } from "../../support/programs/programs.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import {
  packed,
  served,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

Deno.test("a directory is a page of links, or nginx's JSON if that is preferred", async () => {
  await using folder = await serveFolder({
    "a b.txt": "12345",
    "dir": { "c": "1" },
    "<i>": "",
  });
  // The second is the default of fetch.
  for (const headers of [HTML, {}, { accept: "application/json;q=0.5, */*" }]) {
    const page = await folder.get("files/", { headers });
    assert.equal(page.headers.get("vary"), "accept");
    assert.match(await page.text(), /^<!doctype html>/);
  }
  const page = await folder.get("files/", { headers: HTML });
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(
    page.headers.get("content-security-policy")!,
    /^default-src 'none'/,
  );
  const text = await page.text();
  assert.match(text, /<a href="a%20b\.txt">a b\.txt<\/a> {2}5\n/);
  assert.match(text, /<a href="dir\/">dir\/<\/a>\n/);
  assert.match(text, /<a href="%3Ci%3E">&lt;i&gt;<\/a>/);
  assert.doesNotMatch(text, /\.\.\//); // the root has no parent

  const below = await (await folder.get("files/dir/?html")).text();
  assert.match(below, /<a href="\.\.\/">/);

  for (
    const [path, headers] of [
      ["files/", { accept: "application/json" }],
      ["files/", { accept: "text/html;q=0.9, application/json" }],
      ["files/?json", HTML],
    ] as const
  ) {
    const json = await folder.get(path, { headers });
    assert.equal(json.headers.get("vary"), "accept");
    assert.equal(json.headers.get("content-type"), "application/json");
    const list = await json.json();
    assert.deepEqual(
      list.map(({ mtime: _, ...facts }: { mtime: string }) => facts),
      [
        { name: "<i>", type: "file", size: 0 },
        { name: "a b.txt", type: "file", size: 5 },
        { name: "dir", type: "directory" },
      ],
    );
    for (const { mtime } of list) {
      assert.equal(new Date(mtime).toUTCString(), mtime);
    }
  }
});

Deno.test("a directory without its slash redirects to the one with it", async () => {
  await using folder = await serveFolder({ dir: { sub: { c: "1" } } }, {
    basePath: "/base/",
  });
  for (
    const [from, to] of [
      ["files", "/base/files/"],
      ["files/dir", "/base/files/dir/"],
      ["files/dir/sub?tar", "/base/files/dir/sub/?tar"],
      ["dav", "/base/dav/"],
      ["dav/dir", "/base/dav/dir/"],
      ["../base", "/base/"],
    ]
  ) {
    const response = await folder.get(from!);
    assert.equal(response.status, 301, from);
    assert.equal(response.headers.get("location"), to);
  }
  const outside = await folder.get("/files/");
  assert.equal(outside.status, 404);
  await outside.body?.cancel();
});

Deno.test("a directory of many entries is listed completely, in parts", async () => {
  const count = 3001;
  const bytes = ffrBytes(
    Array.from({ length: count }, () => new Uint8Array(1)),
  );
  await using folder = served(await open(Uint8Array.from(bytes)));
  const list = await (await folder.get("files/?json")).json();
  assert.equal(list.length, count);
  assert.equal(
    new Set(list.map(({ name }: { name: string }) => name)).size,
    count,
  );
  const page = await (await folder.get("files/?html")).text();
  assert.equal(page.match(/<a /g)!.length, count);
});

Deno.test({
  name: "an archive of a directory can be extracted by tar",
  ...needs("tar"),
  async fn() {
    const large = Uint8Array.from({ length: 1_500_000 }, (_, i) => i % 251);
    const files = {
      "a.txt": "content",
      "empty": "",
      "large.bin": large,
      "dir": {
        "deep": { "b.txt": "below" },
        ["long".repeat(60)]: { ["name".repeat(60)]: "far" },
        "ü😀\n": "any name",
        "empty dir": {},
      },
    };
    await using folder = await serveFolder(files);
    const response = await folder.get("files/?tar");
    assert.equal(response.headers.get("content-type"), "application/x-tar");
    assert.equal(
      response.headers.get("content-disposition"),
      `attachment; filename="files.tar"; filename*=UTF-8''files.tar`,
    );
    const directory = await Deno.makeTempDir();
    try {
      const tar = new Deno.Command("tar", {
        args: ["-x", "-C", directory],
        stdin: "piped",
      }).spawn();
      await response.body!.pipeTo(tar.stdin);
      assert.ok((await tar.status).success);
      const text = (path: string) => Deno.readTextFile(`${directory}/${path}`);
      assert.equal(await text("a.txt"), "content");
      assert.equal(await text("empty"), "");
      assert.deepEqual(await Deno.readFile(`${directory}/large.bin`), large);
      assert.equal(await text("dir/deep/b.txt"), "below");
      assert.equal(
        await text(`dir/${"long".repeat(60)}/${"name".repeat(60)}`),
        "far",
      );
      assert.equal(await text("dir/ü😀\n"), "any name");
      assert.deepEqual([...Deno.readDirSync(`${directory}/dir/empty dir`)], []);
      const names = [...Deno.readDirSync(directory)].map(({ name }) => name);
      assert.deepEqual(names.sort(), ["a.txt", "dir", "empty", "large.bin"]);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
    const part = await folder.get("files/dir/deep/?tar");
    assert.match(part.headers.get("content-disposition")!, /"deep\.tar"/);
    const bytes = await part.bytes();
    assert.equal(bytes.length % 512, 0);
    assert.match(new TextDecoder().decode(bytes.subarray(0, 100)), /^b\.txt\0/);
  },
});

Deno.test("served containers are opened by URL, as a file and as a directory of files", async () => {
  const inner = packed({
    "x.txt": "inner content",
    "dir": { "y.txt": "more" },
  });
  await using folder = await serveFolder({
    "inner.ffr": inner,
    "chunks": { "part 1.ffr": ffr("one"), "part 2.ffr": ffr("two") },
  });
  const { url, token } = folder.server;
  const remote = {
    cache: false as const,
    headers: { authorization: `Bearer ${token}` },
  };
  {
    using container = await open(`${url}files/inner.ffr`, { remote });
    const content = await container.read("x.txt");
    assert.equal(new TextDecoder().decode(content), "inner content");
    assert.deepEqual(await container.list(""), ["dir", "x.txt"]);
  }
  {
    const login = new URL(`${url}files/chunks/`);
    login.username = "anyone";
    login.password = token!;
    using container = await open(login, { remote: { cache: false } });
    assert.equal(container.info.parts.length, 2);
    const names = await container.list("");
    const contents = await container.read(names);
    const texts = contents.map((bytes) => new TextDecoder().decode(bytes));
    assert.deepEqual(texts, ["one", "two"]);
  }
});

Deno.test("a container on a server is served like any other", async () => {
  const content = Uint8Array.from({ length: 2_000_000 }, (_, i) => i % 253);
  await using far = await serveFolder({
    "inner.ffr": packed({ "x.txt": "from far away", "large.bin": content }),
  });
  const { url, token } = far.server;
  const headers = { authorization: `Bearer ${token}` };
  const container = await open(`${url}files/inner.ffr`, {
    remote: { cache: false, headers },
  });
  await using near = served(container);
  for (let round = 0; round < 2; round++) {
    const text = await (await near.get("files/x.txt")).text();
    assert.equal(text, "from far away");
    const large = await (await near.get("files/large.bin")).bytes();
    assert.deepEqual(large, content);
    const part = await near.get("files/large.bin", {
      headers: { range: "bytes=1500000-1500009" },
    });
    assert.deepEqual(await part.bytes(), content.slice(1_500_000, 1_500_010));
  }
  const { name } = await (await near.get("api/info")).json();
  assert.ok(!name.includes(token!));
});

function ffr(text: string): Uint8Array {
  return ffrBytes([new TextEncoder().encode(text)]);
}
