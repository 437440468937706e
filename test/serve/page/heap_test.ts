/// <reference lib="dom" />
/** Memory of the page: entries that were paged through are not retained. */
import assert from "node:assert/strict";
import { LONG } from "../../support/long.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { open } from "../../../src/open/open.ts";
import { Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";
import { photoOf } from "./support/photos.ts";

/** Entries to page through before the first measurement, so that modules and caches are loaded. */
const WARM = 100;
const ENTRIES = LONG ? 500 : 200;
/** Maximum growth of the heap between the measurements, in bytes. */
const MOST_GROWTH = 3 << 20;

pageTest(
  "paging through entries does not grow the heap",
  async (browser) => {
    const photo = await photoOf(200, 150, 80);
    const json = new TextEncoder().encode(
      JSON.stringify(
        Array.from({ length: 2000 }, (_, i) => ({ i, text: `${i}` })),
      ),
    );
    const files = Object.fromEntries(
      Array.from({ length: ENTRIES + 1 }, (_, i) => [
        `${String(i).padStart(4, "0")}.${i % 2 === 0 ? "json" : "jpg"}`,
        i % 2 === 0 ? json : photo,
      ]),
    );
    const bytes = Uint8Array.from(ffrBytes(packedSamples(files)));
    using container = await open(bytes);
    await using shown = await Shown.open(
      browser,
      container,
      "#/0000.json?at=0",
    );
    const { page } = shown;
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send("HeapProfiler.collectGarbage");
      return (await session.send("Runtime.getHeapUsage")).usedSize;
    };
    let before = 0;
    for (let i = 1; i <= ENTRIES; i++) {
      await page.keyboard.press("ArrowRight");
      const name = `${String(i).padStart(4, "0")}.`;
      await page.waitForFunction(
        (name) => document.title.startsWith(name),
        name,
      );
      if (i === WARM) before = await heap();
    }
    const growth = await heap() - before;
    assert.ok(growth < MOST_GROWTH, `${growth} bytes more of ${before}`);
  },
);
