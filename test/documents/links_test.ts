/** Links of the documents are valid, each document starts with its question, and some have a maximum length. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../support/paths.ts";
import { documents } from "./blocks.ts";

const textOf = (document: string) =>
  fs.readFileSync(REPOSITORY + document, "utf8");

/** Removes code from a text, where brackets are not links. */
function prose(text: string): string {
  return text.replaceAll(/^( *)(```+)[^]*?^\1\2$/gm, "")
    .replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[[\]()#]/g, ""));
}

/** Returns the anchors of a document's headings, as GitHub generates them. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const headings = text.replaceAll(/^( *)(```+)[^]*?^\1\2$/gm, "")
    .matchAll(/^#+ (.*)$/gm);
  for (const [, heading] of headings) {
    const plain = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = plain;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${plain}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns why a link is broken, if it is. */
function problemOf(document: string, link: string): string | undefined {
  if (/^https:\/\/[\w.-]+\.\w+(\/\S*)?$/.test(link)) return undefined;
  const [file, anchor] = link.split("#") as [string, string?];
  const target = file === ""
    ? document
    : path.join(path.dirname(document), file);
  if (path.relative(".", target).startsWith("..")) return "out of the project";
  if (!fs.existsSync(REPOSITORY + target)) return "no such file";
  if (anchor === undefined) return undefined;
  return anchorsOf(textOf(target)).has(anchor) ? undefined : "no such heading";
}

Deno.test("links of the documents lead to existing files and headings", () => {
  let links = 0;
  for (const document of documents()) {
    const text = prose(textOf(document));
    for (const [, link] of text.matchAll(/\]\(([^)\s]*)\)/g)) {
      assert.equal(
        problemOf(document, link!),
        undefined,
        `${document}: ${link}`,
      );
      links++;
    }
  }
  assert.ok(links > 80, `only ${links} links were found`);
});

Deno.test("a broken link is found", () => {
  assert.equal(problemOf("docs/README.md", "none.md"), "no such file");
  assert.equal(problemOf("docs/README.md", "../../x.md"), "out of the project");
  assert.equal(
    problemOf("docs/README.md", "mounting.md#none"),
    "no such heading",
  );
  assert.equal(problemOf("README.md", "http://plain.org"), "no such file");
  assert.equal(problemOf("README.md", "#install"), undefined);
  assert.deepEqual(
    [...anchorsOf(
      "# A `b`, c-d\n\n```sh\n# no\n```\n\n## A b c-d\n## [X](y.md)'s\n",
    )],
    ["a-b-c-d", "a-b-c-d-1", "xs"],
  );
});

Deno.test("each document of docs/ starts with the question that it answers, and is in the index", () => {
  const found = documents().filter((document) => document.startsWith("docs/"));
  assert.ok(found.length > 15);
  const index = textOf("docs/README.md");
  for (const document of found) {
    assert.match(textOf(document), /^# .+\n\n_[A-Z](.+\n)*.*\?_\n\n/, document);
    const name = document.slice("docs/".length);
    if (name !== "README.md") assert.ok(index.includes(`(${name}`), document);
  }
});

Deno.test("docs/api.md lists each entry point, with its module", () => {
  const listed = textOf("docs/api.md").matchAll(
    /^\| \[`(@recordfs\/recordfs(?:\/\w+)?)`\]\(\.\.\/(\S+)\) +\|/gm,
  );
  assert.deepEqual(
    Object.fromEntries([...listed].map(([, entry, file]) => [entry, file])),
    Object.fromEntries(
      Object.entries(manifest.exports).map(([entry, file]) => [
        path.join(manifest.name, entry),
        path.normalize(file),
      ]),
    ),
  );
});

Deno.test("README.md and bench/README.md have at most 200 lines", () => {
  for (const document of ["README.md", "bench/README.md"]) {
    const lines = textOf(document).split("\n").length - 1;
    assert.ok(lines <= 200, `${document} has ${lines} lines`);
  }
});

Deno.test("messages that documents explain are those of the programs", () => {
  requireMessages(
    ["src/cli", "fuse"],
    "docs/trouble.md",
    "## What `mount` and `unmount` say",
    "## What else can be seen",
  );
  requireMessages(["src/io"], "docs/remote.md", "## When something fails");
});

/** Asserts that the messages in the tables of a document's section occur in the sources of some folders. */
function requireMessages(
  folders: readonly string[],
  document: string,
  from: string,
  to?: string,
): void {
  const text = textOf(document);
  const start = text.indexOf(from);
  const end = to === undefined ? text.length : text.indexOf(to);
  assert.ok(0 < start && start < end);
  const messages = [...text.slice(start, end).matchAll(/^\| `([^`]+)` +\|/gm)]
    .map(([, message]) => message!)
    .filter((message) => message.includes(" ")); // single words are error codes of stores
  assert.ok(messages.length > 10);
  const code = folders.flatMap((folder) =>
    fs.readdirSync(REPOSITORY + folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => textOf(`${folder}/${name}`))
  ).join("\n");
  for (const message of messages) {
    assert.ok(code.includes(message), `nobody says: ${message}`);
  }
}
