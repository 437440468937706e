import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../repository.ts";
import { documentFiles } from "../documents.ts";
import { edges, type Root, shrinkwrap } from "./shrinkwrap.ts";
import { lockedDeno, lockedDependencies } from "./locked.ts";
import {
  compiledPath,
  declarations,
  javaScript,
  type PackedFile,
  pageFiles,
  sourceModules,
  textFile,
} from "./modules.ts";
import { sharedFiles } from "./shared_files.ts";

const DESCRIPTION =
  "Opens the files that training data is packed in, FFRecord, GulpIO, Bags, tar, zip, TFRecord, MDS and Parquet, " +
  "as read-only filesystems, and writes them";

/** Files that are the same in the repository. */
const COPIED = ["LICENSE"];
const PROGRAMS = ["bin/recordfs", "bin/recordfs-links"];

/**
 * All files of the npm package, in the order of their names.
 *
 * @param place A directory for what is made on the way.
 */
export async function packageFiles(place: string): Promise<PackedFile[]> {
  const modules = sourceModules();
  const texts = textsOf(modules);
  const root = rootPackage();
  const shared = await sharedFiles();
  const files = [
    ...await javaScript(modules, place),
    ...await declarations(place),
    ...modules.map((path, i) => textFile(`source/${path}`, texts[i]!)),
    ...pageFiles(),
    ...shared,
    ...COPIED.map((path) => copied(path)),
    ...documentFiles().map((path) => copied(path)),
    ...PROGRAMS.map((path) => ({ ...copied(path), isExecutable: true })),
    jsonFile("package.json", packageJson(root, pagesOf(shared))),
    jsonFile("npm-shrinkwrap.json", shrinkwrap(root)),
    jsonFile("import_map.json", { imports: ownImports() }),
    // What the version is read from.
    jsonFile("deno.json", { name: root.name, version: root.version }),
  ];
  return files.toSorted((a, b) => a.path < b.path ? -1 : 1);
}

/** What the package is, and needs. */
export function rootPackage(): Root {
  return {
    name: manifest.name,
    version: manifest.version,
    license: manifest.license,
    dependencies: lockedDependencies(textsOf(sourceModules())),
    optional: lockedDeno(),
  };
}

function textsOf(modules: readonly string[]): string[] {
  return modules.map((path) => Deno.readTextFileSync(REPOSITORY + path));
}

function copied(path: string): PackedFile {
  return { path, bytes: Deno.readFileSync(REPOSITORY + path) };
}

function jsonFile(path: string, value: unknown): PackedFile {
  return textFile(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

function pagesOf(files: readonly PackedFile[]): string[] {
  return files.map(({ path }) => path).filter((path) => path.endsWith(".1"));
}

function packageJson(
  root: Root,
  man: readonly string[],
): Record<string, unknown> {
  return {
    ...{ name: root.name, version: root.version, description: DESCRIPTION },
    license: root.license,
    type: "module",
    os: ["linux", "darwin"],
    bin: { recordfs: "bin/recordfs" },
    man: man.map((path) => `./${path}`),
    exports: entryPoints(),
    ...edges(root),
  };
}

/** Where the entry points are: types for whoever checks, JavaScript for Deno. */
function entryPoints(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(manifest.exports).map(([name, file]) => [name, {
      types: file.replace(/\.ts$/, ".d.ts"),
      default: compiledPath(file),
    }]),
  );
}

/** The names by which modules of a user's own, as of `--format-module`, find the library that runs them. */
function ownImports(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(manifest.exports).map((
      [name, file],
    ) => [manifest.name + name.slice(1), compiledPath(file)]),
  );
}
