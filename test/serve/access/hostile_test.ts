import assert from "node:assert/strict";
import { decodePath } from "../../../src/serve/paths.ts";
import { ServeError } from "../../../src/serve/serve_error.ts";
import { attachment } from "../../../src/serve/files/disposition.ts";
import { raw, serveFolder } from "../../support/serve/served_folder.ts";

Deno.test("paths lead only to entries of the container", async () => {
  await using folder = await serveFolder({
    "a.txt": "inside",
    "dir": { "b.txt": "deep" },
    "...": "dots",
    "page": { "index.html": "not the page" },
  }, { token: null });
  const ok: Record<string, string> = {
    "/files/a.txt": "inside",
    "/files/%61.txt": "inside",
    "/files/dir/b.txt": "deep",
    "/files/...": "dots",
    "/files/./a.txt": "inside", // RFC 3986, 5.2.4
    "/files/./dir/./b.txt": "deep",
    "/files/page/index.html": "not the page",
  };
  const cases: Record<string, number> = {
    "/files/../files/a.txt": 400,
    "/files/dir/../a.txt": 400,
    "/files/%2e%2e/a.txt": 400,
    "/files/%2e/a.txt": 400,
    "/files/%2E%2e%2fa.txt": 400,
    "/files/dir%2fb.txt": 400,
    "/files//a.txt": 400,
    "/files/dir//b.txt": 400,
    "/files/a.txt%00": 400,
    "/files/a.txt%": 400,
    "/files/a.txt%zz": 400,
    "/files/%c0%ae%c0%ae/a.txt": 404, // an overlong encoding of dots, which are not dots
    "/files/..%5c..%5cetc/passwd": 404,
    "/files/\\..\\etc\\passwd": 404,
    "/files/a.txt/": 404,
    "/files/a.txt/x": 404,
    "/files/A.TXT": 404,
    "/files/etc/passwd": 404,
    "//files/a.txt": 404,
    "/filesa.txt": 404,
    "/page/../serve.ts": 404,
    "/page/..%2fserve.ts": 404,
    "/page/%2e%2e/handler.ts": 404,
    "/page//etc/passwd.ts": 404,
    "/page/../../../deno.json": 404,
    "/etc/passwd": 404,
  };
  for (const [path, expected] of Object.entries(ok)) {
    const { status, body } = await raw(folder.server, [
      `GET ${path} HTTP/1.1`,
      "Host: localhost",
    ]);
    assert.deepEqual([status, body], [200, expected], path);
  }
  for (const [path, expected] of Object.entries(cases)) {
    const { status, body } = await raw(folder.server, [
      `GET ${path} HTTP/1.1`,
      "Host: localhost",
    ]);
    assert.equal(status, expected, `${path}: ${body}`);
  }
});

Deno.test("names of any bytes are found and shown", async () => {
  const names = [
    " ",
    "a b",
    "ü",
    "😀",
    "q?x",
    "#h",
    "50%",
    "a+b",
    "a&b",
    `"'<>`,
    "line\nbreak",
    "cr\rlf",
    "back\\slash",
    "a:b",
  ];
  await using folder = await serveFolder(
    Object.fromEntries(names.map((name, i) => [name, String(i)])),
  );
  const { entries } = await (await folder.get("api/list")).json();
  const urls = new Map<string, string>(
    entries.map(({ name, url }: { name: string; url: string }) => [name, url]),
  );
  const page =
    await (await folder.get("files/", { headers: { accept: "text/html" } }))
      .text();
  assert.doesNotMatch(page, /<(?!\/?(a|html|h1|pre|title|meta|!doctype)\b)/i);
  for (const [i, name] of names.entries()) {
    const response = await folder.get(`files/${urls.get(name)}`);
    assert.equal(await response.text(), String(i), name);
    assert.ok(page.includes(`href="${urls.get(name)}"`), name);
  }
});

