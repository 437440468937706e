/// <reference lib="dom" />
/** Rows as high as their texts, and columns that are resized, hidden and reordered. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { goldenCase } from "../../support/golden.ts";
import {
  COLUMNS,
  entryOf,
  NAME,
  sampleOf,
  shardOf,
} from "../../support/mds/make_mds.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { Shown, textsOf } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";
import { columnsOf } from "./support/values.ts";

/** Writes a dataset of numbers and texts, and calls `body` with its directory. */
async function withTexts(
  count: number,
  textOf: (index: number) => string,
  body: (path: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const samples = Array.from(
      { length: count },
      (_, i) => sampleOf(i, textOf(i)),
    );
    const shard = shardOf(samples);
    const shards = [entryOf(NAME, shard.length, count, COLUMNS)];
    const index = JSON.stringify({ shards, version: 2 });
    await Deno.writeFile(`${dir}/${NAME}`, shard);
    await Deno.writeTextFile(`${dir}/index.json`, index);
    await body(dir);
  });
}

interface SeenRow {
  readonly number: number;
  readonly top: number;
  readonly bottom: number;
}

/** Returns the rows in the document from top to bottom, with their number in column `n`. */
async function seenRows(page: Page): Promise<readonly SeenRow[]> {
  return await page.locator(".scroller").evaluate((scroller) =>
    [...scroller.querySelectorAll<HTMLElement>(".canvas > .row")]
      .filter((row) => row.style.display !== "none")
      .map((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        const number = row.querySelector(".number")?.textContent ?? "NaN";
        return { number: Number(number.replaceAll(",", "")), top, bottom };
      })
      .filter(({ number }) => Number.isFinite(number))
      .sort((a, b) => a.top - b.top)
  );
}

/** Asserts that rows are in order, without overlaps or gaps. */
async function assertStacked(page: Page, where: string): Promise<void> {
  const rows = await seenRows(page);
  assert.ok(rows.length > 2, where);
  rows.reduce((above, row) => {
    assert.equal(row.number, above.number + 1, where);
    assert.ok(Math.abs(row.top - above.bottom) <= 1, `${where}: ${row.number}`);
    return row;
  });
}

async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  });
}

const LINES = [1, 3, 7, 30];
const linesOf = (index: number) => LINES[index % LINES.length]!;
const textOf = (index: number) =>
  Array.from({ length: linesOf(index) }, (_, i) => `line ${i}`).join("\n");

pageTest(
  "rows are as high as their texts up to a limit, beyond which a link leads to the whole text",
  async (browser) => {
    await withTexts(200, textOf, async (path) => {
      await using shown = await Shown.open(browser, path, "#/?view=rows");
      const { page } = shown;
      await page.locator(".row .words").first().waitFor();
      await settled(page);
      await assertStacked(page, "at first");
      const heights = (await seenRows(page)).map(({ number, top, bottom }) =>
        [linesOf(number), bottom - top] as const
      );
      for (const [lines, height] of heights) {
        const text = Math.min(8, lines) * 20;
        const padding = height - text;
        assert.ok(padding >= 12 && padding <= 24, `${lines}: ${height}`);
      }
      const more = page.locator(".row .more");
      assert.deepEqual(
        await textsOf(more),
        heights.flatMap(([lines]) => lines > 8 ? ["more"] : []),
      );
      await more.first().click();
      await page.getByRole("region", { name: "Text" }).filter({
        hasText: "line 29",
      }).waitFor();
      await page.goBack();
      await page.locator(".row .words").first().waitFor();
      // Arrow keys reach every row, and scroll it into view completely.
      for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowDown");
      await assertStacked(page, "by keys");
      const active = page.locator(".row.active");
      assert.equal(await active.locator(".number").textContent(), "29");
      const [box, place] = await Promise.all([
        active.boundingBox(),
        page.locator(".scroller").boundingBox(),
      ]);
      assert.ok(box!.y + box!.height <= place!.y + place!.height + 1);
      await page.keyboard.press("End");
      await page.locator(".row.active .number", { hasText: "199" }).waitFor();
      await assertStacked(page, "at the end");
      const last = (await seenRows(page)).at(-1)!;
      assert.ok(Math.abs(last.bottom - place!.y - place!.height) <= 2);
    });
  },
);

