// deno-lint-ignore-file no-console -- console output of the page, which Playwright receives
/// <reference lib="dom" />
/**
 * Opens the page of `recordfs view` over a packed folder of a million images in Chromium: measures the time to its
 * first entries and its first image, and the browser's main-thread tasks while scrolling through everything.
 *
 *   deno run -A bench/serve/page.ts [--files N] [--rounds N] [--dir FOLDER] [--json]
 *
 * Needs Debian's `chromium`, and 1,500 bytes of disk a file.
 *
 * @module
 */
import type { Browser, Page } from "playwright-core";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import { makePackedPictures } from "./packed_pictures.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { median } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { requireChromium, startChromium, startView } from "./view_server.ts";

/** `serve_page`: the page over a million images. */
export const servePageBenchmark: Benchmark = {
  name: "serve_page",
  run: measure,
};

/** Promised times, in milliseconds. */
const FIRST_PAGE = 300;
const FIRST_PICTURE = 500;
const TASK = 50;

/** Console message of the page when its first image has loaded. */
const FIRST_PICTURE_SAID = "the first picture is there";

/** Shorter tasks are timers and messages, which are frequent. */
const LEAST_TASK = 1;

/** Turns of the wheel, and moves of the scrollbar, a round. */
const TURNS = 200;
const JUMPS = 60;

/** Times of opening the page, in milliseconds. */
interface Opening {
  readonly firstPage: number;
  readonly firstPicture: number;
}

/** Main-thread tasks while scrolling: the 99th percentile, and the number of tasks that took too long. */
interface Scrolling {
  readonly task: number;
  readonly longTasks: number;
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers: { files, rounds }, dir } = parseOptions(args, {
    files: 1_000_000,
    rounds: 5,
  });
  requireChromium();
  await using workspace = await Workspace.create(dir, 1500 * files);
  progress(`serve_page: packing ${files} pictures`);
  const archive = workspace.file("pictures.ffr");
  await makePackedPictures(archive, files, await imageCodec());
  const browser = await startChromium();
  workspace.defer(() => browser.close());
  await run(["sync"]); // flushes pending writes, which are not the page's
  const measured: Opening[] = [];
  const scrolled: Scrolling[] = [];
  // Not alternating: while the next window opens, the scrolled one is still being closed and its trace written.
  for (let round = 0; round < rounds; round++) {
    progress(`serve_page: opening ${round + 1} of ${rounds}`);
    measured.push(
      await withPage(
        browser,
        archive,
        (_, opening) => Promise.resolve(opening),
      ),
    );
  }
  for (let round = 0; round < rounds; round++) {
    progress(`serve_page: scrolling ${round + 1} of ${rounds}`);
    scrolled.push(
      await withPage(
        browser,
        archive,
        (page) => measureScrolling(browser, page),
      ),
    );
  }
  const longTasks = scrolled.map((round) => round.longTasks);
  return [
    row(
      `first entries of ${files} on the screen`,
      measured.map(({ firstPage }) => firstPage),
      FIRST_PAGE,
      "from asking for the page of a server that has just started, in a window that is open",
    ),
    row(
      "first picture on the screen",
      measured.map(({ firstPicture }) => firstPicture),
      FIRST_PICTURE,
      "from the link that recordfs view prints",
    ),
    row(
      "scrolling: task of the main thread, 99th percentile",
      scrolled.map(({ task }) => task),
      TASK,
      `of tasks from ${LEAST_TASK} ms on; over ${TASK} ms: ${
        longTasks.join(", ")
      }`,
    ),
  ];
}

function row(
  measured: string,
  rounds: readonly number[],
  most: number,
  note: string,
): Row {
  const value = median(rounds);
  const target = { promise: `< ${most} ms`, met: value < most };
  return {
    measured,
    subject: "recordfs",
    value,
    unit: "ms",
    rounds,
    target,
    note,
  };
}

/** Runs `body` with the page, in an open window that has loaded nothing yet, with a server of its own. */
async function withPage<T>(
  browser: Browser,
  archive: string,
  body: (page: Page, opening: Opening) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  await page.addInitScript(watchEntries, FIRST_PICTURE_SAID);
  await using server = await startView(archive);
  try {
    const { link } = server;
    // The page reports it itself: a query by Playwright takes its main thread 20 ms while it opens.
    const picture = page.waitForEvent("console", {
      predicate: (message) => message.text() === FIRST_PICTURE_SAID,
    });
    const ready = performance.now();
    await page.goto(link, { waitUntil: "commit" });
    await picture;
    const firstPicture = performance.now() - ready;
    const firstPage = await page.evaluate(() =>
      (globalThis as unknown as { firstEntries: number }).firstEntries
    );
    return await body(page, { firstPage, firstPicture });
  } finally {
    await context.close();
  }
}

/**
 * Runs in the page: records when the first entry appears, in milliseconds since navigation started, and logs a
 * message when the first image has loaded.
 */
function watchEntries(firstPictureSaid: string): void {
  const onLoad = ({ target }: Event) => {
    if (!(target instanceof HTMLImageElement)) return;
    if (target.closest(".tile") === null || target.naturalWidth === 0) return;
    document.removeEventListener("load", onLoad, true);
    console.debug(firstPictureSaid);
  };
  document.addEventListener("load", onLoad, true);
  const watcher = new MutationObserver(() => {
    const caption = document.querySelector(".tile .caption")?.textContent ?? "";
    if (!caption.endsWith(".jpg")) return;
    watcher.disconnect();
    requestAnimationFrame(() =>
      Object.assign(globalThis, { firstEntries: performance.now() })
    );
  });
  watcher.observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
  });
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Duration in microseconds. */
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

async function measureScrolling(
  browser: Browser,
  page: Page,
): Promise<Scrolling> {
  const tasks = await scrolledTasks(browser, page);
  tasks.sort((a, b) => a - b);
  return {
    task: tasks[Math.ceil(tasks.length * 0.99) - 1] ?? 0,
    longTasks: tasks.filter((task) => task > TASK).length,
  };
}

/** Scrolls, and returns the durations of the main thread's tasks. */
async function scrolledTasks(browser: Browser, page: Page): Promise<number[]> {
  const box = (await page.locator(".scroller").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await browser.startTracing(page, {
    categories: [
      "toplevel",
      "disabled-by-default-devtools.timeline",
      "__metadata",
    ],
  });
  for (let i = 0; i < TURNS; i++) {
    await page.mouse.wheel(0, 120 + 10 * i);
    await page.waitForTimeout(10);
  }
  for (let i = 0; i <= JUMPS; i++) {
    await page.locator(".scroller").evaluate((scroller, part) => {
      scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) *
        part;
    }, i / JUMPS);
    await page.waitForTimeout(25);
  }
  await page.waitForTimeout(300);
  const trace = new TextDecoder().decode(await browser.stopTracing());
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(trace);
  const main = new Set(
    traceEvents.filter(({ name, args }) =>
      name === "thread_name" && args?.name === "CrRendererMain"
    ).map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ name, ph, pid, tid }) =>
    name.endsWith("RunTask") && ph === "X" && main.has(`${pid} ${tid}`)
  ).map(({ dur = 0 }) => dur / 1000).filter((task) => task >= LEAST_TASK);
  if (tasks.length === 0) throw new Error("Chromium's trace has no tasks");
  return tasks;
}

if (import.meta.main) await runAlone(servePageBenchmark);
