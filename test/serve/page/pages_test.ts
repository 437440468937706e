/** Search, random samples, statistics, the check, and the container's facts. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { Shown, shownNames, textsOf } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";

/** Too many files to be searched before the test cancels. */
const MANY = 9_999_999;

/** Returns a value of a description list. */
async function fact(page: Page, name: string): Promise<string | null> {
  return await page.locator("dt", { hasText: new RegExp(`^${name}$`) }).first()
    .locator("xpath=following-sibling::dd[1]").textContent();
}

/** Clicks on Cancel as soon as the status contains `said`. Runs in the browser, since the server may be busy. */
async function cancelWhen(page: Page, said: string): Promise<void> {
  await page.waitForFunction((said) => {
    const status = document.querySelector("[role=status]")?.textContent ?? "";
    const cancel = [...document.querySelectorAll("button")].find((each) =>
      each.textContent === "Cancel"
    );
    if (cancel === undefined || !status.includes(said)) return false;
    cancel.click();
    return true;
  }, said);
}

/** Returns the names and counts of a bar chart. */
async function barsOf(
  page: Page,
  label: string,
): Promise<Record<string, number>> {
  const rows = page.getByRole("table", { name: label }).getByRole("row");
  const texts = await rows.evaluateAll((rows) =>
    rows.map((row) => [
      row.querySelector("th")!.textContent!,
      row.querySelector(".number")!.textContent!,
    ])
  );
  return Object.fromEntries(
    texts.map(([name, number]) => [name!, Number(number!.replaceAll(",", ""))]),
  );
}

pageTest(
  "a glob finds names at any depth, and paths if it contains a slash",
  async (browser) => {
    const { path, content } = goldenCase("ffrecord/packed_tree");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const search = page.getByRole("searchbox");
    for (
      const [glob, pattern] of [
        ["*.bin", /(^|\/)[^/]*\.bin$/],
        ["words/*", /^words\/[^/]+$/],
      ] as const
    ) {
      await search.fill(glob);
      await search.press("Enter");
      await page.getByRole("heading", { name: `Search: ${glob}` }).waitFor();
      await page.getByText(/found among/).waitFor();
      const expected = content.entries.map(({ path }) => path).filter((path) =>
        pattern.test(path)
      );
      assert.ok(expected.length > 1);
      assert.deepEqual(
        (await shownNames(page)).toSorted(),
        expected.toSorted(),
      );
    }
    await search.fill("no such name");
    await search.press("Enter");
    await page.getByText("Nothing is called no such name here.").waitFor();
  },
);

pageTest(
  "the document preloads exactly the requests of its first view, and none twice",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(1000));
    await shown.page.getByRole("option").first().waitFor();
    const asked = shown.requests.map((url) => url.slice(shown.origin.length));
    const [info, list] = ["info", "list"].map((name) =>
      asked.filter((url) => url.startsWith(`api/${name}`)).length
    );
    assert.deepEqual([info, list], [1, 1]);
  },
);

pageTest(
  "a search of ten million names shows matches at once, and can be cancelled",
  async (browser) => {
    await using shown = await Shown.open(
      browser,
      manyPictures(MANY),
      "#/?show=search&glob=*{5,nothing}.png&view=table",
    );
    const { page } = shown;
    await page.getByRole("row", { name: /0000005\.png/ }).waitFor();
    await shown.go("#/?show=search&glob=nothing");
    await cancelWhen(page, "looked at");
    await page.getByText(/cancelled after/).waitFor();
  },
);

pageTest("random samples are the same for the same seed", async (browser) => {
  const { path, content } = goldenCase("ffrecord/packed_tree");
  await using shown = await Shown.open(
    browser,
    path,
    "#/?show=random&seed=3&count=10&view=table",
  );
  const { page } = shown;
  const first = await shownNames(page);
  const names = new Set(
    content.entries.filter(({ type }) => type === "file").map(({ path }) =>
      path.replace("\n", "\\n").replace("\t", "\\t")
    ),
  );
  assert.equal(new Set(first).size, 10);
  for (const name of first) assert.ok(names.has(name), name);
  await page.getByRole("button", { name: "Draw again" }).click();
  await page.getByRole("spinbutton", { name: "Seed" }).and(
    page.locator("input"),
  ).waitFor();
  await page.waitForURL(/seed=4/);
  await shown.ready();
  await shown.go("#/?show=random&seed=3&count=10&view=table");
  assert.deepEqual(await shownNames(page), first);
});

pageTest("the address contains the seed of the samples", async (browser) => {
  const { path } = goldenCase("ffrecord/packed_tree");
  await using shown = await Shown.open(browser, path, "#/?show=random&seed=3");
  const { page } = shown;
  const seed = page.getByLabel("Seed");
  for (const [typed, drawn] of [["-5", "0"], ["-6", "0"], ["7.5", "7"]]) {
    await seed.fill(typed!);
    await seed.press("Enter");
    await page.waitForURL((url) => url.hash === `#/?show=random&seed=${drawn}`);
    await page.waitForFunction(
      (drawn) =>
        document.querySelector<HTMLInputElement>(".seed input")?.value ===
          drawn,
      drawn,
    );
  }
});

