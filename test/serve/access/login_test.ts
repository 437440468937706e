/** The login page, which asks a browser for the token, and the redirects of its form. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import {
  packed,
  raw,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const FILES = { "a.txt": "content", "dir": { "b c.txt": "deep" } };
const TOKEN = "0123456789+/abcdef=";
const BROWSER = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
};
const WRONG = "fedcba9876543210";

/** Submits the login form of the page at a path. */
function sendForm(
  { server }: ServedFolder,
  path: string,
  token: string = TOKEN,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(new URL(path, server.url), {
    method: "POST",
    body: new URLSearchParams({ token }),
    headers: { ...BROWSER, ...headers },
    redirect: "manual",
  });
}

function pagePath({ server }: ServedFolder): string {
  return /s\/[\w-]+\//.exec(server.link)![0];
}

Deno.test("a browser without the token gets a login page, and a program a line and a challenge", async () => {
  await using folder = await serveFolder(FILES, { token: TOKEN });
  const { url } = folder.server;
  const own = pagePath(folder);
  const paths = [
    ...["", "files", "files/", "files/a.txt", "files/none", "files/?tar"],
    ...["dav/", "api/info", "page/main.ts", "s/x/", "s/x/files/a.txt"],
    ...["favicon.ico", `${own}files/a.txt`, `${own}api/info`],
  ];
  for (const path of paths) {
    for (const authorization of [undefined, `Bearer ${WRONG}`]) {
      const headers = { ...BROWSER, ...authorization && { authorization } };
      const page = await fetch(url + path, { headers, redirect: "manual" });
      assert.equal(page.status, 401, path);
      const header = (name: string) => page.headers.get(name) ?? "";
      assert.equal(header("content-type"), "text/html; charset=utf-8");
      assert.equal(header("cache-control"), "no-store");
      assert.equal(header("vary"), "accept");
      assert.equal(header("www-authenticate"), "Bearer");
      assert.equal(header("x-content-type-options"), "nosniff");
      const text = await page.text();
      const [, style] = /<style>(.*?)<\/style>/s.exec(text)!;
      const hash = createHash("sha256").update(style!).digest("base64");
      assert.equal(
        header("content-security-policy"),
        `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      );
      assert.equal(text.match(/<input type="password"/g)?.length, 1);
      assert.doesNotMatch(text, /<script|\bon\w+=|action=/);
      assert.ok(!text.includes(TOKEN) && !text.includes(own.slice(2, -1)));
    }
    const line = await fetch(url + path, { redirect: "manual" });
    assert.equal(line.status, 401, path);
    assert.match(line.headers.get("content-type")!, /^(text\/plain|.*\/json)/);
    const expected = /^(files|dav|favicon)/.test(path) ? /^Basic / : /^Bearer$/;
    assert.match(line.headers.get("www-authenticate")!, expected, path);
    await line.body?.cancel();
  }
  const dav = await fetch(`${url}dav/`, {
    method: "PROPFIND",
    headers: BROWSER,
  });
  assert.match(dav.headers.get("www-authenticate")!, /^Basic /);
  assert.match(await dav.text(), /^no-token: /);
  const head = await fetch(url, { method: "HEAD", headers: BROWSER });
  assert.equal(head.status, 401);
});

Deno.test("the form leads to the page, or to the requested file, with only the page's cookie", async () => {
  for (const basePath of ["/", "/data"]) {
    await using folder = await serveFolder(FILES, { basePath, token: TOKEN });
    const { server: { url, link } } = folder;
    const own = pagePath(folder);
    const cases: Record<string, string> = {
      "": "",
      "?token=wrong": "",
      "files/": "files/",
      "files/a.txt": "files/a.txt",
      "files/dir/b%20c.txt": "files/dir/b%20c.txt",
      "files/dir/?tar": "files/dir/?tar",
      [`files/?token=${WRONG}`]: "files/",
      "s/x/": "",
      "s/x/files/dir/?html": "files/dir/?html",
      [`${own}files/a.txt`]: "files/a.txt",
      [`${own}api/info`]: "",
      "dav/a.txt": "",
      "/evil.example/": "",
    };
    for (const [path, target] of Object.entries(cases)) {
      const login = await sendForm(folder, url + path);
      assert.equal(login.status, 303, path);
      assert.equal(login.headers.get("cache-control"), "no-store");
      const location = login.headers.get("location")!;
      const base = basePath === "/" ? "" : basePath;
      assert.equal(location, `${base}/${own}${target}`);
      const [cookie, ...others] = login.headers.getSetCookie();
      assert.deepEqual(others, []);
      const byLink = await fetch(link, { redirect: "manual" });
      assert.deepEqual([cookie], byLink.headers.getSetCookie());
      const opened = await fetch(new URL(location, url), {
        headers: { ...BROWSER, cookie: cookie!.split(";", 1)[0]! },
      });
      assert.equal(opened.status, 200, path);
      await opened.body?.cancel();
    }
    // Copying a token may include whitespace.
    const copied = await sendForm(folder, url, ` ${TOKEN}\n`);
    assert.equal(copied.status, 303);
  }
});

Deno.test("a form sent to any path leads only below the page's path", async () => {
  await using folder = await serveFolder(FILES, { token: TOKEN });
  const own = pagePath(folder);
  const body = new URLSearchParams({ token: TOKEN }).toString();
  const paths = [
    ...["//evil.example/", "/files//evil.example/", "/\\evil.example"],
    ...["/files/../../../evil", "/s//evil.example/", "/s/files//evil.example"],
    ...["/files/%0d%0aSet-Cookie:x=y", "/files/\\\\evil.example"],
    "http://localhost/files/http://evil.example/",
  ];
  for (const path of paths) {
    const { status, head } = await raw(folder.server, [
      `POST ${path} HTTP/1.1`,
      "Host: localhost",
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${body.length}`,
      "X: y\r\nConnection: close\r\n\r\n" + body,
    ]);
    assert.equal(status, 303, path);
    const [, location] = /\nlocation: (.*)\r/i.exec(head)!;
    assert.ok(location!.startsWith(`/${own}`), location);
    assert.equal(head.match(/\nset-cookie:/gi)?.length, 1);
  }
});

