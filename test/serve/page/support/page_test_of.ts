/** Tests of the page: those of a file share a browser. */
import type { Browser } from "playwright-core";
import { needs } from "../../../support/programs/programs.ts";
import { nameScreenshots, startBrowser } from "./browser.ts";

let browser: Promise<Browser> | undefined;

Deno.test.afterAll(async () => {
  await (await browser)?.close();
});

/**
 * Declares a test that looks at the page.
 *
 * @param programs That it needs besides Chromium.
 */
export function pageTest(
  name: string,
  body: (browser: Browser) => Promise<void>,
  ...programs: string[]
): void {
  Deno.test({
    name,
    ...needs("chromium", ...programs),
    // The browser is older than the test, and lives on.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      nameScreenshots(name);
      try {
        await body(await (browser ??= startBrowser()));
      } catch (error) {
        // What went wrong first says more than what is found when the window is closed.
        throw error instanceof SuppressedError ? error.suppressed : error;
      }
    },
  });
}
