import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { Token } from "markdown-it";
import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../repository.ts";
import type { ParsedDocument } from "./markdown.ts";

/** Where the reference of the API lies in the site. */
export const API = "api";

/** The page of a document: a README is the index of its folder. */
export function pageOf(document: string): string {
  return document.replace(/README\.md$/, "index.md")
    .replace(/\.md$/, ".html");
}

/** The path of one page or file of the site as another links to it. */
export function relativeLink(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to);
}

/**
 * Makes the links of a document those of its page. A link to an entry point leads to its reference; one to another file
 * of the repository, which the site does not have, becomes text with the file's path.
 *
 * @throws {Error} If a link leads nowhere.
 */
export function rewriteLinks(
  document: string,
  documents: ReadonlyMap<string, ParsedDocument>,
): void {
  const rewrite = (tokens: readonly Token[]) => {
    let isFile = false;
    for (const token of tokens) {
      if (token.type === "link_open") {
        const href = String(token.attrGet("href"));
        const target = targetOf(document, href, documents);
        isFile = typeof target !== "string";
        if (typeof target === "string") token.attrSet("href", target);
        else {
          token.tag = "span";
          token.attrs = [["class", "file"], ["title", target.file]];
        }
      } else if (token.type === "link_close" && isFile) token.tag = "span";
      if (token.children !== null) rewrite(token.children);
    }
  };
  rewrite(documents.get(document)!.tokens);
}

function targetOf(
  document: string,
  href: string,
  documents: ReadonlyMap<string, ParsedDocument>,
): string | { readonly file: string } {
  if (href.startsWith("https://")) return href;
  const [path, anchor] = href.split("#") as [string, string?];
  const file = path === ""
    ? document
    : posix.join(posix.dirname(document), decodeURI(path));
  const fail = (reason: string) =>
    new Error(`Cannot build the page of ${document}: ${href}: ${reason}`);
  const linked = documents.get(file);
  if (linked !== undefined) {
    const isThere = anchor === undefined ||
      linked.sections.some(({ id }) => id === anchor);
    if (!isThere) throw fail("there is no such heading");
    const page = file === document
      ? ""
      : relativeLink(pageOf(document), pageOf(file));
    return anchor === undefined ? page : `${page}#${anchor}`;
  }
  if (!existsSync(REPOSITORY + file)) throw fail("there is no such file");
  const entry = Object.entries(manifest.exports)
    .find(([, module]) => module === `./${file}`)?.[0];
  if (entry === undefined) return { file };
  const page = posix.join(API, entry, "index.html");
  return relativeLink(pageOf(document), page);
}
