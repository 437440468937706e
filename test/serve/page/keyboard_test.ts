/// <reference lib="dom" />
/** Keyboard control, visible focus, and addresses that restore a view. */
import assert from "node:assert/strict";
import { type Image, imageCodec } from "../../../src/codecs/image/mod.ts";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { Shown } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";

pageTest(
  "arrow keys move among tiles, Enter opens one, and Escape returns to it",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(200));
    const { page } = shown;
    const active = page.getByRole("option", { selected: true });
    const activeName = async () => {
      await active.waitFor();
      return await active.locator(".caption").textContent();
    };
    await page.keyboard.press("ArrowDown");
    assert.equal(await activeName(), "0000000.png");
    await page.keyboard.press("ArrowRight");
    assert.equal(await activeName(), "0000001.png");
    const columns = await page.locator(".tile:visible").evaluateAll((tiles) => {
      const tops = tiles.map((tile) =>
        Math.round(tile.getBoundingClientRect().top)
      );
      return tops.filter((top) => top === Math.min(...tops)).length;
    });
    await page.keyboard.press("ArrowDown");
    const below = `${String(1 + columns).padStart(7, "0")}.png`;
    assert.equal(await activeName(), below);
    const focused = await page.locator(".scroller").getAttribute(
      "aria-activedescendant",
    );
    assert.equal(
      await page.locator(`[id="${focused}"] .caption`).textContent(),
      below,
    );
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: below }).waitFor();
    await page.keyboard.press("ArrowRight");
    const next = `${String(2 + columns).padStart(7, "0")}.png`;
    await page.getByRole("heading", { name: next }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await activeName(), next);
    await page.keyboard.press("End");
    assert.equal(await activeName(), "0000199.png");
    await page.keyboard.press("Home");
    assert.equal(await activeName(), "0000000.png");
  },
);

pageTest(
  "Escape returns from an entry to the list that it was opened from: matches, random samples, or a directory",
  async (browser) => {
    await using shown = await Shown.open(browser, manyPictures(200));
    const { page } = shown;
    const first = page.getByRole("option").first();
    for (
      const list of ["show=search&glob=*5.png&view=grid", "show=random&seed=3"]
    ) {
      await shown.go(`#/?${list}`);
      await first.click();
      await page.getByRole("button", { name: "Close" }).waitFor();
      const heading = page.getByRole("heading", { level: 2 });
      const name = await heading.textContent();
      await page.keyboard.press("ArrowRight");
      await heading.filter({ hasNotText: name! }).waitFor();
      await page.reload();
      await shown.ready();
      await page.getByRole("button", { name: "Close" }).waitFor();
      await page.keyboard.press("Escape");
      await first.waitFor();
      assert.equal(await shown.hash(), `#/?${list}`);
    }
    await shown.go("#/");
    await first.click();
    await page.getByRole("button", { name: "Close" }).waitFor();
    await page.keyboard.press("Escape");
    await first.waitFor();
    assert.match(await shown.hash(), /^#\/(\?at=\d+)?$/);
  },
);

pageTest(
  "? shows the keys, and each of them has its effect",
  async (browser) => {
    const { path } = goldenCase("ffrecord/packed_tree");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    for (
      const says of [
        "Search by a glob",
        "Random samples",
        "Statistics",
        "Check",
      ]
    ) {
      await help.getByText(says, { exact: true }).waitFor();
    }
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("v");
    assert.equal(await shown.hash(), "#/?view=grid");
    await page.getByRole("listbox").waitFor();
    await page.keyboard.press("+");
    await page.keyboard.press("-");
    for (
      const [key, title] of [
        ["s", "Statistics"],
        ["r", "Random samples"],
        ["c", "Check"],
      ] as const
    ) {
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 2, name: title }).waitFor();
    }
    await page.keyboard.press("i");
    await page.getByText("packed folder").waitFor();
    await page.keyboard.press("u");
    await page.getByRole("link", { name: "big_53.bin" }).or(
      page.getByRole("option", { name: /^big_53/ }),
    ).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("s r c i ?"); // typed text does not trigger commands
    assert.equal(
      await page.getByRole("searchbox").inputValue(),
      "s r c i ?",
    );
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.type("words/two words");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "two words", exact: true }).waitFor();
    await page.getByRole("navigation", { name: "Path" })
      .getByRole("link", { name: "words", exact: true }).click();
    await page.getByText(/entries$/).waitFor();
  },
);

