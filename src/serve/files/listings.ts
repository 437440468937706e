import { runAsync } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { escapeMarkup, page, SAFE, unsent } from "../answers.ts";
import type { AnswerRoom } from "../answer_room.ts";
import { Turns } from "../api/turns.ts";
import { entriesFrom, type ListedEntry } from "../entries.ts";
import { encodeUrlName } from "../paths.ts";
import type { RequestLike } from "../request_like.ts";
import type { Served } from "../served.ts";

/** Entries that are described at a time: a directory of any size takes little memory. */
const PAGE = 40;

/** Whether a directory is wanted as a page: browsers ask for HTML, programs for anything. */
export function wantsPage({ headers }: RequestLike, query: string): boolean {
  if (query === "json") return false;
  return query === "html" || /\btext\/html\b/.test(headers.get("accept") ?? "");
}

/** A directory as nginx' `autoindex_format json` writes it, as it is listed. */
export function jsonListing(
  served: Served,
  directory: NodeId,
  { method, room }: RequestLike,
): Response {
  return new Response(
    method === "HEAD"
      ? unsent()
      : pieces(served, directory, jsonPiece, "[", "\n]\n", room),
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
  const response = page(
    method === "HEAD"
      ? unsent()
      : pieces(served, directory, pagePiece, start, "</pre>\n</html>\n", room),
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
  room: AnswerRoom | undefined,
): ReadableStream<Uint8Array> {
  // A function of its own: nothing of a page is kept while it is sent.
  const pageFrom = async (cursor: number, signal: AbortSignal) => {
    const steps = entriesFrom(tree, directory, cursor, PAGE);
    const { entries, next } = await runAsync(steps, signal);
    return { text: piece(entries, cursor === 0), next };
  };
  return streams.ofText(async function* (signal) {
    yield start;
    const turns = new Turns();
    for (let cursor: number | undefined = 0; cursor !== undefined;) {
      const page: { text: string; next: number | undefined } = await pageFrom(
        cursor,
        signal,
      );
      cursor = page.next;
      yield page.text;
      if (turns.areDue) await turns.give();
    }
    yield end;
  }, { room });
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
