/** The site in a browser, opened as files. */
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { pageTest } from "../serve/page/support/page_test_of.ts";
import { pagesOf, site } from "./site.ts";

/** Opens a page of the site as a file, and collects errors and requests to servers. */
async function shown(
  page: Page,
  path: string,
): Promise<{ readonly problems: string[] }> {
  const { root } = await site();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) problems.push(request.url());
  });
  await page.goto(`${pathToFileURL(root)}/${path}`);
  return { problems };
}

pageTest(
  "the site's search leads to what it finds, by the keyboard",
  async (browser) => {
    const page = await browser.newPage();
    const { problems } = await shown(page, "docs/formats/tar.html");
    await page.keyboard.press("/");
    await page.keyboard.type("unmount lazily");
    const first = page.getByRole("option").first();
    await first.waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    assert.equal(await first.getAttribute("aria-selected"), "true");
    await page.keyboard.press("Enter");
    await page.waitForURL(/docs\/(?!formats).*\.html/);
    assert.match((await page.locator("main").textContent())!, /lazily/);
    await page.keyboard.press("/");
    await page.keyboard.type("nonexistentword");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#site-results").isHidden());
    assert.deepEqual(problems, []);
    await page.close();
  },
);

pageTest(
  "the site is light or dark as the system is, and no page is wider than a phone",
  async (browser) => {
    const { root } = await site();
    const page = await browser.newPage({
      viewport: { width: 360, height: 640 },
    });
    const back = () =>
      page.evaluate("getComputedStyle(document.body).backgroundColor");
    const { problems } = await shown(page, "index.html");
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await back(), "rgb(255, 255, 255)");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await back(), "rgb(255, 255, 255)");
    for (const path of pagesOf(root).keys()) {
      await page.goto(`${pathToFileURL(root)}/${path}`);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(Number(width) <= 360, `${path} is ${width} wide`);
    }
    assert.deepEqual(problems, []);
    await page.close();
  },
);
