/// <reference lib="dom" />
/** The page of a server with a token: its link, and what the browser sends to other servers of the same host. */
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import type { ServedAddress } from "../../../src/serve/serve.ts";
import { serveFolder } from "../../support/serve/served_folder.ts";
import { shownNames } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";

/** A server that records all requests, and responds to each path with a page. */
interface OtherServer extends AsyncDisposable {
  readonly port: number;
  /** URL and headers of each request, as text. */
  readonly received: string[];
}

/** @param html Returns the page's content. */
function otherServer(html: () => string): OtherServer {
  const received: string[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      received.push(JSON.stringify([request.url, ...request.headers]));
      return new Response(`<!doctype html>${html()}`, {
        headers: { "content-type": "text/html" },
      });
    },
  );
  return {
    port: server.addr.port,
    received,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Secrets that open the page of a server. */
interface Secrets {
  readonly token: string;
  readonly path: string;
  readonly cookie: string;
}

async function secretsOf(
  { link, token }: ServedAddress,
  context: BrowserContext,
): Promise<Secrets> {
  const [cookie, ...others] = await context.cookies(link);
  assert.deepEqual(others, []);
  assert.ok(cookie!.httpOnly);
  assert.equal(cookie!.sameSite, "Strict");
  const [, path] = /\/s\/([^/]+)\//.exec(link)!;
  return { token: token!, path: path!, cookie: cookie!.value };
}

/** Waits until the page shows the container's entries. */
async function untilShown(page: Page): Promise<void> {
  assert.deepEqual(await shownNames(page), ["a.txt", "dir", "harm.html"]);
}

function assertNoneIn(received: readonly string[], secrets: Secrets): void {
  for (const request of received) {
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(!request.includes(secret), `${name} in ${request}`);
    }
  }
}

pageTest(
  "the link opens the page in each browser, from anywhere, at each of its addresses, and again",
  async (browser) => {
    await using folder = await serveFolder({
      "a.txt": "content",
      "dir": { "b.txt": "deep" },
      "harm.html": "",
    }, { basePath: "/data" });
    const { server: { link, token } } = folder;
    await using other = otherServer(() => `<a href="${link}">link</a>`);
    const clickLink = async (context: BrowserContext, host: string) => {
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      await page.goto(`http://${host}:${other.port}/`);
      await page.getByRole("link").click();
      await untilShown(page);
      return page;
    };
    // A link on another site, and on the same site.
    const page = await clickLink(await browser.newContext(), "localhost");
    const context = await browser.newContext();
    await clickLink(context, "127.0.0.1");
    const address = page.url();
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/data\/s\/[\w-]+\/$/);
    assert.ok(!address.includes(token!));
    await page.reload();
    await untilShown(page);
    await page.goto("about:blank");
    await page.goto(`${address}#/dir/b.txt`);
    await page.getByText("deep").waitFor();
    await page.reload();
    await page.getByText("deep").waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${link}#/dir`);
    await tab.getByText("b.txt").first().waitFor();
    assert.equal(tab.url(), `${address}#/dir`);
    // All requests of the page are below its path.
    await tab.goto("about:blank");
    const asked: string[] = [];
    tab.on("request", (request) => asked.push(request.url()));
    await tab.goto(address);
    await untilShown(tab);
    assert.ok(asked.length > 5);
    for (const each of asked) assert.ok(each.startsWith(address), each);
    await page.context().close();
    await context.close();
    // Another browser needs the link: with the address alone, the page asks to open it.
    const stranger = await browser.newPage();
    await stranger.goto(address);
    await stranger.getByText("Open the link that the server printed")
      .waitFor();
    await stranger.close();
  },
);

pageTest(
  "a server on another port of the same host receives nothing that opens the page",
  async (browser) => {
    let harm = "";
    await using other = otherServer(() => "");
    const address = `http://127.0.0.1:${other.port}/`;
    harm = `<!doctype html><meta name="referrer" content="unsafe-url">` +
      `<a href="${address}from-harm" referrerpolicy="unsafe-url">on</a>` +
      `<img src="${address}image-of-harm">`;
    await using folder = await serveFolder({
      "a.txt": "content",
      "dir": { "b.txt": "deep" },
      "harm.html": harm,
    });
    const { server } = folder;
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(server.link);
    await untilShown(page);
    const own = page.url();
    const secrets = await secretsOf(server, context);
    assert.notEqual(secrets.cookie, secrets.token);

    // A document of the dataset that tries to send its own address along.
    await page.goto(`${own}files/harm.html`);
    await page.getByRole("link").click();
    await page.waitForURL(`${address}from-harm`);
    // Addresses typed by the user, and requests by a page of the other server with credentials.
    const paths = [
      ...["", "s", "s/", "s/x/", "s/x/api/info", "files/", "dav/", "api/info"],
      ...["page/main.ts", "data/s/x/", "%73/"],
    ];
    for (const path of paths) await page.goto(address + path);
    await page.evaluate(async (paths) => {
      for (const path of paths) {
        for (const method of ["GET", "POST"]) {
          await fetch(`/${path}`, { method, credentials: "include" });
        }
      }
    }, paths);
    // Some browsers request the icon as well.
    assert.ok(other.received.length >= 1 + paths.length * 3);
    assertNoneIn(other.received, secrets);

    // If the user opens the page's path on the other server, the cookie that it receives opens nothing but the page.
    other.received.length = 0;
    await page.goto(own.replace(server.url, address));
    const [received] = other.received;
    assert.ok(received!.includes(secrets.cookie));
    assert.ok(!received!.includes(secrets.token));
    const headers = {
      cookie: `recordfs=${secrets.cookie}`,
      authorization: `Bearer ${secrets.cookie}`,
    };
    for (const path of ["files/", "api/info", "dav/", "", "s/x/api/info"]) {
      const response = await fetch(server.url + path, { headers });
      await response.body?.cancel();
      assert.equal(response.status, 401, path);
    }
    await context.close();
  },
);
