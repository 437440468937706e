/** Content of the npm package, which is built reproducibly. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import binaries from "../../packaging/deno_binaries.json" with { type: "json" };
import manifest from "../../deno.json" with { type: "json" };
import { buildPackage } from "../../packaging/package/build_package.ts";
import { PACKAGES } from "../../src/base/packages.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { sh } from "./installed.ts";
import { checkLinks, checkManual, checkUnit } from "./system_steps.ts";

/** Maximum size of the package in bytes. Look for the reason before raising it. */
const LARGEST = 3_400_000;

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

Deno.test({
  name: "the npm package is reproducible, complete and pinned",
  ...needs("tar", "mandoc", "systemd-analyze"),
  fn: (t) =>
    withTempDir(async (dir) => {
      const built = await buildPackage(`${dir}/a`);
      const root = `${dir}/package`;
      await sh(`tar -xzf ${built.file} -C ${dir}`);

      await t.step(
        "it is built to the same bytes, and not too large",
        async () => {
          const again = await buildPackage(`${dir}/b`);
          assert.ok(
            fs.readFileSync(built.file).equals(fs.readFileSync(again.file)),
          );
          assert.equal(built.bytes, fs.statSync(built.file).size);
          assert.ok(built.bytes < LARGEST, `${built.bytes} bytes`);
        },
      );

      await t.step(
        "each entry point has JavaScript, types and its source",
        () => {
          const { exports } = readJson(`${root}/package.json`);
          assert.deepEqual(Object.keys(exports), Object.keys(manifest.exports));
          for (const [name, file] of Object.entries(manifest.exports)) {
            const { types, default: code } = exports[name];
            for (const path of [types, code, `source/${file}`]) {
              assert.ok(fs.existsSync(`${root}/${path}`), path);
            }
          }
        },
      );

      await t.step("modules import existing files", () => {
        let count = 0;
        for (const path of modulesIn(root)) {
          const text = fs.readFileSync(path, "utf8");
          const names = text.matchAll(
            /(?:^|[ (])(?:from |import\(\s*|new URL\()"(\.[^"]+)"/gm,
          );
          for (const [, name] of names) {
            if (name!.includes("my_")) continue; // an example in a comment
            const { pathname } = new URL(name!, `file://${path}`);
            assert.ok(fs.existsSync(pathname), `${path}: ${name}`);
            assert.doesNotMatch(name!, /(?<!\.d)\.ts$/);
            count++;
          }
          assert.doesNotMatch(text, /"npm:/, path);
        }
        assert.ok(count > 1000, `only ${count} names were found`);
      });

      await t.step(
        "all dependencies are pinned with a hash, as in the tests",
        () => {
          const { packages }: {
            readonly packages: Readonly<Record<string, Entry>>;
          } = readJson(`${root}/npm-shrinkwrap.json`);
          const { npm } = readJson(`${REPOSITORY}deno.lock`);
          for (const [path, entry] of Object.entries(packages)) {
            const name = path.split("node_modules/").at(-1)!;
            if (path !== "") {
              const locked = name.startsWith("@deno/")
                ? binaries.packages[name as keyof typeof binaries.packages]
                : npm[`${name}@${entry.version}`];
              assert.equal(entry.integrity, locked.integrity, path);
              assert.match(entry.integrity!, /^sha512-[\w+/]{86}==$/);
            }
            const needed = {
              ...entry.dependencies,
              ...entry.optionalDependencies,
            };
            for (const [need, version] of Object.entries(needed)) {
              assert.equal(found(packages, path, need).version, version, need);
            }
          }
          const { dependencies } = packages[""]!;
          for (const specifier of Object.values(PACKAGES)) {
            const [, name, version] = /^npm:(.+)@(.+)$/.exec(specifier)!;
            assert.equal(dependencies![name!], version);
          }
          assert.equal(
            packages["node_modules/@deno/linux-x64-glibc"]!.optional,
            true,
          );
          assert.equal(packages["node_modules/commander"]!.optional, undefined);
          for (const name of ["fast-check", "assemblyscript"]) { // for tests only
            assert.equal(packages[`node_modules/${name}`], undefined);
          }
        },
      );

      await t.step(
        "documents that the README and messages name are included",
        () => {
          const text = (path: string) =>
            fs.readFileSync(`${root}/${path}`, "utf8");
          const named = new Set<string>();
          const note = (from: string, link: string) => {
            const [file] = link.split("#");
            if (file === "" || /^https?:/.test(link)) return;
            const { pathname } = new URL(file!, `file:///${from}`);
            // Documents may link to any source file of a clone.
            if (/\.(md|png)$/.test(pathname)) named.add(pathname.slice(1));
          };
          for (
            const [, link] of text("README.md").matchAll(/\]\(([^)\s]+)\)/g)
          ) {
            note("README.md", link!);
          }
          for (const path of modulesIn(`${root}/src`)) {
            const code = fs.readFileSync(path, "utf8")
              .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, ""); // removes comments
            for (const [name] of code.matchAll(/\bdocs\/[\w/-]+\.md\b/g)) {
              named.add(name);
            }
          }
          for (const path of named) {
            assert.ok(fs.existsSync(`${root}/${path}`), path);
            if (!path.endsWith(".md")) continue;
            for (const [, link] of text(path).matchAll(/\]\(([^)\s]+)\)/g)) {
              note(path, link!); // added to the loop, and so checked as well
            }
          }
          assert.ok(named.size > 30, [...named].join());
        },
      );

      await t.step("nothing of this machine is in it", async () => {
        assert.equal(await sh(`grep -rlF '${REPOSITORY}' ${root} || true`), "");
        const listing = await sh(`tar --numeric-owner -tvzf ${built.file}`);
        const lines = listing.trim().split("\n");
        assert.equal(lines.length, built.files);
        for (const line of lines) {
          assert.match(line, /^-rw[x-]r-[x-]r-[x-] 0\/0 /);
        }
      });

      await t.step("manual pages", () => checkManual(root));
      await t.step("links", () => checkLinks(root, dir));
      await t.step("systemd's unit", () => checkUnit(root, dir));
    }),
});

/** Returns the entry that Node resolves for a name in a package's directory. */
function found(
  packages: Readonly<Record<string, Entry>>,
  from: string,
  name: string,
): Entry {
  const parts = from === "" ? [] : from.split("/node_modules/");
  for (let i = parts.length; i >= 0; i--) {
    const above = parts.slice(0, i).join("/node_modules/");
    const entry = packages[`${above}/node_modules/${name}`.replace(/^\//, "")];
    if (entry !== undefined) return entry;
  }
  throw new Error(`${from} does not find ${name}`);
}

function* modulesIn(dir: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(dir)) {
    if (name === "source") continue;
    if (isDirectory) yield* modulesIn(`${dir}/${name}`);
    else if (/\.(js|d\.ts)$/.test(name)) yield `${dir}/${name}`;
  }
}

// deno-lint-ignore no-explicit-any -- JSON, each part of which is compared
function readJson(path: string): any {
  return JSON.parse(fs.readFileSync(path, "utf8"));
}
