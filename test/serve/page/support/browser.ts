/// <reference lib="dom" />
/** The page in a real browser: nobody but the page's own server may be asked, and nothing may go wrong unseen. */
import assert from "node:assert/strict";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { handler, type HandlerOptions } from "../../../../src/serve/mod.ts";
import { open } from "../../../../src/open/open.ts";
import type { VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import type { ContainerOptions } from "../../../../src/tree/format.ts";

/** What screenshots are called by: the test that runs, and how many there were in its file. */
const screenshots = { test: "", count: 0 };

/** Names the screenshots of the test that starts now. */
export function nameScreenshots(test: string): void {
  screenshots.test = test;
}

/** How long a state is waited for, in milliseconds: far longer than it takes. */
const PATIENCE = 30_000;

/** The browser that people have, and what draws in it alone: Chromium without its windows, twice as fast. */
export type BrowserProgram = "chromium" | "chromium-headless-shell";

/** Starts a browser of the distribution. */
export async function startBrowser(program: BrowserProgram): Promise<Browser> {
  return await chromium.launch({
    executablePath: `/usr/bin/${program}`,
    args: [
      ...Deno.uid() === 0 ? ["--no-sandbox"] : [],
      "--enable-precise-memory-info",
    ],
  });
}

/** A container's page in a window of its own. */
export class Shown implements AsyncDisposable {
  readonly page: Page;
  /** Where it is, with a slash at its end. */
  readonly origin: string;
  /** All that was asked for, in order; in what the browser refuses itself nobody is asked. */
  readonly requests: string[] = [];
  /** What the browser said went wrong, but for answers that are errors: those are wanted in some tests. */
  readonly problems: string[] = [];
  readonly #close: () => Promise<void>;

  private constructor(page: Page, origin: string, close: () => Promise<void>) {
    this.page = page;
    this.origin = origin;
    this.#close = close;
    page.setDefaultTimeout(PATIENCE);
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("requestfailed", (request) => {
      // Told of as well, though nobody was asked: the policy of the document forbids it.
      if (request.failure()?.errorText !== "csp") return;
      this.requests.splice(this.requests.indexOf(request.url()), 1);
    });
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("dialog", (dialog) => {
      this.problems.push(`A dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("popup", (popup) => this.problems.push(`A window: ${popup.url()}`));
    page.on("console", (message) => {
      const isAnswer = /^Failed to load resource: the server responded/.test(
        message.text(),
      );
      if (message.type() === "error" && !isAnswer) {
        this.problems.push(message.text());
      }
    });
  }

  /** Opens a container, serves it, and shows its page. */
  static async open(
    browser: Browser,
    container: string | VirtualFs,
    hash = "",
    options:
      & BrowserContextOptions
      & Partial<HandlerOptions>
      & ContainerOptions = {},
  ): Promise<Shown> {
    const { name, ...others } = options;
    const opened = typeof container === "string"
      ? await open(container, others)
      : container;
    const serving = handler(opened, {
      token: null,
      ...(name === undefined ? {} : { name }),
    });
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      serving,
    );
    const { port } = server.addr;
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      ...others,
    });
    const origin = `http://127.0.0.1:${port}/`;
    const shown = new Shown(await context.newPage(), origin, async () => {
      await context.close();
      await server.shutdown();
      if (typeof container === "string") opened.close();
    });
    await shown.go(hash);
    return shown;
  }

  /** Shows another address, and waits for it. */
  async go(hash: string): Promise<void> {
    await this.page.goto(`${this.origin}${hash}`);
    // The page hears of another hash by an event, which may come after the browser's answer.
    await this.page.evaluate(() => new Promise((turn) => setTimeout(turn)));
    await this.ready();
  }

  /** Waits until what the address says is shown. */
  async ready(): Promise<void> {
    await this.page.locator("main:not([aria-busy]) > *").first().waitFor();
  }

  /** What was seen at the end of the test goes where CI keeps it. */
  async #keepScreenshot(): Promise<void> {
    const folder = Deno.env.get("RECORDFS_SCREENSHOTS");
    if (folder === undefined || !this.page.url().startsWith(this.origin)) {
      return;
    }
    const test = screenshots.test.replaceAll(/[^\w]+/g, "-").slice(0, 100);
    const path = `${folder}/${test}-${++screenshots.count}.png`;
    await this.page.screenshot({ path });
  }

  /** The part of the address behind `#`. */
  async hash(): Promise<string> {
    // What the browser's own protocol says of its address comes later than the answer to a key.
    return await this.page.evaluate(() => location.hash);
  }

  /** Fails where something went wrong that nobody looks at, or something else was asked for. */
  assertSound(): void {
    assert.deepEqual(this.problems, []);
    const others = this.requests.filter((url) => !url.startsWith(this.origin));
    assert.deepEqual(others, []);
  }

  /** Looks whether all was sound, and ends the window and the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keepScreenshot();
    await this.#close();
    this.assertSound();
  }
}

/** The texts of all that are like this, when there is one. */
export async function textsOf(elements: Locator): Promise<string[]> {
  await elements.first().waitFor({ state: "attached" });
  return await elements.allTextContents();
}

/** In how many lines a text is. */
export async function linesOf(text: Locator): Promise<number> {
  return await text.evaluate((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getClientRects().length;
  });
}

/** The names in the listing that is shown, as the accessibility tree has them. */
export async function shownNames(page: Page): Promise<string[]> {
  const role = await page.locator(".scroller").getAttribute("role");
  const names = page.locator(
    role === "listbox"
      ? ".tile:visible .caption"
      : ".canvas > :visible .name a",
  );
  await names.first().waitFor();
  // What has come is drawn with the next frame, which on a busy machine comes later than what is said of it.
  await page.evaluate(async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  });
  return await names.allTextContents();
}

/** The bytes that a hex dump shows, all of its pages. */
export async function hexBytes(within: Page | Locator): Promise<Uint8Array> {
  const view = within.locator(".bytes-view");
  const text = await view.first().evaluate(async (view) => {
    for (;;) {
      const more = view.querySelector("button");
      if (more === null) return view.querySelector("pre")?.textContent ?? "";
      if (!more.disabled) more.click();
      await new Promise(requestAnimationFrame);
    }
  });
  return Uint8Array.fromHex(
    text.split("\n").map((line) => line.slice(10, 58).replaceAll(" ", ""))
      .join(""),
  );
}

/** Pixels of a canvas, or of a picture as it is drawn: red, green, blue, alpha. */
export async function pixelsOf(
  within: Page | Locator,
  selector: string,
): Promise<{ width: number; height: number; data: Uint8Array }> {
  const { width, height, data } = await within.locator(selector).first()
    .evaluate(
      async (shown) => {
        if (shown instanceof HTMLImageElement) await shown.decode();
        const canvas = shown instanceof HTMLCanvasElement
          ? shown
          : document.createElement("canvas");
        if (shown instanceof HTMLImageElement) {
          [canvas.width, canvas.height] = [
            shown.naturalWidth,
            shown.naturalHeight,
          ];
          canvas.getContext("2d")!.drawImage(shown, 0, 0);
        }
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d")!.getImageData(
          0,
          0,
          width,
          height,
        );
        return { width, height, data: [...data] };
      },
    );
  return { width, height, data: Uint8Array.from(data) };
}
