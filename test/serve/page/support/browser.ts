/// <reference lib="dom" />
/** Opens the page in a real browser. Requests to other servers, and errors in the browser, fail the test. */
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

/** Name of the running test, and the number of screenshots in this file. */
const screenshots = { test: "", count: 0 };

/** Sets the test's name for screenshots. */
export function nameScreenshots(test: string): void {
  screenshots.test = test;
}

/** Timeout for a state of the page, in milliseconds. */
const PATIENCE = 30_000;

/** The whole Chromium, or its headless shell, which is twice as fast. */
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
  /** Base URL, with a trailing slash. */
  readonly origin: string;
  /** URLs of all requests, in order, without those that the browser itself blocked. */
  readonly requests: string[] = [];
  /** Errors that the browser reported, without HTTP error responses, which some tests expect. */
  readonly problems: string[] = [];
  readonly #close: () => Promise<void>;

  private constructor(page: Page, origin: string, close: () => Promise<void>) {
    this.page = page;
    this.origin = origin;
    this.#close = close;
    page.setDefaultTimeout(PATIENCE);
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("requestfailed", (request) => {
      // The browser reports requests that its security policy blocked, although it has not sent them.
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

  /** Opens an address, and waits until it is shown. */
  async go(hash: string): Promise<void> {
    await this.page.goto(`${this.origin}${hash}`);
    // The page handles a changed hash in an event, which may fire after `goto` returns.
    await this.page.evaluate(() => new Promise((turn) => setTimeout(turn)));
    await this.ready();
  }

  /** Waits until the view of the address is shown. */
  async ready(): Promise<void> {
    await this.page.locator("main:not([aria-busy]) > *").first().waitFor();
  }

  /** Saves a screenshot if CI has set a directory for it. */
  async #keepScreenshot(): Promise<void> {
    const folder = Deno.env.get("RECORDFS_SCREENSHOTS");
    if (folder === undefined || !this.page.url().startsWith(this.origin)) {
      return;
    }
    const test = screenshots.test.replaceAll(/[^\w]+/g, "-").slice(0, 100);
    const path = `${folder}/${test}-${++screenshots.count}.png`;
    await this.page.screenshot({ path });
  }

  /** Returns the part of the address after `#`. */
  async hash(): Promise<string> {
    // The page's own location is current; the protocol of the browser reports changes later.
    return await this.page.evaluate(() => location.hash);
  }

  /** Asserts that the browser reported no errors, and that no request went to another server. */
  assertSound(): void {
    assert.deepEqual(this.problems, []);
    const others = this.requests.filter((url) => !url.startsWith(this.origin));
    assert.deepEqual(others, []);
  }

  /** Closes the window and the server, and asserts that there were no errors. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keepScreenshot();
    await this.#close();
    this.assertSound();
  }
}

/** Returns the texts of all matching elements, after the first has appeared. */
export async function textsOf(elements: Locator): Promise<string[]> {
  await elements.first().waitFor({ state: "attached" });
  return await elements.allTextContents();
}

/** Returns the number of lines of a text. */
export async function linesOf(text: Locator): Promise<number> {
  return await text.evaluate((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getClientRects().length;
  });
}

/** Returns the names in the current listing. */
export async function shownNames(page: Page): Promise<string[]> {
  const role = await page.locator(".scroller").getAttribute("role");
  const names = page.locator(
    role === "listbox"
      ? ".tile:visible .caption"
      : ".canvas > :visible .name a",
  );
  await names.first().waitFor();
  // Entries are drawn in the next frame, which may come late on a busy machine.
  await page.evaluate(async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  });
  return await names.allTextContents();
}

/** Returns the bytes of a hex dump, after loading all of its pages. */
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

/** Returns the RGBA pixels of a canvas, or of a picture as the browser draws it. */
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
