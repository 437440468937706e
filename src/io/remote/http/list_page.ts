import { PACKAGES } from "../../../base/packages.ts";
import { isFileName, type ListedFile } from "../listed_file.ts";

/** Entry of the JSON index of nginx (`autoindex_format json`). */
interface JsonEntry {
  readonly name: string;
  readonly type?: string;
  readonly size?: number;
  readonly mtime?: string;
}

/**
 * Parses a directory's page: JSON as nginx writes it, or HTML with a link per entry, as from nginx, Apache and Python's
 * server. Returns `undefined` for anything else.
 */
export async function entriesOfPage(
  text: string,
  contentType: string,
  url: URL,
): Promise<ListedFile[] | undefined> {
  if (/\bjson\b/i.test(contentType)) return jsonEntries(text);
  if (/\bhtml\b/i.test(contentType)) return await htmlEntries(text, url);
  return undefined;
}

function jsonEntries(text: string): ListedFile[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const isEntry = (entry: unknown): entry is JsonEntry =>
    typeof (entry as JsonEntry | null)?.name === "string";
  return list.filter(isEntry)
    .filter(({ name }) => isFileName(name))
    .map(({ name, type, size, mtime }) => ({
      name,
      isDirectory: type === "directory",
      size: typeof size === "number" ? size : undefined,
      mtime: Date.parse(mtime ?? "") || undefined,
    }));
}

/** Returns links to entries of the page's directory: not to its parent, to other sort orders, or elsewhere. */
async function htmlEntries(text: string, page: URL): Promise<ListedFile[]> {
  const { Parser }: typeof import("htmlparser2") = await import(
    PACKAGES.htmlparser2
  );
  const found = new Map<string, ListedFile>();
  const directory = page.pathname.replace(/[^/]*$/, "");
  const parser = new Parser({
    onopentag(tag, { href }) {
      const url = tag === "a" && href ? URL.parse(href, page) : null;
      if (url?.origin !== page.origin || url.search !== "") return;
      if (!url.pathname.startsWith(directory)) return;
      const rest = url.pathname.slice(directory.length);
      const isDirectory = rest.endsWith("/");
      const name = decoded(isDirectory ? rest.slice(0, -1) : rest);
      if (isFileName(name)) found.set(name, { name, isDirectory });
    },
  });
  parser.end(text);
  return [...found.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
