/** Builds the site of the documents and the API once for the tests of a file. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { Parser } from "htmlparser2";
import { buildSite, type BuiltSite } from "../../packaging/site/build_site.ts";

/** The site, built once. */
let built: Promise<{ readonly root: string } & BuiltSite> | undefined;

/** Returns the built site and its directory. */
export function site(): NonNullable<typeof built> {
  return built ??= (async () => {
    const root = fs.mkdtempSync(`${tmpdir()}/recordfs-site-`);
    addEventListener("unload", () => fs.rmSync(root, { recursive: true }));
    return { root, ...await buildSite(root) };
  })();
}

/** Facts of a page. */
export interface ReadPage {
  readonly title: string;
  readonly ids: ReadonlySet<string>;
  /** Ids that occur twice. */
  readonly repeated: readonly string[];
  /** Values of `href` and `src`. */
  readonly links: readonly string[];
  /** Links in the navigation. */
  readonly navigation: readonly string[];
}

export function readPage(file: string): ReadPage {
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

/** Reads the pages of documents, by path. Those of the API reference are made by Deno. */
export function pagesOf(root: string): Map<string, ReadPage> {
  const paths = fs.readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".html") && !path.startsWith("api/"));
  return new Map(paths.map((path) => [path, readPage(`${root}/${path}`)]));
}
