import { readdirSync } from "node:fs";
import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../repository.ts";
import { API } from "./links.ts";
import type { Found } from "./search_index.ts";

/** What the buttons at the top of a page of the reference stand in. */
const BUTTONS = '<div class="flex items-center gap-2">';

/**
 * Makes the reference of the API in the folder of that name, by `deno doc`, with a way back to the documents, and
 * returns the names that a search finds.
 */
export async function apiReference(site: string): Promise<Found[]> {
  const directory = `${site}/${API}`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["doc", "--html", "--no-npm", "--no-remote"],
      ...[`--name=${manifest.name}`, `--output=${directory}`],
      ...Object.values(manifest.exports),
    ],
    cwd: REPOSITORY,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  if (!success) {
    throw new Error(`deno doc failed: ${new TextDecoder().decode(stderr)}`);
  }
  const pages = { recursive: true, encoding: "utf8" } as const;
  for (const page of readdirSync(directory, pages)) {
    if (page.endsWith(".html")) mend(directory, page);
  }
  return namesOf(await Deno.readTextFile(`${directory}/search_index.js`));
}

/** Leads a page of the reference back to the documents, and completes and links the names of entry points. */
function mend(directory: string, page: string): void {
  const text = Deno.readTextFileSync(`${directory}/${page}`);
  if (!text.includes(BUTTONS)) return; // it only leads to another page
  const home = "../".repeat(page.split("/").length);
  const link = `<a href="${home}index.html" class="contextLink">Documents</a>`;
  const mended = text.replace(BUTTONS, BUTTONS + link)
    .replaceAll(/(?<= from &quot;)[\w.]+(?=&quot;;)/g, entryPoint)
    .replaceAll(/<td><code>(@[\w/]+)<\/code>/g, (cell, name: string) => {
      const entry = name.slice(manifest.name.length + 1);
      return `./${entry}` in manifest.exports
        ? `<td><a href="${home}${API}/${entry}/index.html"><code>${name}</code></a>`
        : cell;
    });
  Deno.writeTextFileSync(`${directory}/${page}`, mended);
}

/** What a program imports, by the name that the reference gives it: `.` or `data`. */
function entryPoint(name: string): string {
  if (name === ".") return manifest.name;
  return `./${name}` in manifest.exports ? `${manifest.name}/${name}` : name;
}

interface Node {
  readonly name: string;
  readonly file: string;
  readonly doc: string;
  readonly url: string;
}

/** The names in the index of the reference's own search; members are found by their classes. */
function namesOf(script: string): Found[] {
  const json = /= (\{.*\});?\s*$/m.exec(script)?.[1];
  if (json === undefined) throw new Error("deno doc made no search index");
  const { nodes } = JSON.parse(json) as { nodes: Node[] };
  const found = nodes.filter(({ name }) => !name.includes("."))
    .map(({ name, file, doc, url }) => ({
      url: `${API}/${url.replace(/^(\.\/)+/, "")}`,
      page: entryPoint(file),
      heading: name,
      text: doc.slice(0, 400),
    }));
  return [...new Map(found.map((entry) => [entry.url, entry])).values()];
}
