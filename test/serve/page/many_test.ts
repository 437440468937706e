/** A container of a million entries: listing, scrolling and jumping, with only the visible entries in the document. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { Shown, textsOf } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";

const MANY = 1_000_000;

/** Maximum number of tiles or lines in the document: the visible ones, and a few more. */
const MOST_LIVE = 200;

async function liveCount(page: Page): Promise<number> {
  return await page.locator(".canvas > *").count();
}

async function scrollTo(page: Page, part: number): Promise<void> {
  await page.locator(".scroller").evaluate((scroller, part) => {
    scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * part;
  }, part);
}

pageTest(
  "a million pictures are a grid in which every position is reached",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(MANY));
    const { page } = shown;
    await page.getByText("1,000,000 entries").waitFor();
    await page.getByRole("option", { name: /^0000000\.png/ }).waitFor();
    await page.locator(".tile img:visible").first().waitFor();
    for (const part of [0.2, 0.9, 0.5]) {
      await scrollTo(page, part);
      await page.waitForFunction(
        (wanted) =>
          [...document.querySelectorAll<HTMLElement>(".tile")].some((tile) => {
            const index = Number.parseInt(tile.textContent!);
            return tile.style.display === "" && Math.abs(index - wanted) < 1000;
          }),
        part * MANY,
      );
      assert.ok(await liveCount(page) < MOST_LIVE);
    }
    // Scrolling a little shows the adjacent entries, without gaps.
    const first = async () => {
      const names = await textsOf(page.locator(".tile:visible .caption"));
      return Math.min(
        ...names.map((name) => Number.parseInt(name)).filter(Number.isFinite),
      );
    };
    const before = await first();
    const box = (await page.locator(".scroller").boundingBox())!;
    await page.mouse.move(box.x + 200, box.y + 200);
    await page.mouse.wheel(0, 300);
    await page.waitForFunction(
      (from) =>
        [...document.querySelectorAll<HTMLElement>(".tile")].every((tile) =>
          tile.style.display === "none" ||
          Number.parseInt(tile.querySelector(".caption")!.textContent!) > from
        ),
      before,
    );
    assert.ok(await first() - before < 60);
    await page.keyboard.press("End");
    const last = page.getByRole("option", { name: /^0999999\.png/ });
    await last.waitFor();
    assert.equal(await last.getAttribute("aria-setsize"), String(MANY));
    assert.equal(await last.getAttribute("aria-posinset"), String(MANY));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "0999999.png" }).waitFor();
    await page.getByText("1,000,000 of 1,000,000").waitFor();
    // The page requests the visible entries, and not all that were scrolled past.
    const lists = shown.requests.filter((url) => url.includes("/api/list"));
    assert.ok(lists.length < 40, `${lists.length} lists`);
  },
);

pageTest(
  "a million lines are a table, and its links return to the same position",
  async (browser) => {
    await using shown = await Shown.open(
      browser,
      manyPictures(MANY),
      "#/?view=table&at=345678",
    );
    const { page } = shown;
    const row = page.getByRole("row", { name: /0345678\.png/ });
    await row.waitFor();
    const top = (await page.locator(".place").boundingBox())!.y;
    const { y } = (await row.boundingBox())!;
    assert.ok(y >= top && y < top + 80, `${y} below ${top}`);
    await row.getByRole("link").click();
    await page.getByRole("heading", { name: "0345678.png" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "0345679.png" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("row", { name: /0345679\.png/ }).waitFor();
    assert.match(await shown.hash(), /view=table/);
    await page.getByRole("textbox", { name: /^Go to/ }).fill("#777777");
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /0777777\.png/, selected: true })
      .waitFor();
    assert.ok(await liveCount(page) < MOST_LIVE);
  },
);

pageTest("scrolling does not block the page", async (browser) => {
  await using shown = await Shown.open(browser, manyPictures(MANY));
  const { page } = shown;
  await page.locator(".tile img:visible").first().waitFor();
  await page.evaluate(() => {
    const long: number[] = [];
    Object.assign(globalThis, { long });
    new PerformanceObserver((list) =>
      long.push(...list.getEntries().map(({ duration }) => duration))
    ).observe({ type: "longtask" });
  });
  for (let i = 1; i <= 20; i++) await scrollTo(page, i / 20);
  await page.getByRole("option", { name: /^0999999\.png/ }).waitFor();
  const long = await page.evaluate(() =>
    (globalThis as unknown as { long: number[] }).long
  );
  // On a busy machine, some long tasks occur; the benchmark has the figures.
  assert.ok(long.every((duration) => duration < 1000), String(long));
});