Deno.test("content of a dataset is never a document of the server", async () => {
  const script = "<script>alert(1)</script>";
  await using folder = await serveFolder({
    ...{ "a.html": script, "a.HTM": script, "a.svg": script, "a.xml": script },
    ...{
      "a.xhtml": script,
      "a.pdf": "%PDF-",
      "a.js": "alert(1)",
      "a.css": "*{}",
    },
    ...{
      "page.txt": script,
      "a.jpg": script,
      "noname": script,
      "a.swf": script,
    },
  });
  const headersOf = async (name: string) => {
    const response = await folder.get(`files/${name}`);
    await response.bytes();
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(
      response.headers.get("cross-origin-resource-policy"),
      "same-origin",
    );
    return response.headers;
  };
  for (
    const name of ["a.html", "a.HTM", "a.svg", "a.xml", "a.xhtml", "a.pdf"]
  ) {
    const policy = (await headersOf(name)).get("content-security-policy")!;
    assert.match(policy, /^sandbox; default-src 'none'/, name);
    assert.doesNotMatch(policy, /allow-|script-src/);
  }
  for (const name of ["a.js", "a.css", "page.txt", "noname"]) {
    assert.equal(
      (await headersOf(name)).get("content-type"),
      "text/plain; charset=utf-8",
    );
  }
  assert.equal((await headersOf("a.jpg")).get("content-type"), "image/jpeg");
  assert.match(
    (await headersOf("a.pdf")).get("content-disposition")!,
    /^attachment; /,
  );
});

Deno.test("names of downloads cannot inject headers", () => {
  const names: Record<string, string> = {
    "plain.tar": `attachment; filename="plain.tar"; filename*=UTF-8''plain.tar`,
    [`a"b\\c;d%e`]:
      `attachment; filename="a_b_c_d_e"; filename*=UTF-8''a%22b%5Cc%3Bd%25e`,
    "x\r\nSet-Cookie: y":
      `attachment; filename="x__Set-Cookie: y"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20y`,
    "é😀": `attachment; filename="___"; filename*=UTF-8''%C3%A9%F0%9F%98%80`,
    "\udcff": `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`,
  };
  for (const [name, expected] of Object.entries(names)) {
    assert.equal(attachment(name), expected);
    new Headers({ "content-disposition": attachment(name) });
  }
});

Deno.test("the page's policy allows nothing embedded in a document", async () => {
  await using folder = await serveFolder({ "a.txt": "x" });
  const { headers, status, body } = await folder.get("");
  await body?.cancel();
  assert.equal(status, 200);
  const policy = headers.get("content-security-policy")!;
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
});

Deno.test("a page of another site that opens the page loses its reference, and a user's window shares no process with it", async () => {
  await using folder = await serveFolder({ "a.txt": "x" });
  const openerPolicy = async (site?: string, tag?: string) => {
    const response = await folder.get("", {
      headers: {
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
        ...(site === undefined ? {} : { "sec-fetch-site": site }),
        ...(tag === undefined ? {} : { "if-none-match": tag }),
      },
    });
    await response.body?.cancel();
    assert.equal(response.headers.get("vary"), "sec-fetch-site");
    return response.headers;
  };
  for (const site of ["none", "same-origin"]) {
    const headers = await openerPolicy(site);
    assert.equal(headers.get("cross-origin-opener-policy"), null);
  }
  for (const site of ["cross-site", "same-site", "anything", undefined]) {
    const headers = await openerPolicy(site);
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    const again = await openerPolicy(site, headers.get("etag")!);
    assert.equal(again.get("cross-origin-opener-policy"), "same-origin");
  }
});

Deno.test("paths of a million characters, and of many names, are rejected", () => {
  assert.throws(
    () => decodePath("a/".repeat(40_000)),
    (error) => error instanceof ServeError && error.code === "bad-path",
  );
  assert.equal(decodePath("a/".repeat(1000)).length, 1000);
});
