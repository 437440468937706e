/** The site of the documents and the API: whole, without a network, found by its search, and sound in a browser. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { posix } from "node:path";
import { pathToFileURL } from "node:url";
import { Parser } from "htmlparser2";
import MiniSearch from "minisearch";
import type { Page } from "playwright-core";
import manifest from "../../deno.json" with { type: "json" };
import { buildSite, type BuiltSite } from "../../packaging/site/build_site.ts";
import { rewriteLinks } from "../../packaging/site/links.ts";
import {
  parseDocument,
  renderDocument,
} from "../../packaging/site/markdown.ts";
import { pageTest } from "../serve/page/support/page_test_of.ts";
import { documents } from "./blocks.ts";

/** The site, built once. */
let built: Promise<{ readonly root: string } & BuiltSite> | undefined;

function site(): NonNullable<typeof built> {
  return built ??= (async () => {
    const root = fs.mkdtempSync(`${tmpdir()}/recordfs-site-`);
    addEventListener("unload", () => fs.rmSync(root, { recursive: true }));
    return { root, ...await buildSite(root) };
  })();
}

interface ReadPage {
  readonly title: string;
  readonly ids: ReadonlySet<string>;
  /** Those that are there twice. */
  readonly repeated: readonly string[];
  /** Addresses in `href` and `src`. */
  readonly links: readonly string[];
  /** Addresses of the navigation. */
  readonly navigation: readonly string[];
}

function readPage(file: string): ReadPage {
  const ids = new Set<string>();
  const repeated: string[] = [];
  const links: string[] = [];
  const navigation: string[] = [];
  let title = "";
  const open: string[] = [];
  const parser = new Parser({
    onopentag(name, { id, href, src }) {
      open.push(name);
      if (id !== undefined) {
        if (ids.has(id)) repeated.push(id);
        ids.add(id);
      }
      const link = href ?? src;
      if (link !== undefined) links.push(link);
      if (href !== undefined && open.includes("nav")) navigation.push(href);
    },
    ontext: (text) => void (open.at(-1) === "title" && (title += text)),
    onclosetag: () => void open.pop(),
  });
  parser.end(fs.readFileSync(file, "utf8"));
  return { title, ids, repeated, links, navigation };
}

/** Pages of documents by their paths; the reference's are Deno's. */
function pagesOf(root: string): Map<string, ReadPage> {
  const paths = fs.readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".html") && !path.startsWith("api/"));
  return new Map(paths.map((path) => [path, readPage(`${root}/${path}`)]));
}

Deno.test("each document has a page of its own title, and those of docs/ are in the navigation", async () => {
  const { root } = await site();
  const pages = pagesOf(root);
  assert.equal(pages.size, documents().length);
  const titles = [...pages.values()].map(({ title }) => title);
  assert.deepEqual(titles.filter((title) => !title), []);
  const { navigation } = pages.get("docs/mounting.html")!;
  const reached = new Set(
    navigation.map((link) => posix.join("docs", link)),
  );
  const missing = [...pages.keys()].filter((path) =>
    path.startsWith("docs/") && path !== "docs/index.html" && !reached.has(path)
  );
  assert.deepEqual(missing, []);
});

Deno.test("links of the site lead to files and anchors of it, and what it loads is its own", async () => {
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
  for (const entry of Object.keys(manifest.exports)) {
    const page = posix.join("api", entry, "index.html");
    const back = readPage(`${root}/${page}`).links
      .map((link) => posix.join(posix.dirname(page), link));
    assert.ok(back.includes("index.html"), page);
    const text = fs.readFileSync(`${root}/${page}`, "utf8");
    const name = posix.join(manifest.name, entry);
    if (entry !== ".") assert.ok(text.includes(`from &quot;${name}&quot;;`));
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
  for (const { id } of search.search("recordfs")) {
    assert.ok(fs.existsSync(`${root}/${id.split("#")[0]}`), id);
  }
});

/** A page of the site in a window, opened as a file: it needs no server. */
async function shown(
  page: Page,
  path: string,
): Promise<{ readonly problems: string[] }> {
  const { root } = await site();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) problems.push(request.url());
  });
  await page.goto(`${pathToFileURL(root)}/${path}`);
  return { problems };
}

pageTest(
  "the site's search leads to what it finds, by the keyboard",
  async (browser) => {
    const page = await browser.newPage();
    const { problems } = await shown(page, "docs/formats/tar.html");
    await page.keyboard.press("/");
    await page.keyboard.type("unmount lazily");
    const first = page.getByRole("option").first();
    await first.waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    assert.equal(await first.getAttribute("aria-selected"), "true");
    await page.keyboard.press("Enter");
    await page.waitForURL(/docs\/(?!formats).*\.html/);
    assert.match((await page.locator("main").textContent())!, /lazily/);
    await page.keyboard.press("/");
    await page.keyboard.type("nonexistentword");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#site-results").isHidden());
    assert.deepEqual(problems, []);
    await page.close();
  },
);

pageTest(
  "the site is light or dark as the system is, and no page is wider than a phone",
  async (browser) => {
    const { root } = await site();
    const page = await browser.newPage({
      viewport: { width: 360, height: 640 },
    });
    const back = () =>
      page.evaluate("getComputedStyle(document.body).backgroundColor");
    const { problems } = await shown(page, "index.html");
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await back(), "rgb(255, 255, 255)");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await back(), "rgb(255, 255, 255)");
    for (const path of pagesOf(root).keys()) {
      await page.goto(`${pathToFileURL(root)}/${path}`);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(Number(width) <= 360, `${path} is ${width} wide`);
    }
    assert.deepEqual(problems, []);
    await page.close();
  },
);