pageTest(
  "an index leads to its sample, and an invalid one is reported",
  async (browser) => {
    const { path, content } = gulpCase("v2_gray_and_rgb");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const jump = page.getByRole("textbox", { name: /^Go to/ });
    await jump.fill("3");
    await jump.press("Enter");
    await page.getByRole("heading", { name: content.videos[3]!.id }).waitFor();
    await jump.fill("1000");
    await jump.press("Enter");
    await page.getByRole("alert").first().waitFor();
    await jump.fill("no/such/path");
    await jump.press("Enter");
    const alerts = page.getByRole("alert");
    await alerts.nth(1).waitFor();
    // Alerts do not overlap.
    const [first, second] = await alerts.evaluateAll((alerts) =>
      alerts.map((alert) => alert.getBoundingClientRect())
    );
    assert.ok(first!.bottom <= second!.top);
    assert.ok(second!.bottom <= page.viewportSize()!.height);
  },
);

pageTest(
  "#N leads to that entry of the directory, from its rows and from its entries",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path, "#/?view=table");
    const { page } = shown;
    const go = async (to: string) => {
      await page.keyboard.press("g");
      await page.keyboard.type(to);
      await page.keyboard.press("Enter");
    };
    const selected = page.getByRole("row", { selected: true });
    await go("#2");
    const name = (await selected.getByRole("link").textContent())!;
    // The description of the datapoints is the first entry.
    assert.equal(name, "000001");
    await page.getByRole("button", { name: "Rows" }).click();
    await page.getByRole("columnheader", { name: "Datapoint" }).waitFor();
    await go("#5");
    await selected.filter({ hasText: "000004" }).waitFor();
    await go("#2");
    await selected.filter({ hasText: name }).waitFor();
    await shown.go("#/000005");
    await go("#2");
    await page.getByRole("heading", { level: 2, name }).waitFor();
    await go("2"); // a plain number is a datapoint's index
    await page.getByRole("heading", { level: 2, name: "000002" }).waitFor();
    await go("#0");
    await page.getByRole("heading", { level: 2, name: "spec.json" }).waitFor();
    await go("#1,000");
    await page.getByText("The directory has no entry 1,000").waitFor();
  },
);

pageTest(
  "addresses restore the same view, also with the browser's buttons",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.getByRole("columnheader").first().waitFor();
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("columnheader", { name: "Kind" }).waitFor();
    const table = page.url();
    await page.getByRole("row", { name: /000003/ }).getByRole("link").click();
    await page.getByRole("heading", { name: "000003" }).waitFor();
    await page.goBack();
    await page.getByRole("columnheader", { name: "Kind" }).waitFor();
    assert.equal(page.url(), table);
    await page.goForward();
    await page.getByRole("heading", { name: "000003" }).waitFor();
    const datapoint = page.url();
    await page.reload();
    await shown.ready();
    await page.getByRole("heading", { name: "000003" }).waitFor();
    assert.equal(page.url(), datapoint);
    for (const hash of ["#/nothing", "#/%2e%2e/api/info", "#/%zz"]) {
      await shown.go(hash);
      await page.locator("main > *").first().waitFor();
    }
    await shown.go("#/nothing/here");
    await page.getByRole("alert").waitFor();
    await page.getByRole("link", { name: "To the start" }).click();
    await page.getByRole("columnheader").first().waitFor();
  },
);

pageTest("the title names what is shown", async (browser) => {
  const { path } = goldenCase("ffrecord/packed_tree");
  await using shown = await Shown.open(browser, path, "", { name: "My data" });
  assert.equal(await shown.page.title(), "My data");
  await shown.go("#/big_53.bin");
  assert.equal(await shown.page.title(), "big_53.bin – My data");
});

