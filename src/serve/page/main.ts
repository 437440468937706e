/** Entry point of the page: shows the view at the current address. */
import type {
  AtMessage,
  EntryMessage,
  InfoMessage,
  ListMessage,
} from "../api/messages.ts";
import { forgetAhead } from "./ahead.ts";
import {
  get,
  isAbort,
  isUnreachable,
  messageOf,
  problemOf,
  ServerError,
} from "./api.ts";
import { element, isMenuOpen, loadStyle } from "./dom.ts";
import { containerName, Header } from "./header.ts";
import type { Key } from "./keyboard.ts";
import { Listing, listingView } from "./listing/listing.ts";
import { entryHref } from "./listing/tiles.ts";
import {
  encodedPath,
  goTo,
  isGoing,
  parentUrl,
  parseRoute,
  type Route,
  takeRoute,
} from "./route.ts";
import { cancelPictures } from "./pictures.ts";
import {
  failureCount,
  isServerThere,
  onServerBack,
  watchServer,
} from "./server_state.ts";
import { count } from "./text.ts";
import type { Scene, View } from "./view.ts";

type MakeView = (route: Route, scene: Scene) => View | Promise<View>;

/** Pages of a directory by their names in addresses; loaded on demand. */
const PAGES: Readonly<Record<string, () => Promise<MakeView>>> = {
  search: async () => (await import("./listing/results.ts")).searchView,
  random: async () => (await import("./listing/results.ts")).randomView,
  statistics: async () =>
    (await import("./pages/statistics.ts")).statisticsView,
  check: async () => (await import("./pages/check.ts")).checkView,
  info: async () => (await import("./pages/info.ts")).infoView,
};

class Page {
  readonly #info: InfoMessage;
  readonly #header: Header;
  readonly #main: HTMLElement;
  readonly #keys: readonly Key[];
  readonly #said = element("div", { class: "toasts" });
  #leave = new AbortController();
  #view: View | undefined;
  /** Number of failed requests when the view was created. */
  #failures = 0;
  /** Directory of the view, or containing its entry. */
  #directoryUrl = "";

