import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { documentFiles } from "../documents.ts";
import { REPOSITORY } from "../repository.ts";
import { apiReference } from "./api_reference.ts";
import { pageOf, rewriteLinks } from "./links.ts";
import { type ParsedDocument, parseDocument } from "./markdown.ts";
import { navigation } from "./navigation.ts";
import { htmlPage } from "./page.ts";
import { searchScript, sectionEntries } from "./search_index.ts";

/** What was built. */
export interface BuiltSite {
  /** Pages of documents. */
  readonly pages: number;
  /** What the search finds: sections of documents, and names of the API. */
  readonly entries: number;
}

/**
 * Builds the site of the documents and the API, which needs no server and no network.
 *
 * @param directory What was there is replaced.
 * @throws {Error} If a link of a document leads nowhere.
 */
export async function buildSite(directory: string): Promise<BuiltSite> {
  const files = documentFiles();
  const documents = new Map<string, ParsedDocument>();
  for (const path of files.filter((path) => path.endsWith(".md"))) {
    const text = await Deno.readTextFile(REPOSITORY + path);
    documents.set(path, parseDocument(text));
  }
  const groups = navigation(documents); // before links are those of pages
  for (const document of documents.keys()) rewriteLinks(document, documents);

  rmSync(directory, { recursive: true, force: true });
  const put = (path: string, content: string) => {
    mkdirSync(dirname(`${directory}/${path}`), { recursive: true });
    writeFileSync(`${directory}/${path}`, content);
  };
  for (const document of documents.keys()) {
    put(pageOf(document), htmlPage(document, documents, groups));
  }
  for (const picture of files.filter((path) => path.endsWith(".png"))) {
    cpSync(REPOSITORY + picture, `${directory}/${picture}`);
  }
  const entries = [
    ...sectionEntries(documents),
    ...await apiReference(directory),
  ];
  put("assets/search_index.js", searchScript(entries));
  for (const [path, source] of assets()) {
    cpSync(source, `${directory}/assets/${path}`);
  }
  return { pages: documents.size, entries: entries.length };
}

/** Files of the pages, and where they are taken from. */
function assets(): [path: string, source: URL][] {
  const own = (name: string) => new URL(`assets/${name}`, import.meta.url);
  const icon = `${REPOSITORY}src/serve/page/icon.svg`;
  // As a script that is no module: browsers load no module for a page that was opened as a file.
  const search = new URL("../umd/index.js", import.meta.resolve("minisearch"));
  return [
    ["site.css", own("site.css")],
    ["search.js", own("search.js")],
    ["icon.svg", new URL(icon, "file:///")],
    ["minisearch.js", search],
  ];
}
