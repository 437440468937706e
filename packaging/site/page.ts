import { escapeHtml, type ParsedDocument, renderDocument } from "./markdown.ts";
import { API, pageOf, relativeLink } from "./links.ts";
import type { Group } from "./navigation.ts";

/** The page of a document as HTML, with the navigation and the search of the site. */
export function htmlPage(
  document: string,
  documents: ReadonlyMap<string, ParsedDocument>,
  groups: readonly Group[],
): string {
  const page = pageOf(document);
  const parsed = documents.get(document)!;
  const to = (target: string) => relativeLink(page, target);
  const title = escapeHtml(parsed.title);
  const link = (target: string) => {
    const current = target === document ? ' aria-current="page"' : "";
    const text = escapeHtml(documents.get(target)!.title);
    return `<li><a href="${to(pageOf(target))}"${current}>${text}</a></li>`;
  };
  const api = to(`${API}/index.html`);
  return `<!DOCTYPE html>
<html lang="en" data-root="${to("") || "."}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document === "README.md" ? title : `${title} · recordfs`}</title>
<link rel="stylesheet" href="${to("assets/site.css")}">
<link rel="icon" href="${to("assets/icon.svg")}">
<script src="${to("assets/search.js")}" defer></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the text</a>
<header>
<a class="home" href="${to("index.html")}">recordfs</a>
<search>
<input type="search" placeholder="Search" aria-label="Search the documents and the API" aria-keyshortcuts="/"
 role="combobox" aria-expanded="false" aria-controls="site-results" autocomplete="off" spellcheck="false">
<ul id="site-results" role="listbox" aria-label="Results" hidden></ul>
</search>
<a class="contents" href="#site-navigation">Contents</a>
<a class="api" href="${api}">API</a>
</header>
<main id="site-content">
${renderDocument(parsed)}</main>
${tableOfContents(parsed)}
<nav id="site-navigation" aria-label="Documents">
<ul><li><a href="${to("index.html")}"${
    document === "README.md" ? ' aria-current="page"' : ""
  }>recordfs</a></li><li><a href="${api}">API reference</a></li></ul>
${
    groups.map(({ title, documents }) =>
      `<h2>${escapeHtml(title)}</h2>\n<ul>${
        documents.map(link).join("\n")
      }</ul>\n`
    ).join("")
  }</nav>
</body>
</html>
`;
}

/** Links to the sections of a page that has several. */
function tableOfContents({ sections }: ParsedDocument): string {
  const shown = sections.filter(({ level }) => level === 2);
  if (shown.length < 2) return "";
  const links = shown.map(({ id, heading }) =>
    `<li><a href="#${escapeHtml(id)}">${escapeHtml(heading)}</a></li>`
  );
  return `<aside aria-label="On this page"><h2>On this page</h2>
<ul>${links.join("\n")}</ul></aside>`;
}
