/// <reference lib="dom" />
/** Layout of the page: alignment of headings, labels and values, lines between rows, and gaps. */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { open } from "../../../src/open/open.ts";
import { goldenCase } from "../../support/golden.ts";
import { parquetCase } from "../../support/parquet/parquet_golden.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { linesOf, Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";
import { cellOf, columnsOf, rowOf } from "./support/values.ts";

const PHONE = { width: 390, height: 844 };

/** Returns the left and right edges of a text, in pixels. */
async function textEnds(of: Locator): Promise<readonly [number, number]> {
  return await of.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right } = range.getBoundingClientRect();
    return [left, right] as const;
  });
}

pageTest(
  "headings of columns are aligned with their numbers or texts",
  async (browser) => {
    const { path } = parquetCase("pictures");
    await using shown = await Shown.open(browser, path, "", {
      viewport: { width: 1600, height: 900 },
    });
    const { page } = shown;
    const cells = await rowOf(page, "000001");
    const heads = page.getByRole("columnheader");
    const keys = await columnsOf(page);
    const nameOf = (key: string) => heads.nth(keys.indexOf(key) + 1);
    const ends = async (key: string) => ({
      name: await textEnds(nameOf(key).locator("b")),
      type: await textEnds(nameOf(key).locator("small")),
      value: await textEnds(cells[key]!.locator("span")),
    });
    const label = await ends("label");
    assert.ok(Math.abs(label.name[1] - label.value[1]) < 1.5, `${label.name}`);
    assert.ok(Math.abs(label.type[1] - label.value[1]) < 1.5, `${label.type}`);
    const caption = await ends("caption");
    assert.ok(Math.abs(caption.name[0] - caption.value[0]) < 1.5);
    assert.ok(Math.abs(caption.type[0] - caption.value[0]) < 1.5);
  },
);

pageTest(
  "on a phone, the table of parts fits, and the path of a part wraps",
  async (browser) => {
    const path = `${REPOSITORY}test/golden/zip/python/t.zip`;
    await using shown = await Shown.open(browser, path, "#/?show=info", {
      viewport: PHONE,
      name: `/srv/${"a directory with a name/".repeat(4)}t.zip`,
    });
    const box = shown.page.locator(".records", {
      has: shown.page.getByRole("table", { name: "Parts" }),
    });
    const [has, wants] = await box.evaluate((box) => [
      box.clientWidth,
      box.scrollWidth,
    ]);
    assert.ok(wants! <= has!, `${wants} of ${has}`);
    const cells = await box.getByRole("cell").evaluateAll((cells) =>
      cells.map((cell) => cell.getBoundingClientRect().height)
    );
    assert.equal(cells.length, 3);
    // Numbers stay on one line, however long the path is.
    assert.equal(await linesOf(box.getByRole("cell").last()), 1);
  },
);

pageTest(
  "below the last row of a table there is only its edge, and facts fill the width on a phone",
  async (browser) => {
    using container = await open(packed({ "a.csv": "a,b\n1,2\n3,4\n" }));
    await using shown = await Shown.open(browser, container, "#/a.csv", {
      viewport: PHONE,
    });
    const { page } = shown;
    const last = page.locator(".records tbody tr").last().locator("> *");
    await last.first().waitFor();
    const borders = await last.evaluateAll((cells) =>
      cells.map((cell) => getComputedStyle(cell).borderBottomWidth)
    );
    assert.deepEqual(borders, ["0px", "0px", "0px"]);
    const facts = page.getByRole("complementary", { name: "Facts" });
    const { y, height } = (await facts.boundingBox())!;
    assert.equal(Math.round(y + height), PHONE.height);
  },
);

pageTest(
  "the heading of a missing entry is where other headings are",
  async (browser) => {
    using container = await open(packed({ "a.txt": "text" }));
    await using shown = await Shown.open(browser, container);
    const { page } = shown;
    for (const viewport of [PHONE, { width: 1600, height: 900 }]) {
      await page.setViewportSize(viewport);
      const tops: number[] = [];
      for (const hash of ["#/?show=check", "#/nothing/here"]) {
        await shown.go(hash);
        const heading = page.getByRole("heading", { level: 2 });
        tops.push((await heading.boundingBox())!.y);
      }
      assert.equal(tops[0], tops[1], `${viewport.width}`);
    }
  },
);

pageTest(
  "numbers with only one view are directly below their facts, without a gap",
  async (browser) => {
    const path = `${REPOSITORY}test/golden/tfrecord/examples/pictures.tfrecord`;
    await using shown = await Shown.open(browser, path, "#/000000", {
      sampleView: true,
    });
    const cell = cellOf(shown.page, "clash");
    const table = cell.locator(".numbers");
    await table.waitFor();
    const above = (await cell.locator("dl")
      .boundingBox())!;
    const gap = (await table.boundingBox())!.y - above.y - above.height;
    assert.ok(gap > 0 && gap < 24, `${gap}`);
    const borders = await table.locator("tbody tr").last().locator("> *")
      .evaluateAll((cells) =>
        cells.map((cell) => getComputedStyle(cell).borderBottomWidth)
      );
    assert.deepEqual(borders, ["0px", "0px"]);
  },
);

pageTest(
  "the keys of statistics are in the same table as those of a container, apart from what is above it",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const keys = page.getByRole("table", { name: "Keys" });
    const styleOf = (cell: Locator) =>
      cell.evaluate((cell) => {
        const { borderBottom, color, fontSize, padding, textAlign } =
          getComputedStyle(cell);
        return { borderBottom, color, fontSize, padding, textAlign };
      });
    const styles = async () =>
      await Promise.all(
        ["columnheader", "cell"].map((role) =>
          styleOf(keys.getByRole(role as "cell").first())
        ),
      );
    for (const width of [PHONE.width, 1024, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      await shown.go("#/?show=info");
      const ofInfo = await styles();
      await shown.go("#/?show=statistics");
      await page.getByText(/entries counted/).waitFor();
      assert.deepEqual(await styles(), ofInfo, `${width}`);
      const plots = await page.locator(".plots > .plot").evaluateAll((plots) =>
        plots.map((plot) => plot.getBoundingClientRect().bottom)
      );
      const heading = page.getByRole("heading", { name: "Keys" });
      const gap = (await heading.boundingBox())!.y - Math.max(...plots);
      assert.ok(gap >= 16, `${gap} pixels at ${width}`);
      const [has, wants] = await page.locator(".records").evaluate((box) => [
        box.clientWidth,
        box.scrollWidth,
      ]);
      assert.ok(wants! <= has!, `${wants} of ${has} at ${width}`);
    }
  },
);

pageTest(
  "messages about damage are aligned with the values of an entry",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.route("**/api/value?**", (route) => {
      const error = { code: "damaged", message: "The value is damaged." };
      return route.fulfill({ status: 422, json: { error } });
    });
    for (
      const [address, place] of [
        ["#/000003", ".cell-content"],
        ["#/000003/grid", ".content"],
      ] as const
    ) {
      await shown.go(address);
      const problem = page.locator(place).getByRole("alert").first();
      await problem.waitFor();
      const indent = await problem.evaluate((problem, place) => {
        const around = problem.closest(place)!;
        const { paddingLeft } = getComputedStyle(around);
        return problem.getBoundingClientRect().left -
          around.getBoundingClientRect().left - parseFloat(paddingLeft);
      }, place);
      assert.equal(indent, 0, address);
    }
  },
);
