import assert from "node:assert/strict";
import { Hosts } from "../../../src/serve/access/hosts.ts";
import { newToken, TOKEN, Token } from "../../../src/serve/access/token.ts";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import { RecordfsError } from "../../../src/base/errors.ts";
import { packed, raw, serveFolder } from "../../support/serve/served_folder.ts";

const FILES = { "a.txt": "content" };

Deno.test("tokens are long, and new each time", () => {
  const tokens = new Set(Array.from({ length: 100 }, newToken));
  assert.equal(tokens.size, 100);
  for (const token of tokens) {
    assert.match(token, TOKEN);
    assert.ok(token.length >= 43); // 256 bits
  }
});

Deno.test("all characters of a token are compared", () => {
  const token = new Token("0123456789abcdef");
  assert.ok(token.is("0123456789abcdef"));
  const wrong = [
    ...["", "0", "0123456789abcdeg", "1123456789abcdef", "0123456789abcde"],
    ...["0123456789abcdef0", "0123456789abcdef0123456789abcdef", "undefined"],
  ];
  for (const text of wrong) assert.ok(!token.is(text), text);
});

Deno.test("the token is accepted as bearer and as anyone's password", async () => {
  await using folder = await serveFolder(FILES);
  const { url, token } = folder.server;
  const path = `${url}files/a.txt`;
  const status = async (headers: Record<string, string>) => {
    const response = await fetch(path, { headers, redirect: "manual" });
    await response.body?.cancel();
    return response.status;
  };
  const basic = (login: string) => ({ authorization: `Basic ${btoa(login)}` });
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: `Bearer ${token}` }), 200);
  assert.equal(await status({ authorization: `bearer  ${token}` }), 200);
  assert.equal(await status(basic(`:${token}`)), 200);
  assert.equal(await status(basic(`somebody:${token}`)), 200);
  assert.equal(await status(basic(`${token}:`)), 401);
  assert.equal(await status(basic(token!)), 401);
  assert.equal(await status({ authorization: "Basic %%%" }), 401);
  assert.equal(await status({ authorization: `Bearer ${token}x` }), 401);
  assert.equal(await status({ authorization: token! }), 401);

  const wrong = await fetch(`${url}?token=${"x".repeat(43)}`, {
    redirect: "manual",
  });
  assert.equal(wrong.status, 401);
  assert.deepEqual(wrong.headers.getSetCookie(), []);
  assert.match(await wrong.text(), /^wrong-token: /);
});

Deno.test("a request without a token gets a challenge that reveals no part of it", async () => {
  await using folder = await serveFolder(FILES);
  const { url, token } = folder.server;
  for (
    const [path, asked] of [
      ["files/", /^Basic /],
      ["dav/", /^Basic /],
      ["", /^Bearer/],
      ["api/info", /^Bearer/],
      ["page/x.ts", /^Bearer/],
    ] as const
  ) {
    const response = await fetch(url + path);
    assert.equal(response.status, 401, path);
    assert.match(response.headers.get("www-authenticate")!, asked);
    const text = await response.text();
    assert.match(text, /no-token/);
    assert.ok(!text.includes(token!));
  }
});

Deno.test("a token is optional, and must not be too short", async () => {
  await using folder = await serveFolder(FILES, { token: null });
  const { link, url } = folder.server;
  assert.equal(link, url);
  assert.equal(await (await fetch(`${url}files/a.txt`)).text(), "content");
  using container = await open(packed(FILES));
  for (
    const token of [
      "",
      "short",
      "0123456789abcde",
      "with blank 0123456789",
      "new\nline0123456789",
    ]
  ) {
    assert.throws(
      () => handler(container, { token }),
      (error) => error instanceof RecordfsError && error.code === "bad-option",
    );
  }
});

Deno.test("hosts are those of this machine with any port, and the allowed ones", () => {
  const hosts = new Hosts(["Data.Example", "proxy.example:8443"]);
  const own = [
    ...[
      "localhost",
      "localhost:1",
      "LOCALHOST:65535",
      "a.localhost",
      "127.0.0.1:80",
    ],
    ...["127.1.2.3", "[::1]", "[::1]:8080", "data.example", "DATA.example:81"],
    ...["data.example.", "proxy.example:8443", "localhost."],
  ];
  const foreign = [
    ...["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example"],
    ...[
      "evil-localhost",
      "proxy.example",
      "proxy.example:80",
      "127.0.0.1@evil",
    ],
    ...[
      "data.example@evil.example",
      "[::2]",
      "0.0.0.0",
      "192.168.0.1",
      "localhost:x",
    ],
    ...[
      "localhost:",
      "localhost:1:2",
      "127.0.0.1:99999999",
      "127.0.0.256.evil",
    ],
  ];
  for (const name of own) assert.ok(hosts.has(name), name);
  for (const name of foreign) assert.ok(!hosts.has(name), name);
});

