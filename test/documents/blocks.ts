/** The code blocks of the project's documents. */
import * as fs from "node:fs";
import { REPOSITORY } from "../support/paths.ts";

/** A fenced block of a document. */
export interface Block {
  /** Path of the document, from the repository's root on. */
  readonly document: string;
  /** Number of its first line in the document, from 1 on. */
  readonly line: number;
  /** What stands behind the fence: the language, and what else. */
  readonly info: string;
  readonly text: string;
  /** Why no test runs it, where the document says so in a comment right before it. */
  readonly notRun: string | undefined;
}

/** What stands before a block that no test runs. */
const NOT_RUN = /^<!-- Not run as a test: (.+) -->$/;

/** All blocks of all documents but those of test data. */
export function documentBlocks(): Block[] {
  return documents().flatMap((document) =>
    blocksOf(document, fs.readFileSync(REPOSITORY + document, "utf8"))
  );
}

/** The blocks of a document, whose text is given. */
export function blocksOf(document: string, text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let comment: string | undefined;
  for (let i = 0; i < lines.length; i++) {
    const [, indent, fence, info] = /^( *)(```+)(.*)$/.exec(lines[i]!) ?? [];
    if (fence === undefined) {
      // Comments are one line each: the formatter leaves those as they are.
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

/** Paths of the project's Markdown files, from its root on, below a directory there. */
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
