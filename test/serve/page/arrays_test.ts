/// <reference lib="dom" />
/** Arrays drawn as one or several pictures, with all of their elements. */
import assert from "node:assert/strict";
import { writeNpy } from "../../../src/codecs/numpy/mod.ts";
import type { NpyContent } from "../../../src/codecs/numpy/npy.ts";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import type { Page } from "playwright-core";
import { Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";

async function withArrays(
  arrays: Readonly<Record<string, NpyContent>>,
  body: (path: string) => Promise<void>,
): Promise<void> {
  const folder: Folder = Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => [name, writeNpy(array)]),
  );
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    await Deno.writeFile(path, ffrBytes(packedSamples(folder)));
    await body(path);
  });
}

/** Value of a channel in picture `t`, independent of the order of axes. */
const level = (t: number, y: number, x: number, channel: number) =>
  (t * 31 + y * 5 + x * 3 + channel * 70) % 256;

/** Returns pictures as an array whose axes have the order of `axes`: `thwc`, `tchw`, … */
function pictures(axes: string, sizes: Record<string, number>): NpyContent {
  const shape = [...axes].map((axis) => sizes[axis]!);
  const count = shape.reduce((all, size) => all * size, 1);
  const data = Uint8Array.from({ length: count }, (_, i) => {
    const at: Record<string, number> = { t: 0, h: 0, w: 0, c: 0 };
    for (const axis of [...axes].reverse()) {
      at[axis] = i % sizes[axis]!;
      i = Math.floor(i / sizes[axis]!);
    }
    return level(at.t!, at.h!, at.w!, at.c!);
  });
  return { data, shape };
}

/** Reads the size of the canvas and one pixel; all pixels would take minutes. */
async function pixel(
  page: Page,
  x: number,
  y: number,
): Promise<{ readonly size: number[]; readonly colour: number[] }> {
  return await page.locator("canvas.pixels").evaluate(
    (canvas, [x, y]) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const context = (canvas as HTMLCanvasElement).getContext("2d")!;
      const { data } = context.getImageData(x!, y!, 1, 1);
      return { size: [width, height], colour: [...data] };
    },
    [x, y],
  );
}

pageTest(
  "arrays of pictures are shown picture by picture, whatever the order of their axes",
  async (browser) => {
    const sizes = { t: 5, h: 6, w: 7, c: 3 };
    const arrays = {
      "thwc.npy": pictures("thwc", sizes),
      "tchw.npy": pictures("tchw", sizes),
      "thw.npy": pictures("thw", sizes),
      "hwc.npy": pictures("hwc", sizes),
      "chw.npy": pictures("chw", sizes),
      "hw.npy": pictures("hw", sizes),
    };
    await withArrays(arrays, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      for (const name of Object.keys(arrays)) {
        await shown.go(`#/${name}`);
        await page.getByRole("img", { name: /^Picture of/ }).waitFor();
        const slider = page.getByRole("slider", { name: "Picture" });
        const count = name.startsWith("t") ? sizes.t : 1;
        assert.equal(await slider.count(), count > 1 ? 1 : 0, name);
        for (let t = 0; t < count; t++) {
          if (t > 0) await slider.press("ArrowRight");
          if (count > 1) {
            await page.getByText(`${t + 1} of ${count}`, { exact: true })
              .waitFor();
          }
          const hasColours = name.includes("c");
          for (const [x, y] of [[0, 0], [6, 5], [2, 3]] as const) {
            const { size, colour } = await pixel(page, x, y);
            assert.deepEqual(size, [sizes.w, sizes.h], name);
            const wanted = [0, 1, 2].map((channel) =>
              level(t, y, x, hasColours ? channel : 0)
            );
            assert.deepEqual(
              colour,
              [...wanted, 255],
              `${name} ${t} ${x} ${y}`,
            );
          }
        }
      }
    });
  },
);

pageTest(
  "arrays that are sent in parts are drawn with all of their elements",
  async (browser) => {
    const [height, width] = [1500, 1600];
    const data = Float32Array.from(
      { length: height * width },
      (_, i) => i % width === 801 ? 1 : 0,
    );
    const clip = { t: 40, h: 200, w: 150, c: 3 };
    const arrays = {
      "map.npy": { data, shape: [height, width] },
      "clip.npy": pictures("thwc", clip),
      "huge.npy": {
        data: new Uint8Array(2100 * 2100),
        shape: [2100, 2100],
      },
    };
    await withArrays(arrays, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const canvas = page.locator("canvas.pixels");
      const full = (wide: number) =>
        page.locator(`canvas.pixels[width="${wide}"]`).waitFor();
      // A line one column wide, which a picture of every second column would miss.
      await shown.go("#/map.npy");
      await full(width);
      const [on, off] = [await pixel(page, 801, 0), await pixel(page, 800, 9)];
      assert.deepEqual(on.size, [width, height]);
      assert.deepEqual(on.colour, [253, 231, 37, 255]);
      assert.deepEqual(off.colour, [68, 1, 84, 255]);
      const parts = shown.requests.filter((url) => url.includes("first="));
      assert.ok(parts.length === 3, `${parts}`); // 9.6 MB in parts of 4 MiB
      assert.equal(await page.getByText(/^Drawn by every/).isVisible(), false);
      const box = (await canvas.boundingBox())!;
      await page.mouse.move(
        box.x + box.width * 801.5 / width,
        box.y + box.height / 2,
      );
      await page.getByText(/\[\d+, 801\] = 1/).waitFor();
      await page.getByRole("button", { name: "Picture" }).click();
      await full(width);
      const gray = await pixel(page, 801, 7);
      assert.deepEqual(gray.colour, [255, 255, 255, 255]);
      // The selected picture of a clip.
      await shown.go("#/clip.npy");
      await full(clip.w);
      const slider = page.getByRole("slider", { name: "Picture" });
      await slider.press("End");
      await page.getByText("40 of 40", { exact: true }).waitFor();
      await page.locator(".drawing:not([aria-busy])").waitFor();
      const last = await pixel(page, 149, 199);
      const wanted = [0, 1, 2].map((channel) => level(39, 199, 149, channel));
      assert.deepEqual(last.colour, [...wanted, 255]);
      // Arrays of more than 4 M elements are thinned, and a note says so.
      await shown.go("#/huge.npy");
      await page.getByText(/^Drawn by every/).waitFor();
    });
  },
);

pageTest(
  "a missing part is reported, and the page continues",
  async (browser) => {
    const data = Uint8Array.from({ length: 500 * 500 }, (_, i) => i);
    const arrays = { "a.npy": { data, shape: [500, 500] } };
    await withArrays(arrays, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      await page.route("**/api/value?*first=*", (route) =>
        route.fulfill({
          json: { kind: "array-part", start: 0, type: "uint8", base64: "" },
        }));
      await shown.go("#/a.npy");
      await page.getByRole("alert").filter({ hasText: "The array is cut" })
        .waitFor();
      await page.getByRole("button", { name: "Numbers" }).click();
      await page.getByRole("region", { name: "Numbers" }).waitFor();
    });
  },
);
