import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { prefersHtml } from "../accept.ts";
import { escapeMarkup, page, SAFE, unsent } from "../responses.ts";
import type { ListedEntry } from "../entries.ts";
import { encodeUrlName } from "../paths.ts";
import type { RequestLike } from "../request_like.ts";
import type { Served } from "../served.ts";
import { entryPages, type EntryText } from "./entry_pages.ts";

const PAGE = 40;

const JSON_LIST: EntryText = {
  start: "[",
  end: "\n]\n",
  page: PAGE,
  describe: jsonPiece,
};

/** Whether to send a directory as HTML: `?html` or `?json` decide, else `Accept`. */
export function wantsPage({ headers }: RequestLike, query: string): boolean {
  if (query === "json") return false;
  return query === "html" || prefersHtml(headers.get("accept"));
}

/** Streams a directory as JSON, in the form of nginx's `autoindex_format json`. */
export function jsonListing(
  served: Served,
  directory: NodeId,
  { method, room }: RequestLike,
): Response {
  return new Response(
    method === "HEAD"
      ? unsent()
      : entryPages(served, directory, JSON_LIST, room),
    {
      headers: [
        ["content-type", "application/json"],
        ["cache-control", "no-store"],
        ["vary", "accept"],
        ...SAFE,
      ],
    },
  );
}

/** Streams a directory as an HTML page of links. */
export function pageListing(
  served: Served,
  directory: NodeId,
  title: string,
  { method, room }: RequestLike,
): Response {
  const shown = escapeMarkup(title);
  const start = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${shown}</title>
<h1>${shown}</h1>
<pre>
${title === "/" ? "" : '<a href="../">../</a>\n'}`;
  const links: EntryText = {
    start,
    end: "</pre>\n</html>\n",
    page: PAGE,
    describe: pagePiece,
  };
  const response = page(
    method === "HEAD" ? unsent() : entryPages(served, directory, links, room),
  );
  response.headers.set("vary", "accept");
  return response;
}

/** Names that are not UTF-8 get replacement characters, because JSON cannot represent them. */
// deno-lint-ignore require-yield
function* jsonPiece(
  entries: readonly ListedEntry[],
  isFirst: boolean,
): Steps<string> {
  return entries.map(({ name, isDirectory, size, mtime }, i) => {
    const facts = {
      name: name.toWellFormed(),
      type: isDirectory ? "directory" : "file",
      mtime: new Date(mtime).toUTCString(),
      ...(isDirectory || size === null ? {} : { size }),
    };
    return `${isFirst && i === 0 ? "\n" : ",\n"}${JSON.stringify(facts)}`;
  }).join("");
}

// deno-lint-ignore require-yield
function* pagePiece(entries: readonly ListedEntry[]): Steps<string> {
  return entries.map(({ name, isDirectory, size }) => {
    const slash = isDirectory ? "/" : "";
    // fsspec treats references that begin with `http` as absolute URLs.
    const here = name.startsWith("http") ? "./" : "";
    const href = `${here}${encodeUrlName(name)}${slash}`;
    const bytes = isDirectory ? "" : `  ${size ?? "damaged"}`;
    return `<a href="${href}">${escapeMarkup(name)}${slash}</a>${bytes}\n`;
  }).join("");
}
