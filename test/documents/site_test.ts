/** The site of the documents and the API: complete, self-contained and searchable. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { posix } from "node:path";
import MiniSearch from "minisearch";
import manifest from "../../deno.json" with { type: "json" };
import { rewriteLinks } from "../../packaging/site/links.ts";
import {
  parseDocument,
  renderDocument,
} from "../../packaging/site/markdown.ts";
import { documents } from "./blocks.ts";
import { pagesOf, readPage, site } from "./site.ts";

Deno.test("each document has a page of its own title, and those of docs/ are in the navigation", async () => {
  const { root } = await site();
  const pages = pagesOf(root);
  assert.equal(pages.size, documents().length);
  const titles = [...pages.values()].map(({ title }) => title);
  assert.deepEqual(titles.filter((title) => !title), []);
  assert.equal(new Set(titles).size, titles.length);
  const { navigation } = pages.get("docs/mounting.html")!;
  const reached = new Set(
    navigation.map((link) => posix.join("docs", link)),
  );
  const missing = [...pages.keys()].filter((path) =>
    path.startsWith("docs/") && path !== "docs/index.html" && !reached.has(path)
  );
  assert.deepEqual(missing, []);
});

Deno.test("links of the site lead to its files and anchors, and it loads only its own resources", async () => {
  const { root } = await site();
  const pages = pagesOf(root);
  let count = 0;
  for (const [page, { links, repeated }] of pages) {
    assert.deepEqual(repeated, [], page);
    for (const link of links) {
      if (link.startsWith("https://")) continue;
      const [path, anchor] = link.split("#") as [string, string?];
      const target = path === "" ? page : posix.join(posix.dirname(page), path);
      assert.ok(fs.existsSync(`${root}/${target}`), `${page}: ${link}`);
      const found = anchor === undefined || pages.get(target)!.ids.has(anchor);
      assert.ok(found, `${page}: ${link}`);
      count++;
    }
  }
  assert.ok(count > 2000, `only ${count} links were found`);
});

Deno.test("a link that leads nowhere fails the build; one to a file without a page is text", () => {
  const rewritten = (text: string) => {
    const documents = new Map([
      ["docs/a.md", parseDocument(`# A\n\n${text}\n`)],
      ["docs/b/README.md", parseDocument("# B\n\n## C, `d`\n")],
    ]);
    rewriteLinks("docs/a.md", documents);
    return renderDocument(documents.get("docs/a.md")!);
  };
  assert.match(rewritten("[x](b/README.md#c-d)"), /href="b\/index.html#c-d"/);
  assert.match(rewritten("[x](../mod.ts)"), /href="..\/api\/index.html"/);
  assert.match(rewritten("[x](../LICENSE)"), /<span [^>]*>x<\/span>/);
  assert.throws(() => rewritten("[x](c.md)"), /c\.md: there is no such file/);
  assert.throws(() => rewritten("[x](#b)"), /#b: there is no such heading/);
  assert.throws(() => rewritten("<b>x</b>"), /no HTML of their own/);
  assert.doesNotMatch(rewritten("<!-- x -->"), /x/);
});

Deno.test("the reference has each entry point, and leads back to the documents", async () => {
  const { root } = await site();
  const { links } = readPage(`${root}/api/index.html`);
  for (const entry of Object.keys(manifest.exports)) {
    const page = posix.join("api", entry, "index.html");
    const back = readPage(`${root}/${page}`).links
      .map((link) => posix.join(posix.dirname(page), link));
    assert.ok(back.includes("index.html"), page);
    const text = fs.readFileSync(`${root}/${page}`, "utf8");
    const name = posix.join(manifest.name, entry);
    if (entry === ".") continue;
    assert.ok(text.includes(`from &quot;${name}&quot;;`), page);
    assert.ok(links.some((link) => posix.join("api", link) === page), page);
  }
});

Deno.test("a search finds documents by their words, and names of the API", async () => {
  const { root, entries } = await site();
  const script = fs.readFileSync(`${root}/assets/search_index.js`, "utf8");
  const { options, index } = JSON.parse(
    script.replace(/^self\.siteIndex = /, "").replace(/;\n$/, ""),
  );
  const search = MiniSearch.loadJS(index, options);
  assert.equal(search.documentCount, entries);
  const best = (words: string) => {
    const boost = { heading: 4, page: 3 };
    const found = search.search(words, { combineWith: "AND", boost });
    return found.slice(0, 5).map(({ id }) => id);
  };
  assert.ok(best("DataLoader").includes("api/data/~/DataLoader.html"));
  assert.ok(best("docker").includes("docs/docker.html"));
  assert.ok(best("shuffle epoch").some((url) => url.startsWith("docs/")));
  const pages = pagesOf(root);
  for (const url of Object.values<string>(index.documentIds)) {
    const [path, anchor] = url.split("#") as [string, string?];
    assert.ok(fs.existsSync(`${root}/${path}`), url);
    assert.ok(anchor === undefined || pages.get(path)!.ids.has(anchor), url);
  }
});
