/// <reference lib="dom" />
/**
 * Shows thumbnails of `recordfs view`: a grid of photos in Chromium, by bytes and time, also on a slow connection;
 * the time until another page opens while it loads; and the thumbnails a second that the server makes.
 *
 *   deno run -A bench/serve/photos.ts [--photos N] [--small N] [--rounds N] [--dir FOLDER] [--json]
 *
 * Needs Debian's `chromium`.
 *
 * @module
 */
import type { Browser, CDPSession, Page } from "playwright-core";
import sharp from "sharp";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { median } from "../support/rounds.ts";
import { Workspace } from "../support/workspace.ts";
import { packPictures, pictureName } from "./packed_pictures.ts";
import { requireChromium, startChromium, startView } from "./view_server.ts";

/** `serve_photos`: thumbnails of photos. */
export const servePhotosBenchmark: Benchmark = {
  name: "serve_photos",
  run: measure,
};

/** Number of different photos, which repeat in a cycle, each copy with a number of its own. */
const DIFFERENT = 5;
/** Window size in CSS pixels. */
const WINDOW = { width: 1600, height: 1000 };
/** Slow connection, in bits a second. */
const SLOW = 5_000_000;
/** Concurrent thumbnail requests, as in browsers. */
const CONNECTIONS = 6;

async function measure(args: string[]): Promise<Row[]> {
  const { numbers: { photos, small, rounds }, dir } = parseOptions(args, {
    photos: 100,
    small: 1000,
    rounds: 3,
  });
  requireChromium();
  await using workspace = await Workspace.create(dir, 4_000_000 * photos);
  progress(`serve_photos: packing ${photos} photos`);
  const large = workspace.file("photos.ffr");
  const bytes = await packPhotos(large, photos, 4000, 3000, 87);
  const others = workspace.file("small.ffr");
  await packPhotos(others, small, 640, 480, 92);
  const browser = await startChromium();
  workspace.defer(() => browser.close());
  const grids: Grid[] = [];
  const slow: Grid[] = [];
  const left: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`serve_photos: round ${round + 1} of ${rounds}`);
    grids.push(await withPage(browser, large, undefined, showGrid));
    slow.push(await withPage(browser, large, SLOW, showGrid));
    left.push(await withPage(browser, large, undefined, leaveGrid));
    rates.push(await thumbnailRate(others, small));
  }
  const of = (rounds: Grid[], what: keyof Grid) => rounds.map((r) => r[what]);
  const total = `${photos} photos of ${(bytes / 1e6).toFixed(1)} MB`;
  return [
    row(
      "grid: bytes sent",
      "MB",
      of(grids, "megabytes"),
      1.6,
      `${total}; scrolled through`,
    ),
    row("grid: first picture", "ms", of(grids, "first"), 500, "from the link"),
    row(
      "grid: all pictures in view",
      "ms",
      of(grids, "all"),
      3000,
      `${WINDOW.width} × ${WINDOW.height} pixels`,
    ),
    row(
      "grid at 5 Mbit/s: all pictures in view",
      "ms",
      of(slow, "all"),
      4000,
      "none cached",
    ),
    row(
      "leaving a grid: the next page",
      "ms",
      left,
      300,
      "from the link to its content, while pictures load",
    ),
    row(
      "thumbnails of 640 × 480",
      "/s",
      rates,
      150,
      `${CONNECTIONS} requests at a time, none cached`,
      true,
    ),
  ];
}

function row(
  measured: string,
  unit: string,
  rounds: readonly number[],
  limit: number,
  note: string,
  isLeast = false,
): Row {
  const value = median(rounds);
  const met = isLeast ? value >= limit : value <= limit;
  const promise = `${isLeast ? "≥" : "≤"} ${limit} ${unit}`;
  const target = { promise, met };
  return { measured, subject: "recordfs", value, unit, rounds, target, note };
}

/** Packs photos with noise, as from cameras; returns their mean size in bytes. */
async function packPhotos(
  archive: string,
  count: number,
  width: number,
  height: number,
  quality: number,
): Promise<number> {
  const different: Uint8Array[] = [];
  for (let i = 0; i < Math.min(DIFFERENT, count); i++) {
    const noise = sharp({
      create: {
        ...{ width, height, channels: 3, background: "#777" },
        noise: { type: "gaussian", mean: 110 + 10 * i, sigma: 40 },
      },
    });
    const soft = await noise.blur(1.2).raw().toBuffer();
    const raw = { raw: { width, height, channels: 3 as const } };
    different.push(await sharp(soft, raw).jpeg({ quality }).toBuffer());
  }
  await packPictures(archive, count, different);
  const bytes = different.reduce((sum, { length }) => sum + length, 0);
  return bytes / different.length;
}

