/** Loss and return of the server, and the appearance of missing, damaged and empty entries. */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { open } from "../../../src/open/open.ts";
import { parquetCase } from "../../support/parquet/parquet_golden.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { Shown } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";
import { fact } from "./support/values.ts";

/** A window whose server can be disconnected. */
class Leaving implements AsyncDisposable {
  readonly shown: Shown;
  readonly banner: Locator;

  constructor(shown: Shown) {
    this.shown = shown;
    this.banner = shown.page.locator(".banner", {
      hasText: "The server does not answer",
    });
  }

  async leave(): Promise<void> {
    await this.shown.page.context().setOffline(true);
  }

  async comeBack(): Promise<void> {
    await this.shown.page.context().setOffline(false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { problems } = this.shown;
    const others = problems.splice(0).filter((problem) =>
      !/net::ERR_INTERNET_DISCONNECTED/.test(problem)
    );
    problems.push(...others);
    await this.shown[Symbol.asyncDispose]();
  }
}

pageTest(
  "a listing marks what has not arrived, reports that the server is gone, and loads it with its pictures when it is back",
  async (browser) => {
    await using leaving = new Leaving(
      await Shown.open(browser, manyPictures(5000), "#/?view=grid"),
    );
    const { shown, banner } = leaving;
    const { page } = shown;
    await page.locator(".tile img:visible").first().waitFor();
    assert.equal(await banner.count(), 0);
    await leaving.leave();
    await page.keyboard.press("End");
    await banner.waitFor();
    const missing = page.locator('.tile[data-state="loading"]:visible');
    await missing.first().waitFor();
    await page.locator(".problem.gone").waitFor();
    await leaving.comeBack();
    await banner.waitFor({ state: "detached" });
    const last = page.getByRole("option", { name: /^0004999\.png/ });
    await last.locator("img:visible").waitFor();
    assert.equal(await missing.count(), 0);
    assert.equal(await page.locator(".problem:visible").count(), 0);
  },
);

pageTest(
  "pictures that did not arrive are requested again, and a damaged one is not",
  async (browser) => {
    await using leaving = new Leaving(
      await Shown.open(browser, manyPictures(40), "#/0000003.png"),
    );
    const { shown, banner } = leaving;
    const { page } = shown;
    await page.locator("img.picture").waitFor();
    await leaving.leave();
    // The description was prefetched; a different picture has to be requested.
    await page.evaluate(() => {
      const image = document.querySelector<HTMLImageElement>("img.picture")!;
      image.src = "files/0000030.png";
    });
    await banner.waitFor();
    await page.locator("img.picture.waiting").waitFor();
    assert.equal(await page.getByText("It can't be drawn").count(), 0);
    await leaving.comeBack();
    await banner.waitFor({ state: "detached" });
    await page.waitForFunction(() =>
      document.querySelector<HTMLImageElement>("img.picture:not(.waiting)")
        ?.naturalWidth === 2
    );
    const damaged = new TextEncoder().encode("\x89PNG, and nothing more");
    await using broken = await Shown.open(
      browser,
      manyPictures(3, damaged),
      "#/0000001.png",
    );
    await broken.page.getByText("It can't be drawn").waitFor();
    assert.equal(await broken.page.locator(".banner").count(), 0);
  },
);

pageTest(
  "a server that goes during a check is gone: what it did not send is not damaged",
  async (browser) => {
    await using leaving = new Leaving(
      await Shown.open(browser, manyPictures(40), "#/?view=grid"),
    );
    const { shown, banner } = leaving;
    const { page } = shown;
    const pictures = page.locator(".tile img");
    await page.locator(".tile img:visible").nth(3).waitFor();
    // The first check gets its response after the server is gone.
    let answer = () => {};
    const isAsked = new Promise<void>((asked) => {
      let checks = 0;
      void page.route("**/icon.svg", async (route) => {
        if (++checks > 1) return await route.abort();
        await new Promise<void>((resolve) => {
          answer = resolve;
          asked();
        });
        await route.fulfill({ status: 200 });
      });
    });
    const replace = (at: number, src: string) =>
      pictures.nth(at).evaluate(
        (image, src) => image.setAttribute("src", src),
        src,
      );
    await replace(0, "files/none.png");
    await isAsked;
    await page.route("**/gone.png", (route) => route.abort());
    const failed = page.waitForEvent("requestfailed", {
      predicate: (request) => request.url().endsWith("/gone.png"),
    });
    await replace(1, "files/gone.png");
    await failed;
    answer();
    await banner.waitFor();
    await pictures.nth(1).and(page.locator(".waiting")).waitFor({
      state: "attached",
    });
    const undrawn = page.locator(".undrawn").filter({
      has: page.locator('[src$="gone.png"]'),
    });
    assert.equal(await undrawn.count(), 0);
    const isFailure = (problem: string) => /net::ERR_FAILED/.test(problem);
    assert.ok(shown.problems.every(isFailure));
    shown.problems.length = 0;
    await page.unrouteAll();
  },
);

pageTest(
  "the focused element stays in view when a banner appears",
  async (browser) => {
    await using leaving = new Leaving(
      await Shown.open(browser, manyPictures(5000), "#/?view=grid"),
    );
    const { shown, banner } = leaving;
    const { page } = shown;
    await page.locator(".tile img:visible").first().waitFor();
    // Number of columns, to move to the last fully visible row.
    const columns = await page.locator(".scroller").evaluate((scroller) =>
      Math.round(
        scroller.clientWidth /
          scroller.querySelector<HTMLElement>(".tile")!.offsetWidth,
      )
    );
    await page.keyboard.press("PageDown");
    const { height } = page.viewportSize()!;
    const isCut = async () => {
      const box = (await page.locator(".tile.active").boundingBox())!;
      return box.y + box.height > height + 1;
    };
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    assert.ok(columns > 1);
    assert.equal(await isCut(), false);
    await leaving.leave();
    await page.evaluate(() => {
      const image = document.createElement("img");
      image.src = "files/0004000.png?1";
      document.body.append(image);
    });
    await banner.waitFor();
    await page.evaluate(async () => {
      for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    });
    assert.equal(await isCut(), false);
  },
);

pageTest(
  "an entry, rows, statistics and a search that were interrupted are shown when the server is back",
  async (browser) => {
    const { path } = parquetCase("types");
    const views: readonly (readonly [string, (shown: Shown) => Locator])[] = [
      ["#/000001", ({ page }) => page.getByRole("heading", { name: "000001" })],
      ["#/000001/int32.json", ({ page }) => page.locator(".tree .number")],
      [
        "#/?view=rows",
        ({ page }) => page.getByRole("row", { name: /^000003/ }),
      ],
      ["#/?show=statistics", ({ page }) => page.getByText("entries counted")],
      ["#/?show=random", ({ page }) => page.getByText("000002").first()],
      [
        "#/?show=search&glob=000002",
        ({ page }) => page.getByText(/^1 entry found/),
      ],
    ];
    for (const [hash, view] of views) {
      await using leaving = new Leaving(
        await Shown.open(browser, path, "#/?show=info"),
      );
      const { shown, banner } = leaving;
      await leaving.leave();
      await shown.page.evaluate((hash) => location.hash = hash, hash);
      await banner.waitFor();
      await shown.page.locator(".problem").first().waitFor();
      await leaving.comeBack();
      await banner.waitFor({ state: "detached" });
      await view(shown).waitFor();
      assert.equal(
        await shown.page.locator(".problem:visible").count(),
        0,
        hash,
      );
    }
  },
);

pageTest(
  "a page that becomes visible again notices that the server is gone",
  async (browser) => {
    await using leaving = new Leaving(
      await Shown.open(browser, manyPictures(5), "#/"),
    );
    const { shown, banner } = leaving;
    await leaving.leave();
    const asked = shown.requests.length;
    await shown.page.waitForTimeout(2500);
    assert.equal(shown.requests.length, asked); // no request has failed yet
    await shown.page.evaluate(() =>
      document.dispatchEvent(new Event("visibilitychange"))
    );
    await banner.waitFor();
    await leaving.comeBack();
    await banner.waitFor({ state: "detached" });
  },
);

pageTest("empty, undrawn and undamaged entries differ", async (browser) => {
  using container = await open(packed({
    "empty.txt": "",
    "bad.png": "no picture",
    "text.txt": "text",
  }));
  await using shown = await Shown.open(browser, container, "#/?view=grid");
  const { page } = shown;
  const tile = (name: string) => page.locator(".tile", { hasText: name });
  await tile("bad.png").locator(".undrawn").waitFor();
  assert.equal(await tile("empty.txt").getAttribute("data-state"), "hollow");
  assert.equal(await tile("text.txt").getAttribute("data-state"), null);
  assert.equal(await tile("text.txt").locator(".undrawn").count(), 0);
  // An undrawn picture is also marked while it is the active tile.
  await page.keyboard.press("Home");
  const active = page.locator(".tile.active .undrawn");
  await active.waitFor();
  const marks = await active.evaluate((active) => [
    getComputedStyle(active).outlineStyle,
    getComputedStyle(active, "::after").borderStyle,
  ]);
  assert.deepEqual(marks, ["solid", "dashed"]);
  // Both have the icon of a text, which is pale for an empty one.
  const opacityOf = (name: string) =>
    tile(name).locator(".icon").evaluate((icon) =>
      Number(getComputedStyle(icon).opacity)
    );
  assert.ok(await opacityOf("empty.txt") < 0.5);
  assert.equal(await opacityOf("text.txt"), 1);
  await shown.go("#/empty.txt");
  await page.getByText("The text is empty.").waitFor();
});

pageTest(
  "a damaged entry shows its reason: as a tile, in a line, and by itself",
  async (browser) => {
    const path =
      `${REPOSITORY}test/golden/ffrecord/bad_offset_negative/alpha_14.ffr`;
    const reason = /Cannot read sample 4 of .*: offset out of range/;
    await using shown = await Shown.open(browser, path, "#/?view=grid");
    const { page } = shown;
    const damaged = page.locator('[data-state="damaged"]:visible');
    await damaged.first().waitFor();
    assert.equal(
      await damaged.locator(".caption").first().textContent(),
      "000004",
    );
    assert.match((await damaged.first().getAttribute("title"))!, reason);
    await page.getByRole("button", { name: "Table" }).click();
    const line = page.getByRole("row", { name: /000004/ });
    await line.getByText("damaged", { exact: true }).waitFor();
    assert.match((await line.locator(".size").getAttribute("title"))!, reason);
    await shown.go("#/000004");
    assert.match((await fact(page, "Damage"))!, reason);
    await page.locator(".problem:not(.gone)").getByText(reason).waitFor();
  },
);