pageTest(
  "very many rows of different heights scroll by wheel and scrollbar, without gaps",
  async (browser) => {
    const count = LONG ? 1_000_000 : 200_000; // both exceed the maximum height of an element
    await withTexts(
      count,
      (i) => i % 3 === 0 ? textOf(i) : "x",
      async (path) => {
        await using shown = await Shown.open(browser, path, "#/?view=rows");
        const { page } = shown;
        await page.locator(".row .words").first().waitFor();
        const box = (await page.locator(".scroller").boundingBox())!;
        await page.mouse.move(box.x + 200, box.y + 300);
        const wheel = async (by: number, where: string) => {
          await settled(page);
          const before = await seenRows(page);
          await page.mouse.wheel(0, by);
          await page.waitForTimeout(300);
          await settled(page);
          await assertStacked(page, where);
          const after = await seenRows(page);
          // Rows that stay visible have moved by the distance of the wheel.
          const moves = after.flatMap(({ number, top }) => {
            const same = before.find((row) => row.number === number);
            return same === undefined ? [] : [same.top - top];
          });
          assert.ok(moves.length > 0, where);
          for (const move of moves) {
            assert.ok(Math.abs(move - by) <= 2, `${where}: ${move} for ${by}`);
          }
        };
        for (let i = 0; i < 5; i++) await wheel(240, `down ${i}`);
        for (let i = 0; i < 4; i++) await wheel(-240, `up ${i}`);
        for (const part of [0.3, 0.8]) {
          await page.locator(".scroller").evaluate((scroller, part) => {
            const { scrollHeight, clientHeight } = scroller;
            scroller.scrollTop = (scrollHeight - clientHeight) * part;
          }, part);
          await page.waitForFunction(
            (wanted) =>
              [...document.querySelectorAll<HTMLElement>(".row")].some(
                (row) => {
                  const text = row.querySelector(".number")?.textContent ?? "";
                  const number = Number(text.replaceAll(",", ""));
                  return row.style.display !== "none" &&
                    row.querySelector(".number") !== null &&
                    Math.abs(number - wanted) < 10_000;
                },
              ),
            part * count,
          );
          await page.waitForTimeout(300);
          for (const by of [-200, -200, 200]) await wheel(by, `at ${part}`);
        }
        await page.keyboard.press("End");
        await page.locator(".row.active .number", { hasText: /9,?999$/ })
          .waitFor();
        await settled(page);
        for (const by of [-200, -200, 100]) await wheel(by, "at the end");
        assert.ok(await page.locator(".canvas > *").count() < 60);
      },
    );
  },
);

/** Returns the widths of the header's columns, in pixels. */
async function widths(page: Page): Promise<number[]> {
  return await page.getByRole("columnheader").evaluateAll((heads) =>
    heads.map((head) => (head as HTMLElement).offsetWidth)
  );
}

pageTest(
  "columns can be dragged, also by keys, hidden and ordered, and the address keeps that",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path, "#/?view=rows");
    const { page } = shown;
    const natural = await columnsOf(page);
    const [first, second, third] = natural as [string, string, string];
    const edge = page.getByRole("separator", {
      name: `Width of ${first}`,
      exact: true,
    });
    const before = (await widths(page))[1]!;
    const box = (await edge.boundingBox())!;
    await page.mouse.move(box.x + 4, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 94, box.y + 12, { steps: 4 });
    await page.mouse.up();
    assert.equal((await widths(page))[1], before + 90);
    const cell = page.locator(".canvas .row:visible").first()
      .getByRole("gridcell").nth(1);
    assert.equal((await cell.boundingBox())!.width, before + 90);
    await edge.focus();
    await page.keyboard.press("ArrowLeft");
    assert.equal((await widths(page))[1], before + 74);
    assert.equal(await edge.getAttribute("aria-valuenow"), `${before + 74}`);

    const open = page.getByRole("button", { name: "Columns" });
    await open.focus();
    await page.keyboard.press("Enter");
    const menu = page.getByRole("group", { name: "Columns" });
    await menu.getByRole("checkbox", { name: second, exact: true }).focus();
    await page.keyboard.press("Space");
    const wanted = natural.filter((key) => key !== second);
    assert.deepEqual(await columnsOf(page), wanted);
    await menu.getByRole("button", { name: `Move ${third} to the left` })
      .focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter"); // the focus is still on the button
    wanted.splice(wanted.indexOf(third), 1);
    assert.deepEqual(await columnsOf(page), [third, ...wanted]);
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    const chosen = [await columnsOf(page), await widths(page)] as const;
    const rows = await textsOf(
      page.locator(".canvas .row:visible").first().getByRole("gridcell"),
    );
    assert.equal(rows.length, natural.length);

    // The address restores the columns after a reload, and after an entry was opened and closed.
    await page.reload();
    await shown.ready();
    assert.deepEqual([await columnsOf(page), await widths(page)], chosen);
    await page.locator(".row .name a").first().click();
    await page.getByRole("article").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader").first().waitFor();
    assert.deepEqual([await columnsOf(page), await widths(page)], chosen);

    await open.click();
    await menu.getByRole("button", { name: "Reset" }).click();
    assert.deepEqual(await columnsOf(page), natural);
    assert.doesNotMatch(await shown.hash(), /order|hide|width/);
  },
);

pageTest(
  "addresses with missing columns, or invalid widths, show rows all the same",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path, "#/?view=rows");
    const { page } = shown;
    const natural = await columnsOf(page);
    const key = encodeURIComponent(encodeURIComponent(natural[0]!));
    for (
      const query of [
        "order=__proto__,constructor,%00&hide=nothing,,@&width=x:1,:,@@:5",
        `order=${"a,".repeat(5000)}&width=${key}:99999`,
        `width=${key}:0,${key}:-5,${key}:1e9`,
      ]
    ) {
      await shown.go(`#/?view=rows&${query}`);
      assert.deepEqual(await columnsOf(page), natural);
      const all = await widths(page);
      assert.ok(Math.min(...all) >= 56 && Math.max(...all) <= 1200, `${all}`);
    }
  },
);