  constructor(info: InfoMessage, main: HTMLElement) {
    this.#info = info;
    this.#main = main;
    this.#header = new Header(info, {
      jump: (to) => void this.#jump(to),
      help: () => void this.#help(),
    });
    main.before(this.#header.element);
    main.after(this.#said);
    const page = (show: string, isOfAll = false) => () =>
      goTo(isOfAll ? "" : this.#directoryUrl, { show });
    this.#keys = [
      {
        key: "/",
        says: "Search by a glob",
        run: () => this.#header.search.select(),
      },
      {
        key: "g",
        says: "Go to an index or a path",
        run: () => this.#header.jump.select(),
      },
      { key: "r", says: "Random samples", run: page("random") },
      { key: "s", says: "Statistics", run: page("statistics") },
      { key: "c", says: "Check", run: page("check", true) },
      { key: "i", says: "About the container", run: page("info", true) },
      { key: "u", says: "Up to the directory above", run: () => this.#up() },
      { key: "?", says: "These keys", run: () => void this.#help() },
    ];
    addEventListener("hashchange", () => void this.show());
    onServerBack(() => this.#onBack(), new AbortController().signal);
    addEventListener("keydown", (event) => this.#onKey(event));
    // A list has the focus initially: it is shown only after a key was used.
    const byKeys = (is: boolean) => () =>
      document.documentElement.classList.toggle("keyboard", is);
    addEventListener("keydown", byKeys(true), true);
    addEventListener("pointerdown", byKeys(false), true);
  }

  async show(): Promise<void> {
    this.#leave.abort();
    cancelPictures();
    this.#leave = new AbortController();
    const { signal } = this.#leave;
    this.#failures = failureCount();
    const route = takeRoute();
    this.#main.setAttribute("aria-busy", "true");
    let view: View;
    try {
      view = await this.#viewOf(route, { info: this.#info, signal });
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      // A failed import does not tell whether the server responds.
      if (error instanceof TypeError) await isServerThere();
      if (signal.aborted) return;
      view = problemView(error);
    }
    if (signal.aborted) return;
    // Cancels requests of the previous view, such as images of a list that was scrolled.
    if (this.#view !== undefined) cancelPictures(this.#view.element);
    this.#view = view;
    this.#header.show(route, this.#directoryUrl);
    this.#main.replaceChildren(view.element);
    this.#main.removeAttribute("aria-busy");
    const parts = [view.title, containerName(this.#info)];
    document.title = parts.filter((part) => part !== "").join(" – ");
    if (view.onShown === undefined) this.#main.focus({ preventScroll: true });
    else view.onShown();
  }

  /** Recreates a view that is incomplete. */
  #onBack(): void {
    if (failureCount() === this.#failures) return;
    this.#failures = failureCount();
    if (!(this.#view?.onBack?.() ?? false)) void this.show();
  }

  /** Creates a view, once its code is loaded and if still current: it may cancel other work, such as a search. */
  async #viewOf(route: Route, scene: Scene): Promise<View> {
    const load = PAGES[route.parameters.get("show") ?? ""];
    if (load !== undefined || route.url === "") {
      this.#directoryUrl = route.url;
      const make = await load?.() ?? listingView;
      scene.signal.throwIfAborted();
      return await make(route, scene);
    }
    this.#directoryUrl = parentUrl(route.url);
    const { describedEntry } = await import("./entries_ahead.ts");
    const message = await describedEntry(route.url, scene.signal);
    scene.signal.throwIfAborted();
    const isListed = message.entry.isDirectory &&
      (message.view === null || route.parameters.has("view"));
    this.#directoryUrl = isListed ? route.url : message.parentUrl;
    if (isListed) {
      return await listingView(route, scene);
    }
    const [{ itemView }] = await Promise.all([
      import("./item/item.ts"),
      loadStyle("item"),
    ]);
    scene.signal.throwIfAborted();
    return itemView(route, message, scene);
  }

  /** Navigates to a sample index, an index in the current directory (`#`), or a path. */
  async #jump(to: string): Promise<void> {
    const { signal } = this.#leave;
    const isLeft = () => signal.aborted || isGoing();
    try {
      const digits = /^#?([\d,_]+)$/.exec(to)?.[1]?.replaceAll(/[,_]/g, "");
      const view = this.#view;
      if (digits === undefined || to.startsWith("/")) {
        return await this.#jumpToPath(to, isLeft, signal);
      }
      if (to.startsWith("#") || this.#info.samples === null) {
        const index = Number(digits);
        if (view instanceof Listing) {
          if (!view.jump(index)) this.#tell(noEntry(index));
          return;
        }
        return await this.#jumpToEntry(index, isLeft, signal);
      }
      const { entry } = await get<AtMessage>("at", { index: digits }, signal);
      if (!isLeft()) goTo(entry.url);
    } catch (error) {
      if (!isLeft()) this.#tell(messageOf(error));
    }
  }

  async #jumpToEntry(
    index: number,
    isLeft: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { path: this.#directoryUrl, at: index, limit: 1 };
    const { entries: [entry] } = await get<ListMessage>("list", query, signal);
    if (isLeft()) return;
    if (entry === undefined) {
      return this.#tell(noEntry(index));
    }
    location.hash = entryHref(entry, index);
  }

  /** Paths are relative to the current directory, or else to the root. */
  async #jumpToPath(
    to: string,
    isLeft: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const path = encodedPath(to);
    const below = [this.#directoryUrl, path].filter((part) => part !== "").join(
      "/",
    );
    for (const url of to.startsWith("/") ? [path] : [below, path]) {
      try {
        const { entry } = await get<EntryMessage>(
          "entry",
          { path: url },
          signal,
        );
        if (!isLeft()) goTo(entry.url);
        return;
      } catch (error) {
        const isGone = error instanceof ServerError &&
          error.code === "not-found";
        if (!isGone || url === path) throw error;
      }
    }
  }

  /** Shows a temporary notification. */
  #tell(message: string): void {
    const said = element("p", { class: "toast", role: "alert" }, message);
    this.#said.append(said);
    setTimeout(() => said.remove(), 6000);
  }

  async #help(): Promise<void> {
    const { showHelp } = await import("./help.ts");
    if (document.querySelector("dialog[open]") !== null) return;
    const own = this.#view?.keys ?? [];
    showHelp(this.#keys, own);
  }

  #up(): void {
    const { url, parameters } = parseRoute(location.hash);
    goTo(parameters.has("show") ? url : parentUrl(url));
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") !== null || isMenuOpen()) return;
    if (event.key === "Escape" && event.target instanceof HTMLInputElement) {
      return event.target.blur();
    }
    if (isTyping(event)) return;
    const keys = [...this.#view?.keys ?? [], ...this.#keys];
    const found = keys.find(({ key }) => key === event.key);
    if (this.#view?.onKey?.(event.key)) event.preventDefault();
    else if (found !== undefined) {
      event.preventDefault();
      found.run();
    }
  }
}

/** Whether a key belongs to the focused element, such as a text field. */
function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) {
    return true;
  }
  if (target instanceof HTMLInputElement && target.type !== "range") {
    return true;
  }
  const isMedia = target instanceof HTMLMediaElement;
  const isArrow = event.key.startsWith("Arrow");
  if (target instanceof HTMLInputElement || isMedia) {
    return isArrow || event.key === " ";
  }
  const isButton = target instanceof HTMLButtonElement ||
    target.localName === "summary";
  return isButton && (event.key === " " || event.key === "Enter");
}

function noEntry(index: number): string {
  return `The directory has no entry ${count(index)}`;
}

function problemView(error: unknown): View {
  const isGone = error instanceof ServerError && error.code === "not-found";
  const title = isUnreachable(error)
    ? "The server is gone"
    : isGone
    ? "There is nothing here"
    : "This can't be shown";
  return {
    element: element(
      "section",
      { class: "page" },
      element("div", { class: "bar" }, element("h2", {}, title)),
      problemOf(error),
      element(
        "p",
        {},
        element("a", { href: "#/", class: "button" }, "To the start"),
      ),
    ),
    title: "Error",
    keys: [],
  };
}

/** Returns a link to the server's root, which asks for the token and returns to the current address. */
function waysIn(error: unknown): HTMLElement[] {
  const isClosed = error instanceof ServerError && error.code === "no-session";
  if (!isClosed) return [];
  const href = `../../${location.hash}`;
  const way = element("a", { href, class: "button" }, "Type the token");
  return [element("p", { class: "way-in" }, way)];
}

const main = document.querySelector("main")!;
watchServer();
try {
  const info = await get<InfoMessage>("info", {}, new AbortController().signal);
  await new Page(info, main).show();
  forgetAhead();
} catch (error) {
  main.replaceChildren(problemOf(error), ...waysIn(error));
  onServerBack(() => location.reload(), new AbortController().signal);
  main.removeAttribute("aria-busy");
}
