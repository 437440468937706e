/** Truncated trees: how the page marks and expands them; and values without text. */
import assert from "node:assert/strict";
import { writeMsgpack } from "../../../../src/codecs/msgpack/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import { packed } from "../../../support/serve/served_folder.ts";
import { Shown, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import { rowTexts } from "../support/values.ts";

pageTest(
  "a tree shows its second key, the number of missing entries, and opens to its last value",
  async (browser) => {
    const text = `${"é😀".repeat(30_000)}end`;
    let deep: unknown = "bottom";
    for (let i = 0; i < 70; i++) deep = [deep];
    const many = Array.from({ length: 1250 }, (_, i) => [i]);
    using container = await open(packed({
      "a.json": JSON.stringify({ many, text, last: "seen" }),
      "deep.json": JSON.stringify(deep),
      "a.msgpack": Uint8Array.from(writeMsgpack({
        bytes: Uint8Array.from({ length: 3000 }, (_, i) => i % 256),
        none: null,
        empty: "",
      })),
    }));
    await using shown = await Shown.open(browser, container, "#/a.json");
    const { page } = shown;
    const tree = page.locator(".tree");
    await tree.getByText('last: "seen"').waitFor();

    await tree.locator("summary", { hasText: /^many: \[ 1,250 \]$/ }).click();
    const branch = tree.locator("details", { hasText: /^many: / }).locator(
      "> .branch",
    ).first();
    const entries = branch.locator("> details");
    const more = branch.locator("> .more button");
    for (let count = 100; count < 1250; count += 100) {
      await entries.nth(count - 1).waitFor();
      const left = (1250 - count).toLocaleString("en");
      assert.equal(
        await more.textContent(),
        `Show more of 1,250: ${left} left`,
      );
      await more.click();
    }
    await entries.nth(1249).waitFor();
    assert.equal(await more.count(), 0);
    const last = entries.nth(1249);
    await last.locator("summary").click();
    await last.getByText("0: 1249", { exact: true }).waitFor();

    const words = tree.locator(".leaf", { hasText: /^text: / });
    await words.getByRole("button", {
      name: /^Show more: [\d,]+ characters left$/,
    })
      .click();
    await words.locator(".string", { hasText: /end"$/ }).waitFor();
    assert.equal(
      await words.locator(".string").textContent(),
      JSON.stringify(text),
    );

    // Deeper than one response: a branch that was cut to nothing is requested when it is opened.
    await shown.go("#/deep.json");
    const bottom = tree.getByText('0: "bottom"');
    const lists = tree.locator("details");
    for (let depth = 2; depth < 70; depth++) {
      await lists.nth(depth).waitFor({ state: "attached" });
      const list = lists.nth(depth);
      if (await list.getAttribute("open") !== null) continue;
      await list.locator("> summary").click();
    }
    await bottom.waitFor();

    await shown.go("#/a.msgpack");
    await tree.getByRole("button", { name: "Show more: 3.0 KB left" }).click();
    await tree.getByRole("region", { name: "Bytes in hex" }).waitFor();
    assert.deepEqual(await textsOf(tree.locator(".constant")), ["null"]);
    assert.deepEqual(await textsOf(tree.locator(".string")), ['""']);
  },
);

pageTest(
  "numbers, nulls and empty texts of Parquet differ in rows and in statistics",
  async (browser) => {
    const { path } = parquetCase("types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const first = await rowTexts(page, "000000");
    assert.deepEqual([first.string, first.float16], ['""', "1.5"]);
    const second = await rowTexts(page, "000001");
    assert.deepEqual([second.float16, second.decimal9], ["-2", "-0.05"]);
    const third = await rowTexts(page, "000002");
    assert.deepEqual([third.string, third.float16, third.binary], [
      "null",
      "null",
      "null",
    ]);
    await shown.go("#/?show=statistics");
    const bars = page.getByRole("table", { name: "Label: bool" });
    assert.deepEqual(
      (await textsOf(bars.getByRole("rowheader"))).toSorted(),
      ["false", "null", "true"],
    );
    await bars.locator(".constant", { hasText: "null" }).waitFor();
    assert.ok(!(await page.locator("main").textContent())!.includes("[object"));
  },
);
