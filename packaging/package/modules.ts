import { list } from "tar";
import { REPOSITORY } from "../repository.ts";

/** A file of an archive. */
export interface PackedFile {
  /** From the archive's directory. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable?: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A file of text. */
export function textFile(path: string, text: string): PackedFile {
  return { path, bytes: encoder.encode(text) };
}

/** What the server gives browsers, without types: it reads these files itself. */
const PAGE = "src/serve/page";

/** The TypeScript modules of the library and the command, from the repository's root, in order. */
export function sourceModules(): string[] {
  const below = ["fuse", "src"].flatMap((folder) => filesBelow(folder));
  return ["cli.ts", "mod.ts", ...below].filter((path) =>
    path.endsWith(".ts") && !path.startsWith(`${PAGE}/`)
  );
}

/** The files of the page, as they stand in the repository. */
export function pageFiles(): PackedFile[] {
  return filesBelow(PAGE).map((path) => ({
    path,
    bytes: Deno.readFileSync(REPOSITORY + path),
  }));
}

/** All files of a folder of the repository, in order. */
export function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(REPOSITORY + folder)]
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .flatMap(({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? filesBelow(path) : [path];
    });
}

/**
 * The modules as JavaScript, which Deno runs at once: it neither takes types from what lies in `node_modules`, nor
 * has to keep anywhere what it made of them.
 */
export async function javaScript(
  modules: readonly string[],
  place: string,
): Promise<PackedFile[]> {
  const outdir = `${place}/js`;
  const flags = ["--no-check", "--source-map", "none", "--outdir", outdir];
  await deno("transpile", ...flags, ...modules);
  const there = new Set(modules);
  return modules.map((module) => {
    const path = compiledPath(module);
    const text = Deno.readTextFileSync(`${outdir}/${path}`);
    return textFile(path, named(compiledNames(text, module, there), module));
  });
}

/**
 * Declarations of what is public: the same that the registry of Deno makes, which takes each from its module alone,
 * since all types of the public are spelled out.
 */
export async function declarations(place: string): Promise<PackedFile[]> {
  const archive = `${place}/types.tgz`;
  await deno("pack", "--allow-dirty", "--no-source-maps", "-o", archive);
  const files: PackedFile[] = [];
  await list({
    file: archive,
    filter: (path) => path.endsWith(".d.ts"),
    onReadEntry: (entry) => {
      const chunks: Uint8Array[] = [];
      entry.on("data", (chunk) => chunks.push(chunk));
      entry.on("end", () => {
        const text = chunks.map((chunk) =>
          decoder.decode(chunk, { stream: true })
        ).join("");
        files.push(textFile(entry.path.replace(/^package\//, ""), text));
      });
    },
  });
  return files;
}

/** The name of a module that was `.ts`. */
export function compiledPath(module: string): string {
  return module.replace(/\.ts$/, ".js");
}

/** Names of modules of ours become those of what was made of them, in imports and in the URLs of threads. */
function compiledNames(
  text: string,
  module: string,
  there: ReadonlySet<string>,
): string {
  return text.replaceAll(/"(\.\.?\/[^"\n]+\.ts)"/g, (whole, name: string) => {
    const { pathname } = new URL(name, `file:///${module}`);
    return there.has(pathname.slice(1)) ? `"${compiledPath(name)}"` : whole;
  });
}

/** Packages are named without versions: they lie beside this one, in the versions of its lock file. */
function named(text: string, module: string): string {
  return module === "src/base/packages.ts"
    ? text.replaceAll(/"npm:(@?[^@"]+)@[^"]+"/g, '"$1"')
    : text;
}

async function deno(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: REPOSITORY,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdout: "null",
  }).output();
  if (!success) {
    throw new Error(`deno ${args[0]} failed: ${decoder.decode(stderr)}`);
  }
}
