/// <reference lib="dom" />
/** Views that are left before they have loaded, or while they are busy: the page shows what its address says. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { open } from "../../../src/open/open.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { parquetCase } from "../../support/parquet/parquet_golden.ts";
import fc from "../../support/random.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { Shown, shownNames } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";
import { pictureFile } from "./support/values.ts";

/** Address and title of each view, and a selector that matches in this view only. */
const VIEWS: readonly (readonly [hash: string, title: string, seen: string])[] =
  [
    ["#/", "", ".line .name a:text('records.json')"],
    ["#/?view=grid", "", ".tile .caption:text('records.json')"],
    ["#/photos", "photos", ".tile .caption:text('0.jpg')"],
    ["#/photos?view=table", "photos", ".line .name a:text('1.jpg')"],
    ["#/photos/1.jpg", "1.jpg", "img.picture"],
    ["#/records.json", "records.json", ".tree .key:text('alpha')"],
    ["#/table.csv", "table.csv", ".records th:text('beta')"],
    ["#/deep/dir/notes.txt", "notes.txt", "pre:text('gamma')"],
    ["#/nothing", "Error", "h2:text('There is nothing here')"],
    ["#/?show=search&glob=*.jpg", "Search: *.jpg", ".said:text('5 entries')"],
    ["#/deep?show=search&glob=*", "Search: *", ".said:text('2 entries')"],
    ["#/?show=random&seed=3", "Random samples", "input[type=number]"],
    ["#/?show=statistics", "Statistics", ".plot, .bars"],
    ["#/?show=check", "Check", "h2:text('Check')"],
    ["#/?show=info", "Info", ".facts dt:text('Format')"],
  ];

/** Number of addresses visited in a row. */
const STEPS = 50;

function hierarchy(): Uint8Array<ArrayBuffer> {
  const photo = pictureFile("420");
  return packed({
    "photos": Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`${i}.jpg`, photo]),
    ),
    "records.json": JSON.stringify({ alpha: [1, 2, { b: "c" }] }),
    "table.csv": "beta,b\n1,2\n",
    "deep": { "dir": { "notes.txt": "gamma" } },
    "other.txt": "text",
  });
}

/** Asserts that a view is shown, alone and with its title. */
async function assertShown(
  { page }: Shown,
  [hash, title, seen]: (typeof VIEWS)[number],
  where: string,
): Promise<void> {
  await page.locator(`main:not([aria-busy]) ${seen}`).first().waitFor()
    .catch((cause) => {
      throw new Error(`${hash} is not shown: ${where}`, { cause });
    });
  const state = await page.evaluate(() => ({
    hash: location.hash,
    title: document.title.split(" – "),
    views: document.querySelectorAll("main > *").length,
  }));
  assert.equal(state.hash, hash, where);
  assert.equal(state.title.length > 1 ? state.title[0] : "", title, where);
  assert.equal(state.views, 1, where);
}

pageTest(
  "after 50 addresses in quick succession, the last one is shown correctly",
  async (browser) => {
    using container = await open(hierarchy());
    await using shown = await Shown.open(browser, container, "", {
      name: "folder",
    });
    const { page } = shown;
    // Responses arrive after different delays.
    let requests = 0;
    await page.route(/\/api\//, async (route) => {
      await new Promise((turn) => setTimeout(turn, 17 * (++requests % 5)));
      await route.continue().catch(() => {}); // the page may have cancelled the request
    });
    const step = fc.record({
      view: fc.constantFrom(...VIEWS),
      // Most visits do not wait.
      wait: fc.oneof(fc.constant(0), fc.nat(20), fc.nat(80)),
      key: fc.constantFrom("v", "End", "PageDown", "+", "."),
    });
    const steps = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    const property = fc.asyncProperty(steps, async (steps) => {
      const told = steps.map(({ view: [hash], ...others }) => ({
        hash,
        ...others,
      }));
      const written = await page.evaluate(async (steps) => {
        const written: string[] = [];
        for (const [i, { hash, wait, key }] of steps.entries()) {
          location.hash = hash;
          await new Promise((turn) => setTimeout(turn, wait));
          const isBusy = document.querySelector("main[aria-busy]") !== null;
          // Keys would change the last view if it is shown already. While it is loading, they go to the previous one.
          if (i + 1 === steps.length && !isBusy) continue;
          document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true }),
          );
          document.querySelector(".scroller")?.scrollBy(0, 40);
          const isTheirs = isBusy && location.hash !== hash;
          if (isTheirs) written.push(`${location.hash} for ${hash}`);
        }
        return written;
      }, told);
      assert.deepEqual(written, []);
      const last = steps.at(-1)!.view;
      await assertShown(shown, last, "at once");
      // By then, timers of abandoned views have fired.
      await page.waitForTimeout(600);
      await assertShown(shown, last, "later");
    });
    await fc.assert(property, { numRuns: 3, endOnFailure: true });
    // Each view still works after the others were abandoned.
    for (const view of VIEWS) {
      await shown.go("#/?show=info");
      await shown.go(view[0]);
      await assertShown(shown, view, "alone");
    }
    await page.unrouteAll({ behavior: "wait" });
  },
);