Deno.test("requests with a foreign host name are rejected, in every form", async () => {
  await using folder = await serveFolder(FILES, { token: null });
  const { server } = folder;
  const cases: readonly (readonly [readonly string[], number])[] = [
    [["GET /files/a.txt HTTP/1.1", "Host: localhost:1234"], 200],
    [["GET /files/a.txt HTTP/1.1", "Host: 127.0.0.1"], 200],
    [["GET /files/a.txt HTTP/1.1", "Host: evil.example"], 403],
    [["GET /files/a.txt HTTP/1.1", "Host: evil.example:80"], 403],
    [["GET http://evil.example/files/a.txt HTTP/1.1", "Host: localhost"], 403],
    [["GET http://localhost/files/a.txt HTTP/1.1", "Host: evil.example"], 403],
    [
      ["GET /files/a.txt HTTP/1.1", "Host: localhost", "Host: evil.example"],
      403,
    ],
    [["GET /files/a.txt HTTP/1.1", "Host: "], 403],
  ];
  for (const [lines, expected] of cases) {
    const { status, body } = await raw(server, lines);
    // The HTTP server may reject an invalid request before the handler sees it.
    assert.ok(
      status === expected || expected === 403 && status === 400,
      `${lines}: ${status} ${body}`,
    );
    assert.equal(body.includes("content"), expected === 200, `${lines}`);
  }
});

Deno.test("pages of other sites cannot read anything, but may link here", async () => {
  await using folder = await serveFolder(FILES);
  const status = async (
    headers: Record<string, string>,
    method = "GET",
    path = "files/a.txt",
  ) => {
    const response = await folder.get(path, { method, headers });
    await response.body?.cancel();
    assert.equal(response.headers.get("access-control-allow-origin"), null);
    return response.status;
  };
  const own = new URL(folder.server.url).origin;
  for (const site of ["cross-site", "same-site"]) {
    const from = { "sec-fetch-site": site };
    assert.equal(
      await status({
        ...from,
        "sec-fetch-mode": "no-cors",
        "sec-fetch-dest": "image",
      }),
      403,
    );
    assert.equal(
      await status({
        ...from,
        "sec-fetch-mode": "cors",
        "sec-fetch-dest": "empty",
      }),
      403,
    );
    assert.equal(
      await status({
        ...from,
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "iframe",
      }),
      403,
    );
    assert.equal(
      await status({
        ...from,
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
      }),
      200,
    );
    assert.equal(await status(from, "POST", "api/check"), 403);
  }
  for (const site of ["same-origin", "none"]) {
    assert.equal(await status({ "sec-fetch-site": site }), 200);
  }
  assert.equal(
    await status({ origin: "https://evil.example" }, "POST", "api/check"),
    403,
  );
  assert.equal(await status({ origin: "null" }, "POST", "api/check"), 403);
  assert.notEqual(await status({ origin: own }, "POST", "api/check"), 403);
  assert.notEqual(await status({}, "POST", "api/check"), 403); // not from a browser
});

Deno.test("one other site may read on request", async () => {
  const origin = "https://good.example";
  await using folder = await serveFolder(FILES, { cors: [origin] });
  const headers = {
    origin,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "cors",
  };
  const good = await folder.get("files/a.txt", { headers });
  assert.equal(await good.text(), "content");
  assert.equal(good.headers.get("access-control-allow-origin"), origin);
  assert.match(good.headers.get("vary")!, /origin/i);
  const evil = await folder.get("files/a.txt", {
    headers: { ...headers, origin: "https://evil.example" },
  });
  assert.equal(evil.status, 403);
  assert.equal(evil.headers.get("access-control-allow-origin"), null);
  await evil.body?.cancel();
  const asked = await fetch(`${folder.server.url}files/a.txt`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "GET" },
  });
  assert.equal(asked.status, 204);
  assert.match(
    asked.headers.get("access-control-allow-headers")!,
    /authorization/,
  );
  const post = await folder.get("api/check", { method: "POST", headers });
  assert.equal(post.status, 403);
  await post.body?.cancel();
});

Deno.test("origins and hosts that no browser would send are rejected, and a trailing slash is ignored", async () => {
  for (const cors of ["foo", "*", "https://a.example/b", "ftp://a.example"]) {
    await assert.rejects(
      serveFolder(FILES, { cors: [cors] }),
      {
        code: "bad-option",
        message: `'${cors}' is not an origin such as https://example.org`,
      },
    );
  }
  for (const host of ["http://x/", "a b", "x:y", ""]) {
    await assert.rejects(
      serveFolder(FILES, { allowHosts: [host] }),
      {
        code: "bad-option",
        message: new RegExp(`^'${host}' is not a host name`),
      },
    );
  }
  await using folder = await serveFolder(FILES, {
    cors: ["https://Example.org/"],
    hostname: "[::1]",
  });
  assert.match(folder.server.url, /^http:\/\/\[::1\]:\d+\/$/);
  const headers = {
    origin: "https://example.org",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "cors",
  };
  const response = await folder.get("files/", { headers });
  assert.equal(response.status, 200);
  await response.body?.cancel();
});
