/** The page's session: its path, its cookie, and the paths that the cookie opens. */
import assert from "node:assert/strict";
import { handler, type HandlerOptions } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import {
  packed,
  raw,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const FILES = { "a.txt": "content", "dir": { "b.txt": "deep" } };
const TOKEN = "0123456789abcdef";

/** Result of opening a link in a browser. */
interface OpenedPage {
  /** URL to which the link redirects. */
  readonly url: string;
  /** Cookie in the form that a browser sends. */
  readonly cookie: string;
  /** The whole `Set-Cookie` header. */
  readonly whole: string;
}

async function openPage({ server }: ServedFolder): Promise<OpenedPage> {
  const login = await fetch(server.link, { redirect: "manual" });
  assert.equal(login.status, 303);
  assert.equal(login.headers.get("referrer-policy"), "no-referrer");
  const [whole] = login.headers.getSetCookie();
  return {
    url: new URL(login.headers.get("location")!, server.url).href,
    cookie: whole!.split(";", 1)[0]!,
    whole: whole!,
  };
}

async function statusOf(
  url: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<number> {
  const response = await fetch(url, { headers, method, redirect: "manual" });
  await response.body?.cancel();
  return response.status;
}

Deno.test("the link leads to a random path, and sets a cookie for it that is not the token", async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 2; i++) {
    await using folder = await serveFolder(FILES, { token: TOKEN });
    const { url, link } = folder.server;
    const [, path] = link.slice(url.length).match(
      /^s\/([\w-]{22,})\/\?token=0123456789abcdef$/,
    )!;
    const page = await openPage(folder);
    assert.equal(page.url, `${url}s/${path}/`);
    const [, id] = page.whole.match(
      /^recordfs=([\w-]{43}); Path=\/s\/[\w-]+\/; HttpOnly; SameSite=Strict$/,
    )!;
    assert.ok(page.whole.includes(`; Path=/s/${path}/;`));
    assert.ok(!page.whole.includes(TOKEN));
    // Each server has its own path and cookie, even with the same token. All browsers of a server get the same.
    assert.deepEqual(await openPage(folder), page);
    seen.add(path!).add(id!);
    // A link of an earlier server, and one without the path, redirect to the same page.
    const paths = ["", "s/0123456789abcdefghijkl/", `s/${path}`];
    for (const other of paths) {
      const login = await fetch(`${url}${other}?token=${TOKEN}`, {
        redirect: "manual",
      });
      assert.equal(login.headers.get("location"), `/s/${path}/`);
      assert.deepEqual(login.headers.getSetCookie(), [page.whole]);
    }
  }
  assert.equal(seen.size, 4);
});

Deno.test("the page's cookie opens only paths below the page", async () => {
  await using folder = await serveFolder(FILES);
  const { server: { url, token } } = folder;
  const { url: page, cookie } = await openPage(folder);
  const below = ["", "page/main.ts", "api/info", "files/", "files/a.txt"];
  for (const path of below) {
    assert.equal(await statusOf(page + path, { cookie }), 200, path);
  }
  const among = `a=b; ${cookie}; c=d`;
  assert.equal(await statusOf(`${page}api/info`, { cookie: among }), 200);
  const secure = `__Secure-${cookie}`;
  assert.equal(await statusOf(`${page}api/info`, { cookie: secure }), 200);
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal(await statusOf(`${page}files/a.txt`, bearer), 200);

  const elsewhere = [
    ...["", "api/info", "files/", "files/a.txt", "dav/", "page/main.ts"],
    ...["s/", "s/x/", "s/x/files/a.txt", "s/0123456789abcdefghijkl/api/info"],
  ];
  for (const path of elsewhere) {
    const sent = `${cookie}; ${secure}; recordfs=${token}`;
    assert.equal(await statusOf(url + path, { cookie: sent }), 401, path);
  }
  const wrong = [
    ...["", "recordfs=", "recordfs", `${cookie}x`, `x${cookie}`],
    ...[cookie.slice(0, -1), `recordfs=${token}`, cookie.toUpperCase()],
    cookie.replace("=", " ="),
  ];
  for (const cookie of wrong) {
    const headers = { cookie };
    assert.equal(await statusOf(`${page}api/info`, headers), 401, cookie);
    assert.equal(await statusOf(`${page}files/a.txt`, headers), 401, cookie);
  }
});

Deno.test("without its cookie, the page loads its program, reports what is missing, and shows nothing of the container", async () => {
  await using folder = await serveFolder(FILES);
  const { url: page } = await openPage(folder);
  assert.equal(await statusOf(page), 200);
  assert.equal(await statusOf(`${page}page/main.ts`), 200);
  for (const path of ["api/info", "api/list", "files/", "files/a.txt"]) {
    const response = await fetch(page + path);
    assert.equal(response.status, 401, path);
    // Browsers prompt for a password only for other schemes.
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
    assert.deepEqual(response.headers.getSetCookie(), []);
    assert.match(await response.text(), /no-session.*Open the link/);
  }
  assert.equal(await statusOf(`${page}api/check`, {}, "POST"), 401);
});