/** Holds responses until the caller releases them. */
async function hold(page: Page, url: string | RegExp): Promise<{
  readonly asked: Promise<void>;
  letGo(): Promise<void>;
}> {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue().catch(() => {}); // the page may have cancelled the request
  });
  return {
    asked: asked.promise,
    async letGo() {
      held.resolve();
      await page.unrouteAll({ behavior: "wait" });
    },
  };
}

pageTest(
  "a list that is scrolled while the next view loads does not change its address",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(5000));
    const { page } = shown;
    await page.locator(".tile img:visible").first().waitFor();
    const held = await hold(page, /api\/entry/);
    await page.evaluate(() => location.hash = "#/0004000.png");
    await held.asked;
    for (let i = 0; i < 3; i++) await page.keyboard.press("PageDown");
    await page.keyboard.press("v");
    await page.waitForTimeout(500); // longer than the delay by which scrolling updates the address
    assert.equal(await shown.hash(), "#/0004000.png");
    await held.letGo();
    await page.getByRole("heading", { name: "0004000.png" }).waitFor();
    assert.equal(await shown.hash(), "#/0004000.png");
    // The key had no effect on the list, since it came after the list was left.
    await page.keyboard.press("Escape");
    await page.locator(".tile").first().waitFor();
    assert.doesNotMatch(await shown.hash(), /view=/);
  },
);

pageTest(
  "a clip that is played while the next view loads does not change its address, and ends",
  async (browser) => {
    const { path } = gulpCase("v2_many_frames");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.getByRole("option").first().click();
    await page.locator('.clip canvas[data-frame="0"]').waitFor();
    const held = await hold(page, /api\/list/);
    await page.evaluate(() => location.hash = "#/?view=table");
    await held.asked;
    await page.keyboard.press(".");
    await page.keyboard.press(" ");
    await page.waitForTimeout(200);
    await page.keyboard.press(" ");
    assert.equal(await shown.hash(), "#/?view=table");
    await page.keyboard.press(" ");
    const before = shown.requests.length;
    await held.letGo();
    await page.getByRole("row").first().waitFor();
    assert.equal(await shown.hash(), "#/?view=table");
    await page.waitForTimeout(300);
    const frames = shown.requests.slice(before).filter((url) =>
      /files\/[^?]*\/\d+/.test(url) && !url.includes("thumbnail")
    );
    assert.deepEqual(frames, []);
  },
);

pageTest(
  "late rows are not drawn over a table that was chosen since",
  async (browser) => {
    const { path } = parquetCase("types");
    await using shown = await Shown.open(browser, path, "#/?view=grid");
    const { page } = shown;
    const held = await hold(page, /api\/row/);
    await page.getByRole("button", { name: "Rows" }).click();
    await held.asked;
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator(".scroller.table").waitFor();
    await held.letGo();
    await page.waitForTimeout(300);
    assert.equal(await page.locator(".scroller.table").count(), 1);
    assert.equal(await page.locator(".scroller.rows").count(), 0);
    assert.deepEqual(await shownNames(page), [
      "000000",
      "000001",
      "000002",
      "000003",
    ]);
  },
);

pageTest(
  "an entry that was jumped to is not opened if the user went elsewhere",
  async (browser) => {
    await using shown = await Shown.open(browser, parquetCase("types").path);
    const { page } = shown;
    // The hash changes before browsers fire the event. Here, the response arrives in between.
    await page.evaluate(() => {
      const { json } = Response.prototype;
      Response.prototype.json = async function () {
        const message = await json.call(this);
        if (this.url.includes("api/at")) location.hash = "#/?show=info";
        return message;
      };
    });
    const answer = page.waitForResponse(/api\/at/);
    await page.keyboard.press("g");
    await page.keyboard.insertText("2");
    await page.keyboard.press("Enter");
    await answer;
    await page.getByRole("heading", { level: 2 }).waitFor();
    await page.waitForTimeout(200);
    assert.equal(await shown.hash(), "#/?show=info");
    assert.equal(await page.locator(".toast").count(), 0);
  },
);
