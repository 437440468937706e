import { escapeMarkup } from "../responses.ts";
import {
  DAV,
  type Property,
  type PropfindRequest,
} from "./propfind_request.ts";

export interface Resource {
  /** Path, percent-encoded; a directory's has a trailing slash. */
  readonly href: string;
  readonly name: string;
  readonly isDirectory: boolean;
  /** In bytes; `null` if the container is damaged at this point. */
  readonly size: number | null;
  /** In milliseconds since 1970. */
  readonly mtime: number;
  readonly etag: string | undefined;
  /** If its name tells it. */
  readonly type: string | undefined;
  /** Bytes of the whole container, reported as the used quota. */
  readonly usedBytes: number;
}

/** Live properties by name. Each returns its content as XML, or `undefined` if the resource lacks it. */
const PROPERTIES: Readonly<
  Record<string, (resource: Resource) => string | undefined>
> = {
  __proto__: null as never, // `constructor` is not a property
  resourcetype: ({ isDirectory }) => isDirectory ? "<D:collection/>" : "",
  displayname: ({ name }) => escapeMarkup(name),
  getcontentlength: ({ isDirectory, size }) =>
    isDirectory || size === null ? undefined : String(size),
  getcontenttype: ({ type }) => type,
  getetag: ({ etag }) => etag && escapeMarkup(etag),
  getlastmodified: ({ mtime }) => new Date(mtime).toUTCString(),
  creationdate: ({ mtime }) =>
    new Date(mtime).toISOString().replace(/\.\d+Z$/, "Z"),
  supportedlock: () => "",
  lockdiscovery: () => "",
};

/** Properties reported only on explicit request, because they may be slow (RFC 4331). */
const ON_DEMAND: typeof PROPERTIES = {
  __proto__: null as never,
  "quota-used-bytes": ({ isDirectory, usedBytes }) =>
    isDirectory ? String(usedBytes) : undefined,
  "quota-available-bytes": ({ isDirectory }) => isDirectory ? "0" : undefined,
};

interface PropertyLists {
  readonly found: string;
  readonly missing: string;
}

/** Returns a `response` element of a 207 (RFC 4918, 14.24). */
export function responseOf(resource: Resource, asked: PropfindRequest): string {
  const { found, missing } = told(resource, asked);
  const parts = [
    ["HTTP/1.1 200 OK", found],
    ["HTTP/1.1 404 Not Found", missing],
  ].filter(([, properties], i) =>
    properties !== "" || i === 0 && missing === ""
  );
  return `<D:response><D:href>${escapeMarkup(resource.href)}</D:href>${
    parts.map(([status, properties]) =>
      `<D:propstat><D:prop>${properties}</D:prop><D:status>${status}</D:status></D:propstat>`
    ).join("")
  }</D:response>\n`;
}

function told(resource: Resource, asked: PropfindRequest): PropertyLists {
  switch (asked.kind) {
    case "some":
      return chosen(resource, asked.properties);
    case "names":
      return { found: all(resource, true), missing: "" };
    case "all": {
      const more = asked.properties.filter((property) => !isOfAll(property));
      const { found, missing } = chosen(resource, more);
      return { found: all(resource, false) + found, missing };
    }
  }
}

function isOfAll({ namespace, name }: Property): boolean {
  return namespace === DAV && PROPERTIES[name] !== undefined;
}

function all(resource: Resource, areNames: boolean): string {
  return Object.entries(PROPERTIES).map(([name, make]) => {
    const content = make(resource);
    if (content === undefined) return "";
    return element(name, areNames ? "" : content);
  }).join("");
}

function chosen(
  resource: Resource,
  properties: readonly Property[],
): PropertyLists {
  let found = "";
  let missing = "";
  for (const { namespace, name } of properties) {
    const make = namespace === DAV
      ? PROPERTIES[name] ?? ON_DEMAND[name]
      : undefined;
    const content = make?.(resource);
    if (content !== undefined) found += element(name, content);
    else if (namespace === DAV) missing += `<D:${name}/>`;
    else missing += `<${name} xmlns="${escapeMarkup(namespace)}"/>`;
  }
  return { found, missing };
}

function element(name: string, content: string): string {
  return content === "" ? `<D:${name}/>` : `<D:${name}>${content}</D:${name}>`;
}
