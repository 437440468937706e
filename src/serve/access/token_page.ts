import { createHash } from "node:crypto";
import { answerOf, escapeMarkup, type HeaderList, SAFE } from "../responses.ts";
import { assetText } from "../assets.ts";
import type { ServeError } from "../serve_error.ts";

interface Look {
  readonly style: string;
  readonly icon: string;
  readonly headers: HeaderList;
}

let look: Promise<Look> | undefined;

/**
 * Returns the token page for browsers without a valid token. It has no scripts, and posts the token to its own URL.
 * Style and icon are inline, because no other URL is served without the token.
 */
export async function tokenPage(
  { status, code, message }: ServeError,
): Promise<Response> {
  const { style, icon, headers } = await (look ??= loadLook());
  const problem = code === "wrong-token"
    ? `\n        <p class="problem" role="alert">${escapeMarkup(message)}</p>`
    : "";
  return answerOf(
    `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Token – recordfs</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" type="image/svg+xml" href="${icon}">
    <style>${style}</style>
  </head>
  <body>
    <main>
      <form class="token" method="post">
        <h2><label for="token">Token of this server</label></h2>${problem}
        <div class="tools">
          <input type="password" id="token" name="token" required autofocus autocomplete="current-password">
          <button class="button primary">Open</button>
        </div>
        <p class="note">The token is in the link that recordfs has printed, or in the file of <code>--token-file</code>.</p>
      </form>
    </main>
  </body>
</html>
`,
    status,
    headers,
  );
}

async function loadLook(): Promise<Look> {
  try {
    const [base, own, icon] = await Promise.all(
      ["style/base.css", "style/token.css", "icon.svg"].map(assetText),
    );
    const style = base! + own!;
    const hash = createHash("sha256").update(style).digest("base64");
    const bytes = new TextEncoder().encode(icon);
    return {
      style,
      icon: `data:image/svg+xml;base64,${bytes.toBase64()}`,
      headers: headersFor(`'sha256-${hash}'`),
    };
  } catch (error) {
    look = undefined;
    throw error;
  }
}

function headersFor(style: string): HeaderList {
  const policy = [
    "default-src 'none'",
    `style-src ${style}`,
    "img-src data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return [
    ["content-type", "text/html; charset=utf-8"],
    ["cache-control", "no-store"],
    ["vary", "accept"],
    ["content-security-policy", policy.join("; ")],
    ["cross-origin-opener-policy", "same-origin"],
    // `Basic` would open the browser's own dialog.
    ["www-authenticate", "Bearer"],
    ...SAFE.filter(([name]) => name !== "referrer-policy"),
    // With `no-referrer`, browsers send a form with `Origin: null`, as if from another site.
    ["referrer-policy", "same-origin"],
  ];
}
