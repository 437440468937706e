/// <reference lib="dom" />
/** The browser's console stays empty on every kind of page. */
import assert from "node:assert/strict";
import { goldenCase } from "../../support/golden.ts";
import { linesOf, Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";

/** How long after a load Chromium warns about unused preloads, in milliseconds. */
const UNUSED_MS = 4500;

pageTest(
  "the console has no warning and no error, at any address",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    const addresses = [
      "#/",
      "#/?view=table&at=3",
      "#/?view=grid",
      "#/000009",
      "#/000009/grid",
      "#/?show=statistics",
      "#/?show=info",
      "#/?show=random&seed=1",
      "#/?show=search&glob=*",
      "#/nothing",
    ];
    await Promise.all(addresses.map(async (hash) => {
      await using shown = await Shown.open(browser, path);
      const said: string[] = [];
      shown.page.on("console", (message) => {
        const isAnswer = /the server responded/.test(message.text());
        if (!isAnswer) said.push(message.text());
      });
      // A change of the hash alone would not reload the document.
      await shown.page.goto("about:blank");
      await shown.go(hash);
      await shown.page.waitForTimeout(UNUSED_MS);
      assert.deepEqual(said, [], hash);
    }));
  },
);

pageTest(
  "a progress bar never exceeds its end, whatever a server counts",
  async (browser) => {
    const { path } = goldenCase("ffrecord/packed_tree");
    await using shown = await Shown.open(browser, path, "#/?show=check");
    const { page } = shown;
    await page.setViewportSize({ width: 390, height: 844 });
    for (
      const [done, total, said] of [
        [5, 10, "5 B of 10 B"],
        [20, 10, "20 B"],
        [0, 0, "0 B of 0 B"],
        [3, 0, "3 B"],
      ] as const
    ) {
      await page.route("**/api/check", (route) =>
        route.fulfill({
          contentType: "application/x-ndjson",
          // A response without a report leaves the bar unchanged.
          body: `${JSON.stringify({ done, total })}\n`,
        }));
      await page.reload();
      await shown.ready();
      await page.getByRole("button", { name: "Check everything" }).click();
      await page.getByText(said, { exact: true }).waitFor();
      const bar = page.locator("progress");
      const position = await bar.evaluate((bar: HTMLProgressElement) =>
        bar.position
      );
      // A bar without a value is indeterminate: its position is -1.
      assert.equal(position, done === 5 ? 0.5 : -1, said);
      const status = page.locator(".progress").getByRole("status");
      assert.equal(await linesOf(status), 1, said);
      const cancel = page.getByRole("button", { name: "Cancel" });
      const [has, wants] = await cancel.evaluate((cancel) => {
        const range = document.createRange();
        range.selectNodeContents(cancel);
        const { paddingLeft } = getComputedStyle(cancel);
        const letters = range.getBoundingClientRect().width;
        return [cancel.clientWidth, letters + 2 * parseFloat(paddingLeft)];
      });
      assert.ok(has! >= Math.floor(wants!), `${has} of ${wants}`);
      await page.unroute("**/api/check");
    }
  },
);