/** Times of opening a grid. */
interface Grid {
  /** Milliseconds until the first image is drawn. */
  readonly first: number;
  /** Milliseconds until all images in view are drawn. */
  readonly all: number;
  /** MB that the server sent for all images, including those scrolled to. */
  readonly megabytes: number;
}

type Show<T> = (page: Page, session: CDPSession, link: string) => Promise<T>;

/** Runs `body` in a new window with a server whose cache is empty. */
async function withPage<T>(
  browser: Browser,
  archive: string,
  bitsPerSecond: number | undefined,
  body: Show<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: WINDOW });
  const page = await context.newPage();
  await using server = await startView(archive, "--no-cache");
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  if (bitsPerSecond !== undefined) {
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 20,
      downloadThroughput: bitsPerSecond / 8,
      uploadThroughput: bitsPerSecond / 8,
    });
  }
  try {
    return await body(page, session, server.link);
  } finally {
    await context.close();
  }
}

const showGrid: Show<Grid> = async (page, session, link) => {
  let bytes = 0;
  const pictures = new Set<string>();
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.url.includes("/files/")) pictures.add(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (pictures.has(requestId)) bytes += encodedDataLength;
  });
  // The page records it itself: a query takes its main thread 20 ms while it opens.
  await page.addInitScript(noteFirstPicture);
  const start = performance.now();
  await page.goto(link, { waitUntil: "commit" });
  await page.waitForTimeout(800);
  await page.waitForFunction(drawnInView, "all", { polling: 20 });
  const all = performance.now() - start;
  const first = await page.evaluate(() =>
    (globalThis as unknown as { firstPicture: number }).firstPicture
  );
  const scroller = page.locator(".scroller");
  for (;;) {
    const isAtEnd = await scroller.evaluate((scroller) => {
      scroller.scrollBy(0, scroller.clientHeight);
      return scroller.scrollTop + scroller.clientHeight >=
        scroller.scrollHeight - 1;
    });
    await page.waitForTimeout(200);
    await page.waitForFunction(drawnInView, "all", { polling: 20 });
    if (isAtEnd) break;
  }
  return { first, all, megabytes: bytes / 1e6 };
};

/** Opens another page as soon as the first image is drawn; returns the milliseconds that it took. */
const leaveGrid: Show<number> = async (page, _, link) => {
  await page.goto(link, { waitUntil: "commit" });
  await page.waitForFunction(drawnInView, "some", { polling: 20 });
  return await page.evaluate(async () => {
    const start = performance.now();
    location.hash = "#/?show=info";
    while (document.querySelector("main h2") === null) {
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - start;
  });
};

/** Runs in the page: records when the first image of a tile has loaded, in milliseconds since navigation started. */
function noteFirstPicture(): void {
  const onLoad = ({ target }: Event) => {
    if (!(target instanceof HTMLImageElement)) return;
    if (target.closest(".tile") === null) return;
    document.removeEventListener("load", onLoad, true);
    Object.assign(globalThis, { firstPicture: performance.now() });
  };
  document.addEventListener("load", onLoad, true);
}

/** Runs in the page: whether some or all images in view are drawn. */
function drawnInView(which: string): boolean {
  const scroller = document.querySelector(".scroller");
  if (scroller === null) return false;
  const { top, bottom } = scroller.getBoundingClientRect();
  const shown = [...document.querySelectorAll<HTMLElement>(".tile")]
    .filter((tile) => {
      const box = tile.getBoundingClientRect();
      return box.height > 0 && box.bottom > top && box.top < bottom;
    });
  const isDrawn = (tile: HTMLElement) =>
    tile.querySelector<HTMLImageElement>("img:not([hidden])")?.complete ===
      true;
  return shown.length > 0 &&
    (which === "all" ? shown.every(isDrawn) : shown.some(isDrawn));
}

/** Returns the thumbnails a second that a server makes of all photos in a container, with an empty cache. */
async function thumbnailRate(archive: string, count: number): Promise<number> {
  await using server = await startView(archive, "--no-cache");
  const names = Array.from(
    { length: count },
    (_, i) => pictureName(i),
  ).values();
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    for (const name of names) {
      const url = new URL(`files/${name}?thumbnail=256`, server.link);
      const response = await fetch(url);
      if (!response.ok) throw new Error(await response.text());
      await response.bytes();
    }
  }));
  return count / (performance.now() - start) * 1000;
}

if (import.meta.main) await runAlone(servePhotosBenchmark);
