/// <reference lib="dom" />
/** Thumbnails: which requests a grid, rows and a clip send, and which are cancelled when a view is left. */
import assert from "node:assert/strict";
import { Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { photoOf } from "./support/photos.ts";
import { open } from "../../../src/open/open.ts";

const PHOTOS = 24;

/** Packs a folder of photos of some 700 KB each. */
async function photoFolder(): Promise<Uint8Array<ArrayBuffer>> {
  const photo = await photoOf(2000, 1500, 90);
  assert.ok(photo.length > 400_000, `${photo.length} bytes`);
  const names = Array.from({ length: PHOTOS }, (_, i) => `${i + 10}.jpg`);
  const files = Object.fromEntries(names.map((name) => [name, photo]));
  return Uint8Array.from(ffrBytes(packedSamples(files)));
}

pageTest(
  "a grid of photos fetches thumbnails, and a photo itself only when it is opened",
  async (browser) => {
    using container = await open(await photoFolder());
    await using shown = await Shown.open(browser, container);
    const { page } = shown;
    let bytes = 0;
    page.on("requestfinished", async (request) => {
      if (!request.url().includes("/files/")) return;
      bytes += (await request.sizes()).responseBodySize;
    });
    await page.reload();
    const pictures = page.locator(".tile img:not([hidden])");
    await pictures.nth(7).waitFor();
    for (let i = 0; i < 6; i++) {
      await page.locator(".scroller").press("PageDown");
      await page.waitForTimeout(100);
    }
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLElement>(".tile:not([hidden])")]
        .every((tile) => tile.querySelector("img:not([hidden])") !== null)
    );
    const asked = shown.requests.filter((url) => url.includes("/files/"));
    assert.ok(asked.length >= PHOTOS);
    for (const url of asked) assert.match(url, /\?thumbnail=256$/);
    const each = bytes / PHOTOS;
    assert.ok(each > 0 && each < 40_000, `${each} bytes each`); // of 256 × 192 pixels
    const size = await pictures.first().evaluate((image) => {
      const { naturalWidth, naturalHeight } = image as HTMLImageElement;
      return [naturalWidth, naturalHeight];
    });
    assert.deepEqual(size, [256, 192]);

    await shown.go("#/10.jpg");
    await page.locator("img.picture").waitFor();
    await page.waitForFunction(() =>
      document.querySelector<HTMLImageElement>("img.picture")!.naturalWidth ===
        2000
    );
  },
);

pageTest(
  "a high-resolution screen fetches larger thumbnails",
  async (browser) => {
    using container = await open(await photoFolder());
    await using shown = await Shown.open(browser, container, "", {
      deviceScaleFactor: 2,
    });
    await shown.page.locator(".tile img:not([hidden])").first().waitFor();
    const asked = shown.requests.filter((url) => url.includes("/files/"));
    for (const url of asked) assert.match(url, /\?thumbnail=512$/);
  },
);

pageTest(
  "pictures of an abandoned grid are cancelled, and do not delay the next page",
  async (browser) => {
    using container = await open(await photoFolder());
    await using shown = await Shown.open(browser, container);
    const { page } = shown;
    // Holds the responses of pictures, on all six connections of the browser.
    const held: (() => void)[] = [];
    await page.route(/thumbnail=/, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.abort();
    });
    const failed: string[] = [];
    page.on("requestfailed", (request) => {
      failed.push(`${request.failure()?.errorText} ${request.url()}`);
    });
    await page.reload();
    await page.locator(".tile").first().waitFor();
    await page.waitForFunction(() =>
      document.querySelectorAll(".tile img[src]").length > 6
    );
    const start = performance.now();
    await shown.go("#/?show=info");
    await page.locator("main h2").first().waitFor();
    const took = performance.now() - start;
    await page.waitForTimeout(100);
    const cancelled = failed.filter((line) =>
      /ERR_ABORTED.*thumbnail/.test(line)
    );
    assert.ok(cancelled.length >= 6, failed.join("\n"));
    for (const resolve of held) resolve();
    assert.ok(took < 5000, `${took} ms`);
    await page.unrouteAll({ behavior: "wait" });
  },
);