Deno.test("paths below the page lead nowhere else", async () => {
  for (const basePath of ["/", "/data"]) {
    await using folder = await serveFolder(FILES, { basePath });
    const { url, cookie } = await openPage(folder);
    const { pathname } = new URL(url);
    assert.ok(pathname.startsWith(basePath));
    for (
      const [path, location] of [
        ["", `${pathname}`],
        ["/files", `${pathname}files/`],
        ["/files/dir", `${pathname}files/dir/`],
        ["/files/dir?tar", `${pathname}files/dir/?tar`],
      ] as const
    ) {
      const response = await fetch(url.slice(0, -1) + path, {
        headers: { cookie },
        redirect: "manual",
      });
      await response.body?.cancel();
      assert.equal(response.status, 301, path);
      assert.equal(response.headers.get("location"), location);
    }
    assert.equal(await statusOf(`${url}files/dir/b.txt`, { cookie }), 200);
    // WebDAV accepts the token as password, but no cookie.
    assert.equal(await statusOf(`${url}dav/`, { cookie }), 404);
    assert.equal(await statusOf(url, { cookie }, "PROPFIND"), 405);
  }
});

Deno.test("pages of other sites reach no more below the page's path than outside it", async () => {
  await using folder = await serveFolder(FILES);
  const { url, cookie } = await openPage(folder);
  const file = `${url}files/a.txt`;
  for (const site of ["cross-site", "same-site"]) {
    const from = { cookie, "sec-fetch-site": site };
    const asked = { ...from, "sec-fetch-mode": "cors" };
    assert.equal(await statusOf(file, asked), 403);
    assert.equal(await statusOf(`${url}api/check`, from, "POST"), 403);
  }
  const { status } = await raw(folder.server, [
    `GET ${new URL(file).pathname} HTTP/1.1`,
    "Host: evil.example",
    `Cookie: ${cookie}`,
  ]);
  assert.equal(status, 403);
});

Deno.test("the cookie is Secure over HTTPS, or if a trusted proxy reports HTTPS", async () => {
  using container = await open(packed(FILES));
  const cookieOf = async (
    options: Partial<HandlerOptions>,
    headers: Record<string, string>,
    scheme = "http",
  ) => {
    const answer = handler(container, { token: TOKEN, ...options });
    const url = `${scheme}://localhost/?token=${TOKEN}`;
    const { headers: answered } = await answer(new Request(url, { headers }));
    const [cookie] = answered.getSetCookie();
    const isSecure = cookie!.endsWith("; Secure");
    assert.equal(cookie!.startsWith("__Secure-recordfs="), isSecure);
    return isSecure;
  };
  assert.equal(await cookieOf({}, {}), false);
  assert.equal(await cookieOf({}, {}, "https"), true);
  const https = [
    ["x-forwarded-proto", "https"],
    ["x-forwarded-proto", "HTTPS, http"],
    ["forwarded", "proto=https"],
    ["forwarded", 'for="[2001:db8::1]:4711";Proto="https";by=203.0.113.43'],
    ["forwarded", "for=192.0.2.1:80; proto=https, for=10.0.0.1; proto=http"],
  ] as const;
  const http = [
    ["x-forwarded-proto", "http"],
    ["x-forwarded-proto", "http, https"],
    ["x-forwarded-proto", "httpsx"],
    ["forwarded", "for=192.0.2.1"],
    ["forwarded", "proto=http"],
    ["forwarded", "for=192.0.2.1, proto=https"],
    ["forwarded", 'for="x;proto=https"'],
    ["forwarded", "xproto=https"],
  ] as const;
  for (const [name, value] of [...https, ...http]) {
    assert.equal(await cookieOf({}, { [name]: value }), false, value);
    assert.equal(
      await cookieOf({ trustProxy: true }, { [name]: value }),
      https.some(([, each]) => each === value),
      value,
    );
  }
});

Deno.test("a server without a token has no session", async () => {
  await using folder = await serveFolder(FILES, { token: null });
  const { url, link } = folder.server;
  assert.equal(link, url);
  assert.equal(await statusOf(`${url}s/x/`), 404);
  const login = await fetch(`${url}?token=x`, { redirect: "manual" });
  assert.equal(login.headers.get("location"), "/");
  assert.deepEqual(login.headers.getSetCookie(), []);
});

Deno.test("request logs do not contain the page's path", async () => {
  const asked: string[] = [];
  await using folder = await serveFolder(FILES, {
    basePath: "/data",
    onAccess: ({ path }) => asked.push(path),
  });
  const { url, cookie } = await openPage(folder);
  await statusOf(`${url}files/a.txt`, { cookie });
  await statusOf(url.replace("/data", ""));
  await statusOf(`${folder.server.url}s/x/`);
  assert.deepEqual(asked, [
    "/data/s/*/",
    "/data/s/*/files/a.txt",
    "/s/*/",
    "/data/s/x/",
  ]);
});
