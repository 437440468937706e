/** Connection state: shows a banner while the server does not respond, and retries failed requests when it does. */
import { element } from "./dom.ts";

/** Timeout of a check, and delay after a failed one, in milliseconds. */
const CHECK_MS = 4000;
const AGAIN_MS = 1500;

/** Cheap file that every server of the page has. */
const CHECKED = "page/icon.svg";

const listeners = new Set<() => void>();
const GONE =
  "The server does not answer. Start recordfs again: the page then loads what is missing.";
let banner: HTMLElement | undefined;
let isGone = false;
let failures = 0;
let checking: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

export function failureCount(): number {
  return failures;
}

/**
 * Registers a request.
 *
 * @returns A callback for its response. A response to a request from before the failure does not count as a recovery.
 */
export function beginRequest(): () => void {
  const wasGone = isGone;
  return () => {
    if (isGone && wasGone) noteBack();
  };
}

function noteBack(): void {
  isGone = false;
  clearTimeout(timer);
  banner?.remove();
  document.documentElement.classList.remove("server-gone");
  for (const listener of [...listeners]) listener();
}

export function noteFailure(): void {
  failures++;
  if (isGone) return;
  isGone = true;
  document.documentElement.classList.add("server-gone");
  banner ??= element("p", { class: "banner", role: "alert" }, GONE);
  document.body.prepend(banner);
  checkLater();
}

/** Calls back when the server responds again after a failure. */
export function onServerBack(listener: () => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
}

/** Checks whether the server responds, by one small request that concurrent callers share. */
export async function isServerThere(): Promise<boolean> {
  // A request already in flight does not tell whether the server responds now.
  if (checking !== undefined && !await checking) return false;
  return await (checking ??= check().finally(() => checking = undefined));
}

async function check(): Promise<boolean> {
  const noteAnswer = beginRequest();
  try {
    const signal = AbortSignal.timeout(CHECK_MS);
    await fetch(CHECKED, { method: "HEAD", cache: "no-store", signal });
    noteAnswer();
    return true;
  } catch {
    noteFailure();
    return false;
  }
}

function checkLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // A hidden page checks once it becomes visible.
    if (!isGone || document.hidden) return;
    void isServerThere().then((isThere) => {
      if (!isThere) checkLater();
    });
  }, AGAIN_MS);
}

export function watchServer(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    void isServerThere().then((isThere) => {
      if (!isThere) checkLater();
    });
  });
  // Runs before listeners of the image itself.
  document.addEventListener("error", onError, true);
}

/** Error events of media that are damaged: the server did respond. */
const confirmed = new WeakSet<Event>();

/** Delays a media error until the server has been checked, and reloads the media if the server had failed. */
function onError(event: Event): void {
  const { target } = event;
  const isMedia = target instanceof HTMLMediaElement;
  if (!isMedia && !(target instanceof HTMLImageElement)) return;
  if (confirmed.has(event)) return;
  event.stopImmediatePropagation();
  const src = target.getAttribute("src");
  const isSame = () => src !== null && target.getAttribute("src") === src;
  void isServerThere().then((isThere) => {
    if (!isSame()) return;
    if (isThere) {
      const again = new Event("error");
      confirmed.add(again);
      target.dispatchEvent(again);
      return;
    }
    target.classList.add("waiting");
    const waiting = new AbortController();
    onServerBack(() => {
      waiting.abort();
      target.classList.remove("waiting");
      if (!isSame() || !target.isConnected) return;
      if (isMedia) target.load();
      else target.src = src!;
    }, waiting.signal);
  });
}
