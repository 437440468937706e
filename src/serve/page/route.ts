/** Routes: what the page shows, encoded in the URL fragment. */

/** `#/URL?NAME=VALUE&…` */
export interface Route {
  /** Path of the entry, percent-encoded like the server's; empty for the root. */
  readonly url: string;
  readonly parameters: URLSearchParams;
}

/** Parses an address. Invalid paths lead to the root. */
export function parseRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#?\/*([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const parts = path.split("/").filter((part) => part !== "").map(cleanPart);
  const isPath = !parts.some((part) => /^(\.|%2e){1,2}$/i.test(part));
  return {
    url: isPath ? parts.join("/") : "",
    parameters: new URLSearchParams(query),
  };
}

/** Escapes characters that have a special meaning in a query. */
function cleanPart(part: string): string {
  return part.toWellFormed().replaceAll(
    /%(?![0-9a-f]{2})|[^\w.~!$'()*,;:@%-]/gi,
    encodeURIComponent,
  ).replaceAll("+", "%2B");
}

export function hashOf(
  url: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? `#/${url}` : `#/${url}?${query}`;
}

/** Current address and its route; the browser may already be at the next one. */
let shown = "";
let current: Route | undefined;

const listeners = new Set<(route: Route) => void>();

export function onRoute(listener: (route: Route) => void): void {
  listeners.add(listener);
}

/** Takes the browser's address as the current route. */
export function takeRoute(): Route {
  shown = location.hash;
  current = parseRoute(shown);
  for (const listener of listeners) listener(current);
  return current;
}

/** Whether the browser has moved on to another address. */
export function isGoing(): boolean {
  return location.hash !== shown;
}

/** Returns the address of a view, including updated parameters if it is current. */
export function addressOf(of: Route): string {
  return of === current
    ? shown
    : hashOf(of.url, Object.fromEntries(of.parameters));
}

/**
 * Updates parameters of a view's address without navigation. Ignored if the view is no longer current or the browser is
 * navigating away: the address is then another view's.
 *
 * @param of Route that the view was created with.
 */
export function keepInAddress(
  of: Route,
  parameters: Readonly<Record<string, string | number | null>>,
): void {
  if (of !== current || isGoing()) return;
  const route = parseRoute(shown);
  const all: Record<string, string | number | null> = {
    ...Object.fromEntries(route.parameters),
    ...parameters,
  };
  history.replaceState(history.state, "", hashOf(route.url, all));
  shown = location.hash;
}

const OF_COLUMNS = ["order", "hide", "width"] as const;

export function columnParameters(of: Route): Record<string, string | null> {
  const { parameters } = parseRoute(addressOf(of));
  return Object.fromEntries(
    OF_COLUMNS.map((name) => [name, parameters.get(name)]),
  );
}

export function goTo(
  url: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): void {
  location.hash = hashOf(url, parameters);
}

export function parentUrl(url: string): string {
  return url.slice(0, Math.max(0, url.lastIndexOf("/")));
}

/** Percent-encoded UTF-8 character, or a single byte. */
const CHARACTER = /%[c-f][\da-f](?:%[89ab][\da-f])+|%[\da-f]{2}/gi;

/** Decodes a percent-encoded name. Bytes that are not UTF-8 become U+DC80 to U+DCFF, as in the server's messages. */
export function decodedPart(part: string): string {
  return part.replaceAll(CHARACTER, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      const codes = encoded.split("%").slice(1).map((hex) => parseInt(hex, 16));
      return String.fromCharCode(...codes.map((code) => 0xdc00 + code));
    }
  });
}

export function encodedPath(path: string): string {
  return path.split("/").filter((part) => part !== "").map((part) =>
    encodeURIComponent(part.toWellFormed())
  ).join("/");
}

/** Parameters of a directory's address when it was left. */
type Place = Readonly<Record<string, string | number | null>>;

const MOST = 100;

const places = new Map<string, Place>();
const opened = { parentUrl: "", index: -1 };
export function rememberPlace(url: string, place: Place): void {
  places.delete(url); // moves it to the end
  places.set(url, place);
  const [oldest] = places.keys();
  if (places.size > MOST) places.delete(oldest!);
}

export function rememberOpened(parentUrl: string, index: number): void {
  Object.assign(opened, { parentUrl, index });
}

/** Returns the index of the directory's entry that was opened last, or -1. */
export function openedIn(url: string): number {
  return opened.parentUrl === url ? opened.index : -1;
}

/** Returns the address after closing an entry: its list, or its directory as it was left. */
export function hashToCloseTo(
  parentUrl: string,
  list: string | null,
): string {
  return list ?? hashOf(parentUrl, { ...places.get(parentUrl) });
}

/** Returns the address of the list that an entry was opened from, if it is not a directory. */
export function listOf({ parameters }: Route): string | null {
  const list = parameters.get("list");
  return list !== null && list.startsWith("#/") ? list : null;
}
