import MarkdownIt, { type Token } from "markdown-it";
import GithubSlugger from "github-slugger";
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import shell from "highlight.js/lib/languages/shell";
import typescript from "highlight.js/lib/languages/typescript";

/** Grammars by what stands behind the fence of a block; other blocks have one colour. */
const GRAMMARS = {
  console: shell,
  ini,
  json,
  jsonl: json,
  nginx,
  python,
  sh: bash,
  ts: typescript,
};
for (const [name, grammar] of Object.entries(GRAMMARS)) {
  highlighter.registerLanguage(name, grammar);
}

const markdown = new MarkdownIt({
  html: true, // comments; see `withoutComments`
  highlight: (text, info) => {
    const language = info.split(" ", 1)[0]!;
    return language in GRAMMARS
      ? highlighter.highlight(text, { language }).value
      : "";
  },
});
markdown.renderer.rules.table_open = () => '<div class="table"><table>\n';
markdown.renderer.rules.table_close = () => "</table></div>\n";
markdown.renderer.rules.heading_close = (tokens, i) => {
  const id = escapeHtml(String(tokens[i - 2]!.attrGet("id")));
  return `<a class="anchor" href="#${id}" aria-label="Link here">#</a></${
    tokens[i]!.tag
  }>\n`;
};

/** A part of a document: a heading, and what follows up to the next one. */
export interface Section {
  /** Anchor of the heading, as GitHub makes it. */
  readonly id: string;
  /** 1 for the title. */
  readonly level: number;
  readonly heading: string;
  /** Its prose and code, without markup. */
  readonly text: string;
}

/** A document that was parsed. */
export interface ParsedDocument {
  readonly title: string;
  readonly sections: readonly Section[];
  readonly tokens: readonly Token[];
}

/** Parses a document, and gives its headings their anchors. */
export function parseDocument(text: string): ParsedDocument {
  const tokens = withoutComments(markdown.parse(text, {}));
  const slugger = new GithubSlugger();
  const sections: (Section & { text: string })[] = [];
  tokens.forEach((token, i) => {
    if (token.type === "heading_open") {
      const heading = plainText(tokens[i + 1]!);
      const id = slugger.slug(heading);
      token.attrSet("id", id);
      const level = Number(token.tag.slice(1));
      sections.push({ id, level, heading, text: "" });
    } else if (tokens[i - 1]?.type !== "heading_open") {
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${plainText(token)} `;
    }
  });
  const title = sections[0]?.heading;
  if (title === undefined) throw new Error("A document needs a title");
  return { title, sections, tokens };
}

/** The HTML of a document. */
export function renderDocument({ tokens }: ParsedDocument): string {
  return markdown.renderer.render([...tokens], markdown.options, {});
}

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  return markdown.utils.escapeHtml(text);
}

/** Comments are for tests; other HTML is not written in documents. */
function withoutComments(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ type, content, children }) => {
    const html = type === "html_block"
      ? content
      : children?.find((child) => child.type === "html_inline")?.content;
    if (html === undefined) return true;
    if (/^<!--[^]*-->\s*$/.test(html)) return false;
    throw new Error(`Documents have no HTML of their own: ${html}`);
  });
}

function plainText({ type, content, children }: Token): string {
  if (type === "softbreak") return " ";
  return children === null ? content : children.map(plainText).join("");
}