/** Returns the contrast ratio of two CSS colours `rgb(r, g, b)`, by WCAG 2. */
function contrast(one: string, other: string): number {
  const [a, b] = [one, other].map((colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g)!.map((byte) => {
      const share = Number(byte) / 255;
      return share <= 0.04045
        ? share / 12.92
        : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b! + 0.05;
  });
  return Math.max(a!, b!) / Math.min(a!, b!);
}

pageTest(
  "the focus is visible in a list used by keyboard, in light and in dark",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    for (const colorScheme of ["light", "dark"] as const) {
      await using shown = await Shown.open(browser, path, "", { colorScheme });
      const { page } = shown;
      for (
        const [view, place, part] of [
          ["grid", ".tile.active .thumbnail", ""],
          ["table", ".line.active", "::after"],
          ["rows", ".row.active", "::after"],
        ] as const
      ) {
        await shown.go(`#/?view=${view}`);
        await page.locator(".canvas > :visible").first().waitFor();
        // Before an entry is active, the list itself shows the focus ring.
        await page.keyboard.press("Shift");
        const list = await page.locator(".place").evaluate((place) =>
          getComputedStyle(place, "::after").outlineStyle
        );
        assert.equal(list, "solid", view);
        await page.keyboard.press("ArrowDown");
        const [style, width, colour, ground] = await page.locator(place)
          .evaluate((active, part) => {
            const of = getComputedStyle(active, part);
            const { backgroundColor } = getComputedStyle(document.body);
            return [
              of.outlineStyle,
              of.outlineWidth,
              of.outlineColor,
              backgroundColor,
            ] as const;
          }, part);
        assert.equal(style, "solid", `${view} ${colorScheme}`);
        assert.ok(Number.parseFloat(width) >= 2);
        assert.ok(contrast(colour, ground) >= 3, `${colour} on ${ground}`);
      }
    }
  },
);

/**
 * Counts the pixels in the top, bottom and left edges of a picture, 2 pixels wide, that differ from its first pixel.
 */
function otherAtEdges(
  { width, height, channels, data }: Image,
): readonly number[] {
  const colour = (x: number, y: number) => {
    const at = (y * width + x) * channels;
    return data.subarray(at, at + 3).toHex();
  };
  const across = Array.from({ length: width }, (_, x) => x);
  const down = Array.from({ length: height }, (_, y) => y);
  const frame = colour(0, 0);
  return [
    across.flatMap((x) => [colour(x, 0), colour(x, 1)]),
    across.flatMap((x) => [colour(x, height - 1), colour(x, height - 2)]),
    down.flatMap((y) => [colour(0, y), colour(1, y)]),
  ].map((edge) => edge.filter((each) => each !== frame).length);
}

pageTest(
  "the frame of the focused row is complete, wherever its table is scrolled to",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path, "#/?view=rows");
    const { page } = shown;
    const codec = await imageCodec();
    await page.locator(".canvas > :visible").first().waitFor();
    await page.keyboard.press("ArrowDown");
    const row = page.locator(".row.active");
    for (const left of [0, 200]) {
      await page.locator(".scroller").evaluate((scroller, left) => {
        scroller.scrollLeft = left;
        return new Promise(requestAnimationFrame);
      }, left);
      const name = (await row.locator(".name").boundingBox())!;
      const { y, height } = (await row.boundingBox())!;
      // The fixed name column and the columns next to it, without the line below.
      const width = name.width + 300;
      const clip = { x: name.x, y, width, height: height - 1 };
      const picture = await codec.decode(
        new Uint8Array(await page.screenshot({ clip })),
      );
      assert.deepEqual(otherAtEdges(picture), [0, 0, 0], `${left}`);
      // Columns scrolled below the name are not visible through it.
      const isName = await row.locator(".name").evaluate((name) => {
        const { left, top, height } = name.getBoundingClientRect();
        const at = document.elementFromPoint(left + 8, top + height / 2);
        return name.contains(at);
      });
      assert.ok(isName, `${left}`);
    }
  },
);
