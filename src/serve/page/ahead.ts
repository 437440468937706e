/// <reference lib="dom" />
/**
 * Requests what the first view needs while its modules load. A separate script, because it depends on the address.
 * `<link rel="preload">` would do the same, but browsers warn if it is not used soon.
 */

const ENTRIES = 200;

const answers = new Map<string, Promise<Response>>();

/** Returns the response to an early request, once: a second caller has to send its own. */
export function takeAhead(url: string): Promise<Response> | undefined {
  const answer = answers.get(url);
  answers.delete(url);
  return answer;
}

/** Drops unused responses: they would be stale later. */
export function forgetAhead(): void {
  answers.clear();
}

function ask(url: string): void {
  const answer = fetch(url);
  answer.catch(() => {}); // reported to the caller of takeAhead
  answers.set(url, answer);
}

function askAhead(hash: string): void {
  ask("api/info");
  const [, path, query] = /^#?\/*([^?]*)\??(.*)$/s.exec(hash)!;
  const parameters = new URLSearchParams(query);
  if (path === "" && !parameters.has("show")) {
    const at = Math.max(0, Math.trunc(Number(parameters.get("at"))) || 0);
    const first = at - at % ENTRIES;
    ask(`api/list?path=&at=${first}&limit=${ENTRIES}`);
  }
}

// Modules that import this one also run without a document.
if ("document" in globalThis) askAhead(location.hash);
