/// <reference lib="dom" />
/**
 * Layout on phones, small and large screens: nothing is squeezed, shortened without a tooltip, or too small to touch.
 */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { linesOf, Shown, textsOf } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";

const text = (of: string) => new TextEncoder().encode(of);

/** Widths of a phone, a small and a large screen, in pixels. */
const WIDTHS = [390, 1024, 1600] as const;

const DIRECTORIES = [
  "train",
  "validation",
  "n02084071_dog_with_a_long_name",
  "another level",
];
const FILE = `${"0123456789abcdef".repeat(4)}_annotation.txt`;

/** Packs a folder of long names and wide tables, and calls `body` with its path. */
async function withLong(body: (path: string) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    const names = Array.from({ length: 60 }, (_, i) => `c${i}`);
    const row = names.map((_, i) => i % 2 === 0 ? "some words of a cell" : i);
    const table = `${names.join(",")}\n${row.join(",")}\n`;
    const wide = `a,b\n${"word ".repeat(100)},${"x".repeat(900)}\n`;
    const [a, b, c, d] = DIRECTORIES as [string, string, string, string];
    const path = `${dir}/a_container_with_a_name.ffr`;
    await Deno.writeFile(
      path,
      ffrBytes(packedSamples({
        [a]: { [b]: { [c]: { [d]: { [FILE]: text("x") } } } },
        "many.csv": text(table),
        "wide.csv": text(wide),
      })),
    );
    await body(path);
  });
}

pageTest(
  "breadcrumbs that do not fit are in a menu, and none is squeezed",
  async (browser) => {
    await withLong(async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const url = [...DIRECTORIES, FILE].map(encodeURIComponent).join("/");
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await shown.go(`#/${url}`);
        const path = page.getByRole("navigation", { name: "Path" });
        const links = path.locator("li:visible > a");
        for (const link of await links.all()) {
          const [has, wants] = await link.evaluate((link) => [
            link.clientWidth,
            link.scrollWidth,
          ]);
          const name = await link.textContent();
          assert.ok(
            has! >= Math.min(56, wants!),
            `${name} at ${width}: ${has}`,
          );
          assert.equal(await link.getAttribute("title") !== null, true);
        }
        const seen = await textsOf(links);
        assert.equal(seen[0], "a_container_with_a_name.ffr");
        assert.equal(seen.at(-1), FILE);
        const hidden = DIRECTORIES.filter((name) => !seen.includes(name));
        if (width > 390 && hidden.length === 0) continue;
        await path.getByRole("button", { name: "Directories between" }).click();
        const menu = path.getByRole("group", { name: "Directories between" });
        assert.deepEqual(await textsOf(menu.getByRole("link")), hidden);
        const box = (await menu.boundingBox())!;
        assert.ok(box.x >= 0 && box.x + box.width <= width);
        await page.keyboard.press("Escape"); // closes the menu, but not the entry
        await menu.waitFor({ state: "hidden" });
        await page.getByRole("heading", { name: FILE }).waitFor();
        await path.getByRole("button", { name: "Directories between" }).click();
        await menu.getByRole("link", { name: hidden.at(-1)! }).click();
        await page.locator(`.crumbs a[aria-current]`).filter({
          hasText: hidden.at(-1)!,
        }).waitFor();
      }
    });
  },
);

pageTest(
  "the name of the current entry is shortened last: only if the first one has its minimum width",
  async (browser) => {
    await withLong(async (path) => {
      const name = "a_container_that_has_a_longer_name.ffr";
      await using shown = await Shown.open(browser, path, "", { name });
      const { page } = shown;
      const crumbs = page.locator(".crumbs li:visible > a");
      const widthsOf = (crumb: Locator) =>
        crumb.evaluate((crumb) => [crumb.clientWidth, crumb.scrollWidth]);
      const directory = DIRECTORIES.map(encodeURIComponent).join("/");
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        for (const url of ["", directory]) {
          await shown.go(`#/${url}`);
          const [has, wants] = await widthsOf(crumbs.last());
          const isFull = url === "" &&
            await crumbs.last().evaluate((crumb) =>
              crumb.getBoundingClientRect().right >=
                crumb.closest("nav")!.getBoundingClientRect().right - 1
            );
          assert.ok(has === wants || isFull, `${url} at ${width}: ${has}`);
        }
        await shown.go(`#/${directory}/${FILE}`);
        const [has, wants] = await widthsOf(crumbs.last());
        assert.ok(has! <= wants!);
        const [first] = await widthsOf(crumbs.first());
        assert.ok(has === wants || first === 72, `${first} at ${width}`);
      }
    });
  },
);

