/** Accessibility of the page: names of controls, the accessibility tree, colour schemes and contrast. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { Shown } from "./support/browser.ts";
import { manyPictures } from "./support/many_files.ts";
import { pageTest } from "./support/page_test_of.ts";

/** Roles that need an accessible name. */
const NAMED = new Set([
  ...[
    "button",
    "link",
    "textbox",
    "searchbox",
    "slider",
    "spinbutton",
    "image",
  ],
  ...["option", "listbox", "grid", "progressbar", "dialog", "heading", "table"],
]);

/** Returns the nodes of the accessibility tree with such a role and no name. */
async function namelessIn(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  assert.ok(nodes.length > 20);
  return nodes.filter(({ ignored, role, name }) =>
    !ignored && NAMED.has(String(role?.value)) &&
    String(name?.value ?? "") === ""
  ).map(({ role, nodeId }) => `${role?.value} ${nodeId}`);
}

pageTest("every control and picture has a name", async (browser) => {
  for (
    const [path, hashes] of [
      [goldenCase("bags/types").path, [
        ...["", "#/?view=grid", "#/000009", "#/000009/grid", "#/000009/packed"],
        ...["#/000014/photo", "#/000009/raw", "#/?show=info"],
      ]],
      [gulpCase("v2_gray_and_rgb").path, [
        ...["", "#/mixed", "#/?show=statistics", "#/?show=check"],
        ...["#/?show=random", "#/?show=search&glob=*.json"],
      ]],
    ] as const
  ) {
    await using shown = await Shown.open(browser, path);
    for (const hash of hashes) {
      await shown.go(hash);
      await shown.page.waitForLoadState("networkidle");
      assert.deepEqual(await namelessIn(shown.page), [], hash);
    }
    await shown.page.keyboard.press("?");
    await shown.page.getByRole("dialog").waitFor();
    assert.deepEqual(await namelessIn(shown.page), [], "keys");
  }
});

pageTest("the accessibility tree contains what is shown", async (browser) => {
  const { path } = gulpCase("v2_gray_and_rgb");
  await using shown = await Shown.open(browser, path);
  const { page } = shown;
  await page.getByRole("option").first().waitFor();
  const tree = () => page.locator("body").ariaSnapshot();
  const grid = await tree();
  for (
    const part of [
      'navigation "Path"',
      "searchbox",
      'textbox "Go to index or path"',
      'button "Grid" [pressed]',
      'listbox "Entries of the container"',
      'option "gray, clip"',
      'option "wide, clip"',
    ]
  ) assert.ok(grid.includes(part), `${part} in\n${grid}`);
  await page.getByRole("option", { name: "mixed, clip" }).click();
  await page.getByRole("img", { name: "Frame 1 of 6" }).waitFor();
  const clip = await tree();
  for (
    const part of [
      'article "mixed"',
      'heading "mixed" [level=2]',
      'button "Next (→)"',
      'button "Play"',
      'slider "Frame"',
      'complementary "Facts"',
      "数据集",
    ]
  ) assert.ok(clip.includes(part), `${part} in\n${clip}`);
});

/** Returns the relative luminance of a colour, from 0 to 1, by WCAG 2. */
function lightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = colour.match(/[\d.]+/g)!.map(Number)
    .map((value) => value / 255)
    .map((value) =>
      value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

pageTest(
  "the page is light or dark as the reader prefers, and readable in both",
  async (browser) => {
    const grounds: number[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await using shown = await Shown.open(
        browser,
        manyPictures(50),
        "#/?view=table",
        {
          colorScheme,
        },
      );
      await shown.page.getByRole("row").nth(1).waitFor();
      const colours = await shown.page.evaluate(() => {
        const ground = getComputedStyle(document.body).backgroundColor;
        const texts = [
          ".name a",
          ".line .kind",
          ".said",
          ".head .name",
          ".choice [aria-pressed=true]",
        ];
        return {
          ground,
          texts: texts.map((text) =>
            getComputedStyle(document.querySelector(text)!).color
          ),
        };
      });
      const ground = lightness(colours.ground);
      grounds.push(ground);
      for (const [i, text] of colours.texts.entries()) {
        const [dark, light] = [ground, lightness(text)].sort((a, b) => a - b);
        // The minimum contrast of text in WCAG 2, level AA.
        assert.ok(
          (light! + 0.05) / (dark! + 0.05) >= 4.5,
          `${colorScheme} ${i}: ${text}`,
        );
      }
    }
    assert.ok(grounds[0]! > 0.9 && grounds[1]! < 0.1, String(grounds));
  },
);
