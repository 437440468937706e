/// <reference lib="dom" />
/**
 * Asks for what the first view needs, while its modules load: a script of its own, since only the address says what that
 * is. A `<link rel="preload">` would do as much, but browsers warn of one that is not used soon enough.
 */

/** As many as a listing asks for at once. */
const ENTRIES = 200;

const answers = new Map<string, Promise<Response>>();

/** Hands out the answer to an early request, once: a second caller sends a request of its own. */
export function takeAhead(url: string): Promise<Response> | undefined {
  const answer = answers.get(url);
  answers.delete(url);
  return answer;
}

/** Drops the answers that the first view did not use: they would be stale later. */
export function forgetAhead(): void {
  answers.clear();
}

function ask(url: string): void {
  const answer = fetch(url);
  answer.catch(() => {}); // the caller of takeAhead gets the error
  answers.set(url, answer);
}

/** Asks for what the address that is opened needs. */
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

// Modules that import this one are used without a document as well.
if ("document" in globalThis) askAhead(location.hash);
