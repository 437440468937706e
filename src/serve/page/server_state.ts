/** Whether the server answers: a banner while it does not, and what failed is asked again when it does. */
import { element } from "./dom.ts";

/** How long a check waits for an answer, and a check after one that failed, in milliseconds. */
const CHECK_MS = 4000;
const AGAIN_MS = 1500;

/** What any server of the page has, and costs it nothing. */
const CHECKED = "page/icon.svg";

const listeners = new Set<() => void>();
/** What the banner says. */
const GONE =
  "The server does not answer. Start recordfs again: the page then loads what is missing.";
let banner: HTMLElement | undefined;
let isGone = false;
let failures = 0;
let checking: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** How many requests the server has not answered so far. */
export function failureCount(): number {
  return failures;
}

/**
 * Notes that a request begins.
 *
 * @returns What the caller calls when it is answered. The answer to one that began before the server was gone does not say
 * that it is back.
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

/** Notes that a request got no answer. */
export function noteFailure(): void {
  failures++;
  if (isGone) return;
  isGone = true;
  document.documentElement.classList.add("server-gone");
  banner ??= element("p", { class: "banner", role: "alert" }, GONE);
  document.body.prepend(banner);
  checkLater();
}

/** Calls back when a server that was gone answers again. */
export function onServerBack(listener: () => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
}

/** Whether the server answers from now on: by one small request, which all who ask at that time share. */
export async function isServerThere(): Promise<boolean> {
  // An answer to a request that was on its way before says nothing of a server that went since.
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
    // A page that nobody looks at asks when it is looked at.
    if (!isGone || document.hidden) return;
    void isServerThere().then((isThere) => {
      if (!isThere) checkLater();
    });
  }, AGAIN_MS);
}

/** Watches the page for as long as it lives. */
export function watchServer(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    void isServerThere().then((isThere) => {
      if (!isThere) checkLater();
    });
  });
  // Before any listener of the picture itself.
  document.addEventListener("error", onError, true);
}

/** Errors that were looked into: the server is there, so that the picture is damaged. */
const confirmed = new WeakSet<Event>();

/** Has the error of a picture wait until it is known whether the server is gone, and asks for it again then. */
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