Deno.test("a wrong token is rejected, and opens nothing", async () => {
  await using folder = await serveFolder(FILES, { token: TOKEN });
  const { url } = folder.server;
  for (const token of ["", WRONG, TOKEN.slice(1), `${TOKEN}x`, "<b>&\"'"]) {
    const page = await sendForm(folder, "files/", token);
    assert.equal(page.status, 401, token);
    assert.deepEqual(page.headers.getSetCookie(), []);
    assert.equal(page.headers.get("cache-control"), "no-store");
    const text = await page.text();
    assert.match(
      text,
      /role="alert">Cannot log in: this is not the server(&#39;|'|&apos;)s token/,
    );
    assert.equal(text.match(/<input type="password"/g)?.length, 1);
    assert.ok(token === "" || !text.includes(token));
    const line = await sendForm(folder, "files/", token, { accept: "*/*" });
    assert.equal(line.status, 401);
    assert.match(
      await line.text(),
      /^wrong-token: Cannot log in: this is not the server's token/,
    );
  }
  const link = await fetch(`${url}?token=${WRONG}`, { headers: BROWSER });
  assert.equal(link.status, 401);
  assert.match(
    await link.text(),
    /role="alert">Cannot log in: this is not the server(&#39;|'|&apos;)s token/,
  );
  const first = await fetch(url, { headers: BROWSER });
  assert.doesNotMatch(await first.text(), /role="alert"/);
});

Deno.test("forms of other sites, and invalid bodies, log nobody in", async () => {
  await using folder = await serveFolder(FILES, { token: TOKEN });
  const from: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "origin": "http://evil.example" },
    { "origin": "null" },
    { "sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:1" },
  ];
  for (const headers of from) {
    const answer = await sendForm(folder, "", TOKEN, headers);
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.deepEqual(answer.headers.getSetCookie(), []);
    await answer.body?.cancel();
  }
  for (
    const type of ["text/plain", "application/json", "multipart/form-data"]
  ) {
    const answer = await sendForm(folder, "", TOKEN, { "content-type": type });
    assert.equal(answer.status, 401, type);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    await answer.body?.cancel();
  }
  // A request with a valid token is answered, whatever its form contains.
  const check = await fetch(`${folder.server.url}api/check`, {
    method: "POST",
    body: new URLSearchParams({ token: TOKEN }),
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  assert.equal(check.headers.get("content-type"), "application/json");
  assert.deepEqual(check.headers.getSetCookie(), []);
  await check.body?.cancel();
});

Deno.test("forms are short, and endless ones block nobody", async () => {
  await using folder = await serveFolder(FILES, {
    token: TOKEN,
    maxRequests: 2,
  });
  const { server } = folder;
  const long = await sendForm(folder, "", "x".repeat(5000));
  assert.equal(long.status, 413);
  await long.body?.cancel();
  const chunked = await raw(server, [
    "POST / HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/x-www-form-urlencoded",
    "Transfer-Encoding: chunked",
  ]);
  assert.equal(chunked.status, 411);
  const { port } = server;
  const open = await Promise.all(
    Array.from({ length: 8 }, () => Deno.connect({ port })),
  );
  try {
    for (const client of open) {
      const head = [
        "POST / HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 100",
      ];
      const text = `${head.join("\r\n")}\r\n\r\ntoken=`;
      await client.write(new TextEncoder().encode(text));
    }
    // By the next turn, the server has read all of the requests.
    for (let i = 0; i < 3; i++) {
      const list = await folder.get("api/list?path=&at=0&limit=10");
      assert.equal(list.status, 200);
      await list.body?.cancel();
    }
  } finally {
    for (const client of open) client.close();
  }
});

Deno.test("a program's own server accepts the form as well, and no log contains its token", async () => {
  using container = await open(packed(FILES));
  const answer = handler(container, { token: TOKEN, trustProxy: true });
  const login = await answer(
    new Request("http://localhost/files/a.txt", {
      method: "POST",
      body: new URLSearchParams({ token: TOKEN }),
      headers: { ...BROWSER, "x-forwarded-proto": "https" },
    }),
  );
  assert.equal(login.status, 303);
  assert.match(login.headers.get("set-cookie")!, /^__Secure-.*; Secure$/);

  const asked: string[] = [];
  await using folder = await serveFolder(FILES, {
    token: TOKEN,
    onAccess: (access) => asked.push(JSON.stringify(access)),
    onError: (error) => asked.push(String(error)),
  });
  for (const token of [TOKEN, WRONG]) {
    await (await sendForm(folder, "files/a.txt", token)).body?.cancel();
  }
  assert.equal(asked.length, 2);
  assert.doesNotMatch(asked.join("\n"), /0123456789|fedcba/);
});
