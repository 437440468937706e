/** The page's modules: which are preloaded, and that none is external. */
import assert from "node:assert/strict";
import { stripTypeScriptTypes } from "node:module";
import { REPOSITORY } from "../../support/paths.ts";

const PAGE = `${REPOSITORY}src/serve/page/`;

function modulesIn(folder = ""): string[] {
  return [...Deno.readDirSync(PAGE + folder)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? modulesIn(`${folder}${name}/`)
      : name.endsWith(".ts")
      ? [folder + name]
      : []
  );
}

/** Returns the imports of a module as it is served: without types. */
function importsOf(module: string): { when: string; of: string }[] {
  const code = stripTypeScriptTypes(Deno.readTextFileSync(PAGE + module));
  return [...code.matchAll(/(\bfrom|\bimport\()\s*"([^"]+)"/g)].map(
    ([, when, of]) => ({ when: when!, of: of! }),
  );
}

Deno.test("modules of the page import only each other: nothing is built or external", () => {
  const modules = modulesIn();
  assert.ok(modules.length > 30);
  for (const module of modules) {
    for (const { of } of importsOf(module)) {
      assert.ok(of.startsWith("."), `${module}: ${of}`);
      const path = new URL(of, `file:///${module}`).pathname.slice(1);
      assert.ok(modules.includes(path), `${module}: ${of}`);
    }
  }
});

Deno.test("the document preloads exactly what its first view imports", () => {
  const html = Deno.readTextFileSync(`${PAGE}index.html`);
  const preloaded = [
    ...html.matchAll(/rel="modulepreload" href="page\/([^"]+)"/g),
  ]
    .map(([, module]) => module!);
  const imported = new Set<string>();
  const visit = (module: string) => {
    for (const { when, of } of importsOf(module)) {
      const path = new URL(of, `file:///${module}`).pathname.slice(1);
      if (when !== "from" || imported.has(path)) continue;
      imported.add(path);
      visit(path);
    }
  };
  visit("main.ts");
  assert.deepEqual(preloaded, [...imported].sort());
});

Deno.test("no module creates elements from markup, and none evaluates text", () => {
  for (const module of modulesIn()) {
    assert.doesNotMatch(
      Deno.readTextFileSync(PAGE + module),
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML|\beval\b|new Function|srcdoc/,
      module,
    );
  }
});
