/** Tests of the page: those of a file share a browser. */
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
 * Declares a test that looks at the page.
 *
 * @param programs That it needs besides the browser.
 */
export function pageTest(
  name: string,
  body: (browser: Browser) => Promise<void>,
  ...programs: string[]
): void {
  const program = LONG ? "chromium" : "chromium-headless-shell";
  declareTest(name, body, program, programs);
}

/** Declares one that is run in the whole browser always: its windows and its downloads are tested as well. */
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
    // The browser is older than the test, and lives on.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      nameScreenshots(name);
      try {
        let browser = browsers.get(program);
        if (!browser) browsers.set(program, browser = startBrowser(program));
        await body(await browser);
      } catch (error) {
        // What went wrong first says more than what is found when the window is closed.
        throw error instanceof SuppressedError ? error.suppressed : error;
      }
    },
  });
}
