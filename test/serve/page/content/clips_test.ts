/** Videos in frames: drawing, playback and labels. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { imageCodec } from "../../../../src/codecs/image/mod.ts";
import { readNpy } from "../../../../src/codecs/numpy/mod.ts";
import { gulpCase } from "../../../support/gulp/gulp_golden.ts";
import { writeChunk } from "../../../support/gulp/make_gulp.ts";
import { assertClose } from "../../../support/images.ts";
import { fromFileUrl, withTempDir } from "../../../support/paths.ts";
import { pixelsOf, Shown, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";

const PICTURES = fromFileUrl(
  new URL("../../../golden/pictures/", import.meta.url),
);

/** Number of frames of the test clip, and the difference in brightness between consecutive frames. */
const FRAMES = 6;
const STEP = 40;

/** Waits until a frame is shown. */
async function frameShown(page: Page, index: number): Promise<void> {
  await page.locator(`canvas.frame[data-frame="${index}"]`).waitFor();
}

/** Returns the index of the frame on the canvas, by its brightness. */
async function brightness(page: Page): Promise<number> {
  const { data } = await pixelsOf(page, "canvas.frame");
  return Math.round(data[0]! / STEP);
}

async function writeGreys(dir: string): Promise<void> {
  const codec = await imageCodec();
  const frames = await Promise.all(
    Array.from({ length: FRAMES }, (_, i) =>
      codec.encode({
        data: new Uint8Array(32 * 24).fill(i * STEP),
        width: 32,
        height: 24,
        channels: 1,
      })),
  );
  writeChunk(dir, 0, [{ id: "greys", frames, meta: { label: "grey", n: 3 } }]);
}

pageTest(
  "frames are drawn like Pillow decodes them, each in its size",
  async (browser) => {
    await withTempDir(async (dir) => {
      const names = ["420", "422", "444_progressive", "gray"];
      const frames = names.map((name) =>
        Deno.readFileSync(`${PICTURES}${name}.jpg`)
      );
      writeChunk(dir, 0, [{ id: "pictures", frames }]);
      await using shown = await Shown.open(browser, dir, "#/pictures");
      for (const [i, name] of names.entries()) {
        await shown.go(`#/pictures?frame=${i}`);
        await frameShown(shown.page, i);
        const { shape, data } = readNpy(
          await Deno.readFile(`${PICTURES}${name}.npy`),
        );
        const drawn = await pixelsOf(shown.page, "canvas.frame");
        assert.deepEqual([drawn.height, drawn.width], shape.slice(0, 2), name);
        const channels = shape[2] ?? 1;
        assertClose(
          drawn.data.filter((_, at) => at % 4 < channels),
          data as Uint8Array,
          { mean: 1, max: 40 },
          name,
        );
      }
    });
  },
);

pageTest(
  "a clip plays all its frames in order, in a loop, and stops on request",
  async (browser) => {
    await withTempDir(async (dir) => {
      await writeGreys(dir);
      await using shown = await Shown.open(browser, dir, "#/greys");
      const { page } = shown;
      await frameShown(page, 0);
      assert.equal(await brightness(page), 0);
      // Records the drawn frame each time the page reports a frame as shown.
      await page.locator("canvas.frame").evaluate((canvas, step) => {
        const seen: number[] = [];
        Object.assign(globalThis, { seen });
        new MutationObserver(() => {
          const context = (canvas as HTMLCanvasElement).getContext("2d")!;
          seen.push(
            Math.round(context.getImageData(9, 9, 1, 1).data[0]! / step),
          );
        }).observe(canvas, { attributeFilter: ["data-frame"] });
      }, STEP);
      await page.getByRole("button", { name: "Play" }).click();
      const seen = () =>
        page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
      await page.waitForFunction(
        (most) =>
          (globalThis as unknown as { seen: number[] }).seen.length > most,
        2 * FRAMES,
      );
      await page.keyboard.press("Space");
      await page.getByRole("button", { name: "Play" }).waitFor();
      const played = await seen();
      assert.deepEqual(
        played,
        played.map((_, i) => (i + 1) % FRAMES),
      );
      const at = Number(
        await page.locator("canvas.frame").getAttribute("data-frame"),
      );
      assert.equal(await brightness(page), at);
      assert.equal(await shown.hash(), `#/greys?frame=${at}`);
    });
  },
);

pageTest(
  "a clip can be stepped and scrubbed, and its labels are next to it",
  async (browser) => {
    await withTempDir(async (dir) => {
      await writeGreys(dir);
      await using shown = await Shown.open(browser, dir, "#/greys?frame=2");
      const { page } = shown;
      await frameShown(page, 2);
      await page.keyboard.press(".");
      await frameShown(page, 3);
      assert.equal(await brightness(page), 3);
      await page.getByRole("button", { name: "One frame back" }).click();
      await frameShown(page, 2);
      const scrub = page.getByRole("slider", { name: "Frame" });
      await scrub.fill("5");
      await frameShown(page, 5);
      assert.equal(await brightness(page), 5);
      await page.keyboard.press(".");
      await frameShown(page, 0); // the first frame follows the last
      const player = page.getByRole("region", { name: "Player" });
      await player.getByRole("img", { name: `Frame 1 of ${FRAMES}` }).waitFor();
      const labels = page.getByRole("region", { name: "Labels" });
      assert.deepEqual(await textsOf(labels.locator(".leaf")), [
        'label: "grey"',
        "n: 3",
      ]);
      // The video's directory, as a mount shows it.
      await page.getByRole("link", { name: "Show as files" }).click();
      await page.getByRole("link", { name: "meta.json" }).waitFor();
    });
  },
);

pageTest(
  "clips that Python wrote are shown with all their frames",
  async (browser) => {
    for (const name of ["v1_gray_and_rgb", "v2_gray_and_rgb", "v1_odd_ids"]) {
      const { path, content } = gulpCase(name);
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const tiles = page.getByRole("option");
      assert.equal(await tiles.count(), content.videos.length);
      for (const index of [0, 2]) {
        const { frames } = content.videos[index]!;
        await tiles.nth(index).click();
        await frameShown(page, 0);
        const { width, height } = await pixelsOf(page, "canvas.frame");
        assert.deepEqual([width, height], [
          frames[0]!.width,
          frames[0]!.height,
        ]);
        await page.getByText(`1 / ${frames.length}`).waitFor();
        await page.keyboard.press("Escape");
        await tiles.nth(index).waitFor();
      }
    }
  },
);

pageTest(
  "a damaged frame is named, and the others are shown",
  async (browser) => {
    await withTempDir(async (dir) => {
      const good = await Deno.readFile(`${PICTURES}420.jpg`);
      const bad = new Uint8Array(400).fill(7);
      writeChunk(dir, 0, [{ id: "torn", frames: [good, bad, good] }]);
      await using shown = await Shown.open(browser, dir, "#/torn?frame=1");
      const { page } = shown;
      await page.getByText("Frame 2 of 3 is damaged.").waitFor();
      await page.keyboard.press(".");
      await frameShown(page, 2);
      assert.equal(await page.locator("canvas.frame").isVisible(), true);
    });
  },
);