pageTest(
  "next to a long key, a value has its type and size in one line",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.route("**/api/entry?path=000003", async (route) => {
      const response = await route.fetch();
      const message = await response.json();
      for (const cell of message.view.cells) {
        cell.key = `${"a_long_key_".repeat(4)}${cell.key}`;
        cell.size = 123_400;
      }
      await route.fulfill({ response, json: message });
    });
    await shown.go("#/000003");
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const size = page.locator(".cell .size").first();
      assert.equal(await size.textContent(), "123 KB");
      assert.equal(await linesOf(size), 1, `${width}`);
      const type = await page.locator(".cell .type").first().boundingBox();
      assert.ok(type!.width >= 40, `${type!.width} at ${width}`);
    }
  },
);

pageTest(
  "a shortened title is shown in full on hover, and wraps on a phone",
  async (browser) => {
    await withLong(async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const url = [...DIRECTORIES, FILE].map(encodeURIComponent).join("/");
      const title = page.getByRole("heading", { level: 2 });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await shown.go(`#/${url}`);
        assert.equal(await title.getAttribute("title"), FILE);
        const [isCut, lines] = await title.evaluate((title) => [
          title.scrollWidth > title.clientWidth + 1 ||
          title.scrollHeight > title.clientHeight + 1,
          Math.round(
            title.clientHeight / parseFloat(getComputedStyle(title).lineHeight),
          ),
        ]);
        if (width === 390) assert.deepEqual([isCut, lines], [false, 3]);
        else assert.equal(lines, 1);
        await shown.go(`#/${DIRECTORIES.map(encodeURIComponent).join("/")}`);
        const link = page.locator(".line .name a:visible").first();
        assert.equal(await link.getAttribute("title"), FILE);
      }
    });
  },
);

pageTest(
  "tables scroll in their own box: no cell is a column of letters, and none is wider than readable text",
  async (browser) => {
    await withLong(async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        for (const name of ["many.csv", "wide.csv"]) {
          await shown.go(`#/${name}`);
          const where = `${name} at ${width}`;
          await page.getByRole("cell").first().waitFor();
          const cells = await page.getByRole("cell").evaluateAll((cells) =>
            cells.map((cell) => cell.getBoundingClientRect().width)
          );
          assert.ok(cells.length > 1);
          assert.ok(Math.min(...cells) >= 56, `${where}: ${cells}`);
          const scrolls = await page.getByRole("region", { name: "Rows" })
            .evaluate((box) => box.scrollWidth > box.clientWidth);
          // Columns share the space that is left when all cells fit.
          assert.ok(
            Math.max(...cells) <= 446 || !scrolls,
            `${where}: ${cells}`,
          );
          if (name === "many.csv") assert.ok(scrolls, where);
          const all = await page.evaluate(() =>
            document.documentElement.scrollWidth
          );
          assert.equal(all, width, where);
        }
      }
    });
  },
);

pageTest(
  "on a phone, touch targets are 40 pixels high, on every kind of page",
  async (browser) => {
    const bags = goldenCase("bags/types").path;
    const gulp = gulpCase("v2_gray_and_rgb");
    const clip = encodeURIComponent(gulp.content.videos[0]!.id);
    const pages = [
      [bags, ["", "?view=table", "?view=grid", "000009", "000009/grid"]],
      [bags, ["?show=statistics", "?show=search&glob=*", "?show=random"]],
      [bags, ["?show=check", "?show=info", "nothing"]],
      [gulp.path, ["", clip]],
    ] as const;
    for (const [path, addresses] of pages) {
      await using shown = await Shown.open(browser, path, "", {
        viewport: { width: 390, height: 844 },
      });
      const { page } = shown;
      for (const address of addresses) {
        await shown.go(`#/${address}`);
        await page.locator("main :is(a, button, p):visible").first().waitFor();
        const small = await page.evaluate(() =>
          [...document.querySelectorAll<HTMLElement>(
            "a, button, summary, input, [role=separator]",
          )].filter((each) =>
            each.checkVisibility({ visibilityProperty: true })
          )
            .map((each) => ({
              height: Math.round(each.getBoundingClientRect().height),
              what: `${each.localName}.${each.className} ${each.textContent}`,
            })).filter(({ height }) => height > 0 && height < 40)
        );
        assert.deepEqual(small, [], address);
        const width = await page.evaluate(() =>
          document.documentElement.scrollWidth
        );
        assert.equal(width, 390, address);
      }
    }
  },
);

