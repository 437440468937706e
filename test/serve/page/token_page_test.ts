/// <reference lib="dom" />
/** The page that asks a browser for the token, and the redirects of its form. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { withTempDir } from "../../support/paths.ts";
import { packed, serveFolder } from "../../support/serve/served_folder.ts";
import { startServing } from "../../support/serve/serving_command.ts";
import { shownNames } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";

const FILES = { "a.txt": "content", "dir": { "b.txt": "deep" } };

/** Collects errors and violations of the content security policy. */
function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.setDefaultTimeout(30_000);
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) {
      problems.push(message.text());
    }
  });
  return problems;
}

async function typeToken(page: Page, token: string): Promise<void> {
  const field = page.getByLabel("Token of this server");
  await field.waitFor();
  // The field has the focus, so nothing has to be clicked.
  assert.ok(await field.evaluate((own) => own === document.activeElement));
  await page.keyboard.insertText(token);
  await page.keyboard.press("Enter");
}

pageTest(
  "on a phone, the field and the button of the token are 40 pixels high",
  async (browser) => {
    await withTempDir(async (dir) => {
      await Deno.writeFile(`${dir}/a.ffr`, packed(FILES));
      const server = await startServing([
        ...["serve", "--port", "0", "--token-file", `${dir}/token`],
        `${dir}/a.ffr`,
      ]);
      const context = await browser.newContext({
        viewport: { width: 390, height: 844 },
      });
      const page = await context.newPage();
      await page.goto(server.link);
      for (
        const part of [
          page.getByLabel("Token of this server"),
          page.getByRole("button", { name: "Open" }),
        ]
      ) {
        await part.waitFor();
        assert.equal((await part.boundingBox())!.height, 40);
      }
      await context.close();
      await server.end("SIGTERM");
    });
  },
);

pageTest(
  "the link of --token-file has no token, and opens the page once it is typed",
  async (browser) => {
    await withTempDir(async (dir) => {
      await Deno.writeFile(`${dir}/a.ffr`, packed(FILES));
      const server = await startServing([
        ...["serve", "--port", "0", "--token-file", `${dir}/token`],
        `${dir}/a.ffr`,
      ]);
      const token = (await Deno.readTextFile(`${dir}/token`)).trim();
      assert.ok(!server.link.includes(token));
      assert.equal(server.token, "");
      const context = await browser.newContext();
      const page = await context.newPage();
      const problems = problemsOf(page);
      const urls: string[] = [];
      page.on("request", (request) => urls.push(request.url()));
      await page.goto(server.link);
      // Its style was not blocked by the content security policy.
      const ground = await page.locator(".problem, .token").first().evaluate(
        (form) => getComputedStyle(form).paddingTop,
      );
      assert.equal(ground, "16px");
      await typeToken(page, "a-wrong-token-of-any-kind");
      await page.getByRole("alert").getByText("not the server's token")
        .waitFor();
      await typeToken(page, token);
      assert.deepEqual(await shownNames(page), ["a.txt", "dir"]);
      assert.match(page.url(), /\/s\/[\w-]+\/$/);
      await page.reload();
      assert.deepEqual(await shownNames(page), ["a.txt", "dir"]);
      assert.ok(urls.every((url) => !url.includes(token)));
      assert.deepEqual(problems, []);
      await context.close();
      const { stderr } = await server.end("SIGTERM");
      assert.ok(!stderr.includes(token));
    });
  },
);

pageTest(
  "a file, a listing and an address of the page ask for the token and then show the requested content",
  async (browser) => {
    await using folder = await serveFolder(FILES, { basePath: "/data" });
    const { url, token, link } = folder.server;
    const [own] = /^[^?]*/.exec(link)!;
    const opened = async (path: string): Promise<Page> => {
      const page = await (await browser.newContext()).newPage();
      const problems = problemsOf(page);
      await page.goto(path);
      await page.waitForLoadState("networkidle");
      const way = page.getByRole("link", { name: "Type the token" });
      if (await way.isVisible()) await way.click();
      await typeToken(page, token!);
      await page.waitForURL((to) => to.href.startsWith(own));
      assert.deepEqual(problems, []);
      return page;
    };
    const file = await opened(`${url}files/a.txt`);
    await file.getByText("content").waitFor();
    const list = await opened(`${url}files/dir/`);
    await list.getByRole("link", { name: "b.txt" }).waitFor();
    // An address of an earlier server, and one of this server in a browser without its cookie.
    for (const address of [`${url}s/0123456789abcdefghijkl/`, own]) {
      const page = await opened(`${address}#/dir/b.txt`);
      await page.getByText("deep").waitFor();
      assert.equal(page.url(), `${own}#/dir/b.txt`);
    }
  },
);
