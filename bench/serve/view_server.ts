/** Starts `recordfs view` as a separate program, and the browser for it. */
import { type Browser, chromium } from "playwright-core";
import { succeeds } from "../../test/support/programs/programs.ts";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";

/** Running server. */
export interface ViewServer extends AsyncDisposable {
  /** The link that it printed. */
  readonly link: string;
}

/** Starts `recordfs view` over a container, without a token. */
export async function startView(
  archive: string,
  ...options: string[]
): Promise<ViewServer> {
  const [program, ...before] = RECORDFS;
  const server = new Deno.Command(program!, {
    args: [...before, "view", "--no-open", "--no-token", ...options, archive],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  return {
    link: await printedLink(server.stdout),
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT");
      await server.status;
    },
  };
}

/** Finds the link in the output of `recordfs view`, and drains the rest, so that the program does not block. */
async function printedLink(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<string> {
  const reader = stdout.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "";;) {
    const { done, value = "" } = await reader.read();
    text += value;
    const link = /http:\/\/\S+(?=\s)/.exec(text)?.[0];
    if (link !== undefined) {
      void (async () => {
        while (!(await reader.read()).done);
      })().catch(() => {}); // ends with the server
      return link;
    }
    if (done) throw new Error(`recordfs view printed no link:\n${text}`);
  }
}

/** Throws if there is no browser, before anything is packed for it. */
export function requireChromium(): void {
  if (succeeds("chromium", "--version")) return;
  throw new Error(
    "bench/serve takes chromium: `deno task setup` or `apt-get install chromium`",
  );
}

/** Starts the distribution's browser. */
export async function startChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: Deno.uid() === 0 ? ["--no-sandbox"] : [],
  });
}