pageTest("statistics count what Python wrote", async (browser) => {
  const { path, content } = goldenCase("ffrecord/packed_tree");
  await using shown = await Shown.open(browser, path, "#/?show=statistics");
  const { page } = shown;
  await page.getByText(/entries counted/).waitFor();
  const files = content.entries.filter(({ type }) => type === "file");
  const directories = content.entries.length - files.length;
  assert.equal(await fact(page, "Files"), String(files.length));
  assert.equal(await fact(page, "Directories"), String(directories));
  const size = files.reduce((all, file) => all + file.size, 0);
  assert.equal(await fact(page, "Bytes"), `${(size / 1000).toFixed(1)} KB`);
  const bins = await textsOf(
    page.locator(".plot", { hasText: "Sizes of files" })
      .locator("title"),
  );
  const counts = bins.map((bin) => {
    const [, count, unit] = /: (\d+) (files?)$/.exec(bin)!;
    assert.equal(unit, count === "1" ? "file" : "files");
    return Number(count);
  });
  assert.equal(counts.reduce((all, each) => all + each), files.length);
});

pageTest(
  "statistics of videos have labels, frames and sizes of pictures",
  async (browser) => {
    const { path, content } = gulpCase("v2_gray_and_rgb");
    await using shown = await Shown.open(browser, path, "#/?show=statistics");
    const { page } = shown;
    await page.getByText(/entries counted/).waitFor();
    const labels = content.videos.map(({ meta }) =>
      (meta as { readonly label: string }).label
    );
    assert.deepEqual(
      await barsOf(page, "Label: label"),
      Object.fromEntries(
        labels.map((label) => [
          label,
          labels.filter((other) => other === label).length,
        ]),
      ),
    );
    const sizes = content.videos.flatMap(({ frames }) =>
      frames.map(({ width, height }) => `${width} × ${height}`)
    );
    const dots = await textsOf(page.locator(".scatter title"));
    assert.deepEqual(
      dots.toSorted(),
      [...new Set(sizes)].map((size) =>
        `${size}: ${sizes.filter((other) => other === size).length}`
      ).toSorted(),
    );
    await page.getByRole("img", { name: /^Frames a clip: 5 clips/ }).waitFor();
  },
);

pageTest(
  "statistics of ten million files grow while they are counted, and can be cancelled",
  async (browser) => {
    await using shown = await Shown.open(
      browser,
      manyPictures(MANY),
      "#/?show=statistics",
    );
    const { page } = shown;
    await cancelWhen(page, " entries");
    await page.getByText(/^Cancelled after/).waitFor();
  },
);

pageTest(
  "a check reports that all is sound, or names the damage",
  async (browser) => {
    for (
      const [name, says] of [
        ["ffrecord/packed_tree", /^All is sound/],
        ["ffrecord/bad_flip_sample", /^1 damaged location/],
      ] as const
    ) {
      const { path } = goldenCase(name);
      await using shown = await Shown.open(browser, path, "#/?show=check");
      const { page } = shown;
      await page.getByRole("button", { name: "Check everything" }).click();
      await page.getByText(says).waitFor();
      const damages = page.getByRole("list", { name: "Damages" }).locator("li");
      assert.equal(await damages.count(), name.includes("bad") ? 1 : 0);
    }
  },
);

pageTest(
  "the container's facts equal those of recordfs info",
  async (browser) => {
    const { path, content } = goldenCase("ffrecord/packed_tree");
    await using shown = await Shown.open(browser, path, "#/?show=info");
    const { page } = shown;
    assert.equal(await fact(page, "Format"), "ffrecord");
    assert.equal(
      await fact(page, "Files"),
      String(content.entries.filter(({ type }) => type === "file").length),
    );
    const parts = page.getByRole("table", { name: "Parts" }).getByRole("row");
    assert.equal(await parts.count(), 2);
  },
);

pageTest(
  "a check that has ended leaves no gap above its results",
  async (browser) => {
    const { path } = goldenCase("ffrecord/bad_flip_sample");
    await using shown = await Shown.open(browser, path, "#/?show=check");
    const { page } = shown;
    await page.getByRole("button", { name: "Check everything" }).click();
    const verdict = page.locator(".verdict");
    await verdict.waitFor();
    const above = (await verdict.boundingBox())!;
    const below = (await page.locator(".damages li").first().boundingBox())!;
    const gap = below.y - above.y - above.height;
    assert.ok(gap > 0 && gap < 24, `${gap} pixels`);
  },
);
