/** The checks of a release, and its bill of materials. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import manifest from "../../deno.json" with { type: "json" };
import { rootPackage } from "../../packaging/package/package_files.ts";
import { billOfMaterials } from "../../packaging/release/bill_of_materials.ts";
import { faultsOf, hasDay } from "../../packaging/release/checks.ts";
import { REPOSITORY } from "../support/paths.ts";

const textOf = (path: string) => fs.readFileSync(REPOSITORY + path, "utf8");

/** Returns the faults after a text of one file was replaced. */
function faultsWith(path: string, from: RegExp, to: string): string[] {
  return faultsOf((asked) => {
    if (asked !== path) return textOf(asked);
    const text = textOf(asked);
    assert.match(text, from);
    return text.replace(from, to);
  }, { isDraft: true });
}

Deno.test("the repository could be released, except for the date and uncommitted changes", () => {
  assert.deepEqual(faultsOf(textOf, { isDraft: true }), []);
});

Deno.test("scripts of packages are denied by name, so that installing does not warn of them", () => {
  const lock = JSON.parse(textOf("deno.lock"));
  const withScripts = Object.entries(
    lock.npm as Record<string, { readonly scripts?: boolean }>,
  ).filter(([, { scripts }]) => scripts).map(([key]) =>
    `npm:${key.replace(/@[^@]*$/, "")}`
  );
  assert.deepEqual(withScripts, manifest.allowScripts.deny);
});

Deno.test("a version without a date in the changelog is a draft", () => {
  assert.ok(hasDay("# Changelog\n\n## 1.2.3 – 2026-01-31\n\n## 1.2.2 – x\n"));
  assert.ok(!hasDay("# Changelog\n\n## 1.2.3 – unreleased\n"));
  assert.ok(!hasDay("# Changelog\n"));
});

Deno.test("installing is explained on a screen", () => {
  assert.ok(textOf("docs/install.md").split("\n").length <= 46);
});

Deno.test("a release is refused if versions disagree, or a date is missing", () => {
  const heading = /^## \S+ – .+$/m;
  assert.deepEqual(
    faultsWith("CHANGELOG.md", heading, "## 9.9.9 – 2026-01-31"),
    [
      `CHANGELOG.md begins with 9.9.9, and deno.json has version ${manifest.version}`,
    ],
  );
  assert.match(
    faultsWith("README.md", /deno@\d[\d.]*\d/, "deno@1.0.0").join(),
    /^README\.md names deno@1\.0\.0, and the package has \d/,
  );
  assert.match(
    faultsWith(".ci/run", /deno@\d[\d.]*\d/, "deno").join(),
    /^\.ci\/run names no deno@/,
  );
  const dated = (date: string) =>
    faultsOf(
      (path) =>
        path === "CHANGELOG.md"
          ? `## ${manifest.version} – ${date}\n`
          : textOf(path),
      { isDraft: false },
    );
  assert.deepEqual(dated("2026-01-31"), []);
  assert.match(dated("unreleased").join(), /is of unreleased, not of a day/);
});

Deno.test("the bill of materials lists all locked packages, with hashes and dependencies", () => {
  const bill = JSON.parse(JSON.stringify(billOfMaterials(rootPackage())));
  assert.equal(bill.bomFormat, "CycloneDX");
  assert.equal(bill.specVersion, "1.6");
  const lock = JSON.parse(textOf("deno.lock"));
  const references = new Set([bill.metadata.component["bom-ref"]]);
  for (const { name, version, hashes, purl, ...part } of bill.components) {
    references.add(part["bom-ref"]);
    assert.equal(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`);
    assert.match(hashes[0].content, /^[0-9a-f]{128}$/);
    const locked = lock.npm[`${name}@${version}`];
    if (name.startsWith("@deno/")) continue; // package_test.ts checks these
    const base64 = Buffer.from(hashes[0].content, "hex").toString("base64");
    assert.equal(`sha512-${base64}`, locked.integrity);
  }
  assert.ok(
    references.has("pkg:npm/%40deno/linux-x64-glibc@" + Deno.version.deno),
  );
  assert.ok([...references].some((one) => one.startsWith("pkg:npm/sharp@")));
  assert.equal(
    references.size,
    bill.components.length + 1,
    "each is named once",
  );
  assert.equal(bill.dependencies.length, references.size);
  for (const { ref, dependsOn } of bill.dependencies) {
    for (const one of [ref, ...dependsOn]) assert.ok(references.has(one), one);
  }
});
