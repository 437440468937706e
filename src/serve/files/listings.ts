import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { escapeMarkup, page, SAFE, unsent } from "../answers.ts";
import { Turns } from "../api/turns.ts";
import { entriesFrom, type EntryPage, type ListedEntry } from "../entries.ts";
import { encodeUrlName } from "../paths.ts";
import type { RequestLike } from "../request_like.ts";
import type { Served } from "../served.ts";

/** Entries that are described at a time: a directory of any size takes little memory. */
const PAGE = 500;

/** Whether a directory is wanted as a page: browsers ask for HTML, programs for anything. */
export function wantsPage({ headers }: RequestLike, query: string): boolean {
  if (query === "json") return false;
  return query === "html" || /\btext\/html\b/.test(headers.get("accept") ?? "");
}

/** A directory as nginx' `autoindex_format json` writes it, as it is listed. */
export function jsonListing(
  served: Served,
  directory: NodeId,
  isHead: boolean,
): Response {
  return new Response(
    isHead ? unsent() : pieces(served, directory, jsonPiece, "[", "\n]\n"),
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

/** A directory as a page of links. */
export function pageListing(
  served: Served,
  directory: NodeId,
  title: string,
  isHead: boolean,
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
  const response = page(
    isHead
      ? unsent()
      : pieces(served, directory, pagePiece, start, "</pre>\n</html>\n"),
  );
  response.headers.set("vary", "accept");
  return response;
}

function pieces(
  { tree, streams }: Served,
  directory: NodeId,
  piece: (entries: readonly ListedEntry[], isFirst: boolean) => string,
  start: string,
  end: string,
): ReadableStream<Uint8Array> {
  return streams.ofText(async function* (signal) {
    yield start;
    const turns = new Turns();
    for (let cursor: number | undefined = 0; cursor !== undefined;) {
      const steps: Steps<EntryPage<ListedEntry>> = entriesFrom(
        tree,
        directory,
        cursor,
        PAGE,
      );
      const { entries, next } = await runAsync(steps, signal);
      yield piece(entries, cursor === 0);
      if (turns.areDue) await turns.give();
      cursor = next;
    }
    yield end;
  });
}

/** Names that are not UTF-8 stand as those of other characters: JSON has no others. */
function jsonPiece(entries: readonly ListedEntry[], isFirst: boolean): string {
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

function pagePiece(entries: readonly ListedEntry[]): string {
  return entries.map(({ name, isDirectory, size }) => {
    const slash = isDirectory ? "/" : "";
    // A colon in a first name would end a scheme.
    const href = `./${encodeUrlName(name)}${slash}`;
    const bytes = isDirectory ? "" : `  ${size ?? "damaged"}`;
    return `<a href="${href}">${escapeMarkup(name)}${slash}</a>${bytes}\n`;
  }).join("");
}