pageTest(
  "the fields of the header fit their content, also a range of a million datapoints",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    await page.route("**/api/info", async (route) => {
      const response = await route.fetch();
      const info = await response.json();
      info.samples.length = 1_281_167;
      await route.fulfill({ response, json: info });
    });
    await page.reload();
    const fields = [
      [page.getByLabel("Go to index or path"), "Go to datapoint 0–1,281,166"],
      [page.getByLabel("Search by glob"), "Search: *.jpg"],
    ] as const;
    for (const width of WIDTHS) {
      for (const [field, says] of fields) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await field.getAttribute("placeholder"), says);
        const [has, wants] = await field.evaluate((field) => {
          const input = field as HTMLInputElement;
          const { font, paddingLeft, paddingRight } = getComputedStyle(input);
          const pen = document.createElement("canvas").getContext("2d")!;
          pen.font = font;
          const { width } = pen.measureText(input.placeholder);
          const padding = parseFloat(paddingLeft) + parseFloat(paddingRight);
          return [input.clientWidth - padding, width] as const;
        });
        assert.ok(has >= wants, `${says} at ${width}: ${has} of ${wants}`);
      }
    }
  },
);

/** Returns the left and right edges of an element's text, in pixels. */
function lettersOf(element: Element): readonly [number, number] {
  const range = document.createRange();
  range.selectNodeContents(element);
  const { left, right } = range.getBoundingClientRect();
  return [Math.round(left), Math.round(right)];
}

pageTest(
  "headings of a table's columns are above their content",
  async (browser) => {
    await using shown = await Shown.open(
      browser,
      manyPictures(1200),
      "#/?view=table",
    );
    const { page } = shown;
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await page.locator(".line:not(.head):visible .name a").first().waitFor();
      const edges = async (line: string) => [
        (await page.locator(`${line} .number`).first().evaluate(lettersOf))[1],
        (await page.locator(`${line} .name`).first()
          .locator("xpath=descendant-or-self::*[not(*)][text()]")
          .evaluate(lettersOf))[0],
        (await page.locator(`${line} .size`).first().evaluate(lettersOf))[1],
      ];
      const [head, first] = [
        await edges(".line.head"),
        await edges(".line:not(.head):visible"),
      ];
      for (const [i, edge] of head.entries()) {
        assert.ok(
          Math.abs(edge - first[i]!) <= 1,
          `${width}: ${head} ${first}`,
        );
      }
    }
  },
);

pageTest(
  "stacked elements share their left edge",
  async (browser) => {
    const { path } = goldenCase("bags/types");
    for (const width of WIDTHS) {
      await using shown = await Shown.open(browser, path, "", {
        viewport: { width, height: 844 },
      });
      const { page } = shown;
      const crumbs = await page.locator(".crumbs a").first().evaluate(
        lettersOf,
      );
      const views = [
        ["?show=info", ".page h2"],
        ["?show=check", ".page .note"],
        ["nothing", ".page .problem"],
        ["000003", width === 390 ? "aside dt" : ".cell"],
      ] as const;
      for (const [address, place] of views) {
        await shown.go(`#/${address}`);
        const first = page.locator(place).first();
        await first.waitFor();
        const left = (await first.boundingBox())!.x +
          await first.evaluate((first) =>
            parseFloat(getComputedStyle(first).borderLeftWidth)
          );
        // On wide screens, pages of text are centered.
        const edge = width === 1600 && address !== "000003"
          ? (width - 1120) / 2 + 16
          : crumbs[0];
        assert.ok(Math.abs(left - edge) <= 1, `${address} ${width}: ${left}`);
      }
    }
  },
);

pageTest(
  "a small picture keeps its shape, without bands above and below",
  async (browser) => {
    await withTempDir(async (dir) => {
      const photo = await Deno.readFile(
        `${REPOSITORY}/test/golden/pictures/420.jpg`,
      );
      const path = `${dir}/a.ffr`;
      await Deno.writeFile(path, ffrBytes(packedSamples({ "a.jpg": photo })));
      await using shown = await Shown.open(browser, path, "#/a.jpg");
      const { page } = shown;
      await page.getByText("131 × 97 pixels").waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const box = (await page.locator("img.picture").boundingBox())!;
        assert.ok(box.width > 131 && box.height > 97); // enlarged
        assert.ok(box.width <= width);
        const wide = box.width / box.height;
        assert.ok(Math.abs(wide - 131 / 97) < 0.02, `${width}: ${wide}`);
      }
    });
  },
);
