/** Declares tests of the page. The tests of a file share a browser. */
import type { Browser } from "playwright-core";
import { LONG } from "../../../support/long.ts";
import { needs } from "../../../support/programs/programs.ts";
import {
  type BrowserProgram,
  nameScreenshots,
  startBrowser,
} from "./browser.ts";

const browsers = new Map<BrowserProgram, Promise<Browser>>();

Deno.test.afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});

/**
 * Declares a test of the page.
 *
 * @param programs Further programs that the test needs.
 */
export function pageTest(
  name: string,
  body: (browser: Browser) => Promise<void>,
  ...programs: string[]
): void {
  const program = LONG ? "chromium" : "chromium-headless-shell";
  declareTest(name, body, program, programs);
}

/** Declares a test that always runs in the whole browser, because it covers windows or downloads. */
export function wholeBrowserTest(
  name: string,
  body: (browser: Browser) => Promise<void>,
): void {
  declareTest(name, body, "chromium", []);
}

function declareTest(
  name: string,
  body: (browser: Browser) => Promise<void>,
  program: BrowserProgram,
  programs: readonly string[],
): void {
  Deno.test({
    name,
    ...needs(program, ...programs),
    // The browser outlives the test.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      nameScreenshots(name);
      try {
        let browser = browsers.get(program);
        if (!browser) browsers.set(program, browser = startBrowser(program));
        await body(await browser);
      } catch (error) {
        // Reports the error of the test, instead of the errors found when the window closes.
        throw error instanceof SuppressedError ? error.suppressed : error;
      }
    },
  });
}
