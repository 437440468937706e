/** The code blocks of the project's documents. */
import * as fs from "node:fs";
import { REPOSITORY } from "../support/paths.ts";

/** A fenced block of a document. */
export interface Block {
  /** Path of the document, relative to the repository's root. */
  readonly document: string;
  /** Line number of the block's first line, from 1. */
  readonly line: number;
  /** Text after the fence: the language and attributes. */
  readonly info: string;
  readonly text: string;
  /** Reason why no test runs the block, from a comment right before it. */
  readonly notRun: string | undefined;
}

/** Comment before a block that no test runs. */
const NOT_RUN = /^<!-- Not run as a test: (.+) -->$/;

/** Returns all blocks of all documents, except those of test data. */
export function documentBlocks(): Block[] {
  return documents().flatMap((document) =>
    blocksOf(document, fs.readFileSync(REPOSITORY + document, "utf8"))
  );
}

/** Returns the blocks in the text of a document. */
export function blocksOf(document: string, text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let comment: string | undefined;
  for (let i = 0; i < lines.length; i++) {
    const [, indent, fence, info] = /^( *)(```+)(.*)$/.exec(lines[i]!) ?? [];
    if (fence === undefined) {
      // The comments have one line each, since the formatter never wraps comments.
      if (lines[i] !== "") comment = NOT_RUN.exec(lines[i]!.trim())?.[1];
      continue;
    }
    const end = lines.indexOf(indent + fence, i + 1);
    if (end < 0) throw new Error(`${document}:${i + 1}: the block has no end`);
    blocks.push({
      document,
      line: i + 2,
      info: info!.trim(),
      text: lines.slice(i + 1, end)
        .map((line) => line.slice(indent!.length)).join("\n"),
      notRun: comment,
    });
    comment = undefined;
    i = end;
  }
  return blocks;
}

/** Returns the paths of the project's Markdown files below a directory, relative to the root. */
export function documents(below = ""): string[] {
  return fs.readdirSync(REPOSITORY + below, { withFileTypes: true })
    .flatMap((entry) => {
      const path = below + entry.name;
      if (entry.isDirectory()) {
        return /^(\..*|node_modules|test)$/.test(entry.name)
          ? []
          : documents(`${path}/`);
      }
      return path.endsWith(".md") ? [path] : [];
    }).sort();
}
