/** Lists of search results and random samples: as rows, and entry by entry. */
import assert from "node:assert/strict";
import { open } from "../../../src/open/open.ts";
import { goldenCase } from "../../support/golden.ts";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { Shown, shownNames, textsOf } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";
import { columnsOf } from "./support/values.ts";

const TYPES = fromFileUrl(
  new URL("../../golden/granular/types/data", import.meta.url),
);

pageTest(
  "arrow keys move through drawn or found entries, also after a reload, and every press counts",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(500));
    const { page } = shown;
    const heading = page.getByRole("heading", { level: 2 });
    const named = (name: string) =>
      heading.getByText(name, { exact: true }).waitFor();
    for (
      const list of [
        "show=random&seed=5&count=30&view=table",
        "show=search&glob=*7.png",
      ]
    ) {
      await shown.go(`#/?${list}`);
      const names = await shownNames(page);
      await page.getByRole("link", { name: names[2]!, exact: true }).click();
      await named(names[2]!);
      await page.keyboard.press("ArrowRight");
      await named(names[3]!);
      await page.reload();
      await named(names[3]!);
      await page.locator(".where", { hasText: /^4 of / }).waitFor();
      for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowRight");
      await named(names[10]!);
      // Keys pressed while responses are slow are not lost.
      await page.route("**/api/entry*", async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await route.continue().catch(() => {}); // the page may have cancelled the request
      });
      for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowLeft");
      await named(names[4]!);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.getByRole("button", { name: "Previous" }).click();
      await named(names[3]!);
      for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowLeft");
      await named(names[0]!);
      await page.locator(".where", { hasText: /^1 of / }).waitFor();
      assert.ok(
        await page.getByRole("button", { name: "Previous" }).isDisabled(),
      );
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: names[0]!, exact: true }).waitFor();
      assert.equal(await shown.hash(), `#/?${list}`);
    }
  },
);

pageTest(
  "the entries before and after one are prefetched, with their pictures",
  async (browser) => {
    await using shown = await Shown.open(
      browser,
      manyPictures(50),
      "#/0000010.png",
    );
    const { page } = shown;
    const isAsked = (part: string) =>
      shown.requests.some((url) => url.includes(part));
    for (const name of ["0000009.png", "0000011.png"]) {
      for (const what of [`api/entry?path=${name}`, `files/${name}`]) {
        for (let i = 0; !isAsked(what); i++) {
          assert.ok(i < 200, what);
          await page.waitForTimeout(25);
        }
      }
    }
    const before = shown.requests.length;
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "0000011.png" }).waitFor();
    await page.locator(".where", { hasText: "12 of 50" }).waitFor();
    const again = shown.requests.slice(before).filter((url) =>
      url.includes("api/entry?path=0000011.png")
    );
    assert.deepEqual(again, []);
  },
);

pageTest("folders between entries are skipped", async (browser) => {
  using container = await open(packed({
    "a.txt": "a",
    b: { "x.txt": "x" },
    c: { "y.txt": "y" },
    "d.txt": "d",
  }));
  await using shown = await Shown.open(browser, container, "#/a.txt");
  const { page } = shown;
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("heading", { name: "d.txt" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("heading", { name: "a.txt" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("heading", { name: "d.txt" }).waitFor();
});

pageTest(
  "random samples and matches have rows if they are datapoints",
  async (browser) => {
    await using shown = await Shown.open(browser, TYPES, "#/");
    const { page } = shown;
    const columns = await columnsOf(page);
    for (const list of ["show=random&seed=1", "show=search&glob=0*"]) {
      await shown.go(`#/?${list}`);
      await page.getByRole("button", { name: "Rows" }).click();
      for (const key of columns) {
        await page.getByRole("columnheader").locator("b").getByText(key, {
          exact: true,
        }).waitFor();
      }
      assert.deepEqual((await columnsOf(page)).toSorted(), columns.toSorted());
      const row = page.getByRole("row", { name: /^00000/ }).first();
      await row.getByRole("gridcell").nth(columns.length).waitFor();
      const name = await row.getByRole("link").textContent();
      await row.getByRole("link").click();
      await page.getByRole("heading", { level: 2, name: name! }).waitFor();
      await page.reload();
      await page.getByRole("heading", { level: 2, name: name! }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Rows", pressed: true }).waitFor();
    }
    const { path } = goldenCase("ffrecord/packed_tree");
    await using files = await Shown.open(browser, path, "#/?show=random");
    await files.page.getByRole("button", { name: "Table" }).waitFor();
    assert.equal(
      await files.page.getByRole("button", { name: "Rows" }).count(),
      0,
    );
  },
);

pageTest(
  "counts are of samples, and not of files that describe them",
  async (browser) => {
    await using shown = await Shown.open(browser, TYPES, "#/?view=table");
    const { page } = shown;
    const [said] = await textsOf(page.locator(".said"));
    const count = Number(
      /^(\d+) datapoints and 1 other entry$/.exec(said!)?.[1],
    );
    assert.ok(count > 1, said);
    await shown.go("#/000000");
    await page.locator(".where", { hasText: `1 of ${count}` }).waitFor();
    assert.ok(
      await page.getByRole("button", { name: "Previous" }).isDisabled(),
    );
    await page.keyboard.press("ArrowRight");
    await page.locator(".where", { hasText: `2 of ${count}` }).waitFor();
    await shown.go("#/?view=rows");
    assert.deepEqual(await textsOf(page.locator(".said")), [
      `${count} datapoints`,
    ]);
    // A tar with several files per sample counts files, through which the arrow keys move.
    await withTempDir(async (dir) => {
      const members = ["0.txt", "0.cls", "1.txt", "1.cls"].map((name) => ({
        name,
        data: name,
      }));
      await Deno.writeFile(`${dir}/a.tar`, tarBytes(members));
      await using tar = await Shown.open(browser, `${dir}/a.tar`, "#/0.cls");
      await tar.page.locator(".where", { hasText: "2 of 4" }).waitFor();
    });
  },
);
