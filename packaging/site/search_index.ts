import MiniSearch, { type Options } from "minisearch";
import { pageOf } from "./links.ts";
import type { ParsedDocument } from "./markdown.ts";

/** What a search finds: a section of a document, or a name of the API. */
export interface Found {
  /** Its address, from the root of the site. */
  readonly url: string;
  /** Title of its page. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** The page needs the same to load the index. */
const OPTIONS: Options<Found> = {
  idField: "url",
  fields: ["page", "heading", "text"],
  storeFields: ["page", "heading", "text"],
};

/** The script that holds the index: a script, since a page that was opened as a file cannot fetch anything. */
export function searchScript(entries: readonly Found[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(entries);
  return `self.siteIndex = ${JSON.stringify({ options: OPTIONS, index })};\n`;
}

/** The sections of the documents. */
export function sectionEntries(
  documents: ReadonlyMap<string, ParsedDocument>,
): Found[] {
  return [...documents].flatMap(([document, { title, sections }]) =>
    sections.map(({ id, level, heading, text }) => ({
      url: level === 1 ? pageOf(document) : `${pageOf(document)}#${id}`,
      page: title,
      heading,
      text: text.replaceAll(/\s+/g, " ").trim(),
    }))
  );
}
