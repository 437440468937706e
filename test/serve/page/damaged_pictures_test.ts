/// <reference lib="dom" />
/** Truncated pictures, which browsers draw partly or not at all without an error: the page marks them as damaged. */
import assert from "node:assert/strict";
import sharp from "sharp";
import { open } from "../../../src/open/open.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";
import { photoOf } from "./support/photos.ts";

const pictureFile = (name: string) =>
  Deno.readFile(
    fromFileUrl(new URL(`../../golden/pictures/${name}`, import.meta.url)),
  );

/** Returns a PNG of noise, whose last byte is needed for decoding. */
async function noisePng(): Promise<Uint8Array> {
  const noise = { type: "gaussian", mean: 120, sigma: 40 } as const;
  const create = { width: 120, height: 90, channels: 3, background: "#777" };
  const made = sharp({ create: { ...create, channels: 3, noise } });
  return Uint8Array.from(await made.png().toBuffer());
}

/** Returns the first part of a file. */
function cut(file: Uint8Array, part: number): Uint8Array {
  return file.subarray(0, Math.floor(part * file.length));
}

pageTest(
  "a truncated picture is marked as damaged, small or large, and an intact one is not",
  async (browser) => {
    const large = await photoOf(1200, 900, 90);
    assert.ok(large.length > 120_000, `${large.length} bytes`);
    const jpeg = await pictureFile("420.jpg");
    const progressive = await pictureFile("444_progressive.jpg");
    const png = await noisePng();
    const cutFiles = {
      "head.jpg": cut(jpeg, 0.3),
      "half.jpg": cut(jpeg, 0.6),
      "large.jpg": cut(large, 0.5),
      "end.jpg": large.subarray(0, large.length - 40),
      "progressive.jpg": cut(progressive, 0.5),
      "half.png": cut(png, 0.5),
      "end.png": png.subarray(0, png.length - 300),
    };
    const whole = {
      "whole.jpg": jpeg,
      "whole large.jpg": large,
      "whole progressive.jpg": progressive,
      "whole.png": png,
    };
    using container = await open(packed({ ...cutFiles, ...whole }));
    await using shown = await Shown.open(browser, container, "#/?view=grid");
    const { page } = shown;
    for (const name of Object.keys(cutFiles)) {
      await shown.go(`#/${name}`);
      await page.locator(".picture-view .problem", { hasText: "is damaged" })
        .waitFor().catch((cause) => {
          throw new Error(name, { cause });
        });
      assert.equal(await page.locator(".problem:visible").count(), 1, name);
    }
    for (const name of Object.keys(whole)) {
      const answer = page.waitForResponse(/api\/picture/);
      await shown.go(`#/${encodeURIComponent(name)}`);
      assert.deepEqual(await (await answer).json(), { damage: null });
      await page.getByText(/\d+ × \d+ pixels/).waitFor();
      assert.equal(await page.locator(".problem").count(), 0, name);
    }
    // A list marks pictures whose thumbnail cannot be made completely.
    await shown.go("#/?view=grid");
    const tile = (name: string) =>
      page.locator(".tile").filter({
        has: page.getByText(name, { exact: true }),
      });
    for (const name of Object.keys(cutFiles)) {
      if (name.startsWith("end.")) continue;
      await tile(name).locator(".undrawn").waitFor();
    }
    for (const name of Object.keys(whole)) {
      await tile(name).locator("img:not([hidden])").waitFor();
      assert.equal(await tile(name).locator(".undrawn").count(), 0, name);
    }
  },
);

pageTest(
  "a file that is not a picture is marked as not drawn, and has no sizes to choose",
  async (browser) => {
    using container = await open(packed({
      "none.jpg": "no picture",
      "none.png": "\0\x01\x02",
      "signature.png": Uint8Array.fromHex("89504e470d0a1a0a00000000"),
    }));
    await using shown = await Shown.open(browser, container);
    const { page } = shown;
    for (const name of ["none.jpg", "none.png"]) {
      await shown.go(`#/${name}`);
      await page.getByText("It can't be drawn").waitFor();
      assert.equal(await page.getByRole("button", { name: "1:1" }).count(), 0);
    }
    await shown.go("#/signature.png");
    await page.locator(".problem", { hasText: "The picture is damaged: " })
      .waitFor();
  },
);

pageTest(
  "an empty file with a picture's name is empty, and not damaged",
  async (browser) => {
    using container = await open(packed({ "a.jpg": "", "b.png": "none" }));
    await using shown = await Shown.open(browser, container, "#/?view=grid");
    const { page } = shown;
    const tile = (name: string) => page.locator(".tile", { hasText: name });
    await tile("b.png").locator(".undrawn").waitFor();
    assert.equal(await tile("a.jpg").getAttribute("data-state"), "hollow");
    assert.equal(await tile("a.jpg").locator(".undrawn").count(), 0);
    assert.equal(
      shown.requests.filter((url) => url.includes("files/a.jpg")).length,
      0,
    );
  },
);
