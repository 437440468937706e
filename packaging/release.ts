// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Checks all that a release needs, and makes its files in `dist`: `deno task release [--draft]`. A draft may have work
 * that is not committed; one of a version without a day in the changelog always is.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import manifest from "../deno.json" with { type: "json" };
import { buildPackage } from "./package/build_package.ts";
import { rootPackage } from "./package/package_files.ts";
import { billOfMaterials } from "./release/bill_of_materials.ts";
import { faultsByRunning, faultsOf, hasDay } from "./release/checks.ts";
import { platformArchive, PLATFORMS } from "./release/platform_archive.ts";
import { DIST, REPOSITORY } from "./repository.ts";

const textOf = (path: string) => readFileSync(REPOSITORY + path, "utf8");
const isUnreleased = !hasDay(textOf("CHANGELOG.md"));
if (isUnreleased) {
  console.error(
    `${manifest.version} has no day in CHANGELOG.md: this is a draft`,
  );
}
const options = { isDraft: isUnreleased || Deno.args.includes("--draft") };
const faults = [
  ...faultsOf(textOf, options),
  ...await faultsByRunning(options),
];
const place = await Deno.makeTempDir({ prefix: "recordfs-release-" });
try {
  const { file } = await buildPackage(DIST);
  const again = await buildPackage(place);
  if (!readFileSync(file).equals(readFileSync(again.file))) {
    faults.push("the package is not the same when it is built again");
  }
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) Deno.exit(1);

  const name = `recordfs-${manifest.version}`;
  const made = [file];
  for (const platform of PLATFORMS) {
    const out = `${DIST}/${name}-${platform}.tar.gz`;
    await platformArchive(file, platform, { name, place, out });
    made.push(out);
  }
  const bill = `${DIST}/${name}.cdx.json`;
  const text = JSON.stringify(billOfMaterials(rootPackage()), undefined, 2);
  Deno.writeTextFileSync(bill, `${text}\n`);
  made.push(bill);
  const sums = made.map((path) =>
    `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${
      path.slice(DIST.length + 1)
    }\n`
  ).join("");
  Deno.writeTextFileSync(`${DIST}/SHA256SUMS`, sums);
  console.log(sums.trimEnd());
} finally {
  await Deno.remove(place, { recursive: true });
}
