// deno-lint-ignore-file no-console -- a program for the terminal
/** Builds the site of the documents and the API: `deno task site [DIRECTORY]`, `dist/site` unless told otherwise. */
import { DIST } from "./repository.ts";
import { buildSite } from "./site/build_site.ts";

const directory = Deno.args[0] ?? `${DIST}/site`;
const { pages, entries } = await buildSite(directory);
console.log(
  `${directory}/index.html: ${pages} pages, ${entries} entries of the search`,
);
