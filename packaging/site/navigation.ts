import type { Token } from "markdown-it";
import { posix } from "node:path";
import type { ParsedDocument } from "./markdown.ts";

/** The index from which the navigation is made. */
const INDEX = "docs/README.md";

/** Documents of one subject. */
export interface Group {
  readonly title: string;
  /** Paths of documents, each once. */
  readonly documents: readonly string[];
}

/** The documents of each section of the index of `docs/`. */
export function navigation(
  documents: ReadonlyMap<string, ParsedDocument>,
): Group[] {
  const { tokens } = documents.get(INDEX)!;
  const seen = new Set<string>();
  const groups: { title: string; documents: string[] }[] = [];
  tokens.forEach(({ type, tag }, i) => {
    if (type === "heading_open" && tag === "h2") {
      groups.push({ title: tokens[i + 1]!.content, documents: [] });
      return;
    }
    for (const link of linksOf(tokens[i]!)) {
      const document = posix.join(posix.dirname(INDEX), link);
      const isPart = document.includes("#");
      if (groups.length === 0 || isPart || seen.has(document)) continue;
      seen.add(document);
      groups.at(-1)!.documents.push(document);
    }
  });
  return groups;
}

function linksOf({ children }: Token): string[] {
  return (children ?? []).filter(({ type }) => type === "link_open")
    .map((token) => String(token.attrGet("href")));
}
