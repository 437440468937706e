/** What the page shows, as the part of its address behind `#`: a link that leads back to it. */

/** `#/URL?NAME=VALUE&…` */
export interface Route {
  /** The entry's path, percent-encoded as the server writes it; empty for the root. */
  readonly url: string;
  /** How it is shown. */
  readonly parameters: URLSearchParams;
}

/** Reads an address. What does not name an entry leads to the root. */
export function parseRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#?\/*([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const parts = path.split("/").filter((part) => part !== "").map(cleanPart);
  const isPath = !parts.some((part) => /^(\.|%2e){1,2}$/i.test(part));
  return {
    url: isPath ? parts.join("/") : "",
    parameters: new URLSearchParams(query),
  };
}

/** Encodes what stands for something else in a query. */
function cleanPart(part: string): string {
  return part.toWellFormed().replaceAll(
    /%(?![0-9a-f]{2})|[^\w.~!$'()*,;:@%-]/gi,
    encodeURIComponent,
  ).replaceAll("+", "%2B");
}

/** Writes an address. */
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

/** The address that is shown, and what it was read as: the browser's own may be ahead of it. */
let shown = "";
let current: Route | undefined;

const listeners = new Set<(route: Route) => void>();

/** Calls back when another address is shown. */
export function onRoute(listener: (route: Route) => void): void {
  listeners.add(listener);
}

/** The address that the browser has, which is shown from now on. */
export function takeRoute(): Route {
  shown = location.hash;
  current = parseRoute(shown);
  for (const listener of listeners) listener(current);
  return current;
}

/** Whether somebody goes to another address just now. */
export function isGoing(): boolean {
  return location.hash !== shown;
}

/** The address of a view, with what it has kept there while it is shown. */
export function addressOf(of: Route): string {
  return of === current
    ? shown
    : hashOf(of.url, Object.fromEntries(of.parameters));
}

/**
 * Changes parameters of a view's address, without going anywhere: unless another view is to be shown, whose address it is
 * then, though the one before is still seen, or somebody goes to one just now.
 *
 * @param of What the view was made with.
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

/** Parameters of an address that keep the columns of rows. */
const OF_COLUMNS = ["order", "hide", "width"] as const;

/** The parameters of a view's address that keep columns. */
export function columnParameters(of: Route): Record<string, string | null> {
  const { parameters } = parseRoute(addressOf(of));
  return Object.fromEntries(
    OF_COLUMNS.map((name) => [name, parameters.get(name)]),
  );
}

/** Goes to an address. */
export function goTo(
  url: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): void {
  location.hash = hashOf(url, parameters);
}

/** The directory of an entry. */
export function parentUrl(url: string): string {
  return url.slice(0, Math.max(0, url.lastIndexOf("/")));
}

/** The bytes of one character, percent-encoded, or one byte that is none. */
const CHARACTER = /%[c-f][\da-f](?:%[89ab][\da-f])+|%[\da-f]{2}/gi;

/** A percent-encoded part as a name: bytes that are no UTF-8 stand as U+DC80 to U+DCFF, as the server writes them. */
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

/** A text that names a path, percent-encoded. */
export function encodedPath(path: string): string {
  return path.split("/").filter((part) => part !== "").map((part) =>
    encodeURIComponent(part.toWellFormed())
  ).join("/");
}

/** How a directory was shown when it was left: parameters of its address. */
type Place = Readonly<Record<string, string | number | null>>;

/** How many are remembered. */
const MOST = 100;

const places = new Map<string, Place>();
const opened = { parentUrl: "", index: -1 };
/** Remembers how a directory is shown. */
export function rememberPlace(url: string, place: Place): void {
  places.delete(url); // to stand last
  places.set(url, place);
  const [oldest] = places.keys();
  if (places.size > MOST) places.delete(oldest!);
}

/** Remembers which entry of a directory is open. */
export function rememberOpened(parentUrl: string, index: number): void {
  Object.assign(opened, { parentUrl, index });
}

/** The index of the entry of a directory that was opened last, or -1. */
export function openedIn(url: string): number {
  return opened.parentUrl === url ? opened.index : -1;
}

/** Where closing an entry leads: to the list that it was opened from, or to its directory, as it was left. */
export function hashToCloseTo(
  parentUrl: string,
  list: string | null,
): string {
  return list ?? hashOf(parentUrl, { ...places.get(parentUrl) });
}

/** The address of the list that an entry was opened from, where that is no directory. */
export function listOf({ parameters }: Route): string | null {
  const list = parameters.get("list");
  return list !== null && list.startsWith("#/") ? list : null;
}
