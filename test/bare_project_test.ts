/**
 * A user's own project outside the repository. Its `deno.json` names the clone, as the README describes, and has no
 * other settings of ours.
 */
import assert from "node:assert/strict";
import { ENTRY_POINTS, exportedNames } from "./support/exported_names.ts";
import { LONG } from "./support/long.ts";
import { fromFileUrl, REPOSITORY, withTempDir } from "./support/paths.ts";

/**
 * Compiler options beyond Deno's own `strict` that a project may set. Without `isolatedDeclarations`, which concerns
 * declarations for a project's own modules.
 */
const STRICTEST = {
  strict: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  useUnknownInCatchVariables: true,
  verbatimModuleSyntax: true,
};

/** Opens a container, and uses each package that the libraries load. */
const PROGRAM = `import { open } from "@recordfs/recordfs";
import { imageCodec } from "@recordfs/recordfs/image";
import { PackedFolderDataset } from "@recordfs/recordfs/data";
import { Custom20BNCsvWebmAdapter } from "@recordfs/recordfs/gulp";

export async function use(): Promise<string[]> {
  using fs = await open("packed.ffr");
  const paths: string[] = [];
  for await (const entry of fs.walk()) {
    if (entry.isFile) paths.push(entry.path);
  }
  using dataset = await PackedFolderDataset.open("packed.ffr", { files: "**/*.txt" });
  for (const name of ["turbojpeg", "sharp", "imagescript"] as const) {
    const codec = await imageCodec(name);
    const gray = { data: new Uint8Array(12), height: 3, width: 4, channels: 1 } as const;
    const { width } = await codec.decode(await codec.encode(gray), { colorspace: "GRAY" });
    if (width !== 4) throw new Error(name);
  }
  const clips = await Custom20BNCsvWebmAdapter.open({ csvFile: "list.csv", folder: "." });
  return [\`\${paths.length} files\`, \`\${dataset.length} texts\`, \`\${clips.length} clips\`];
}
`;

const LIST = '7;"Swiping; left"\n8;Stop\n';

const SHOWN = "9 files, 5 texts, 2 clips";

let modules: Promise<string[]> | undefined;

/** Writes a module for each entry point that imports every name and exports it again. */
async function exportEveryName(): Promise<string[]> {
  const modules: string[] = [];
  for (const [name, names] of await exportedNames()) {
    const values = Object.keys(await import(REPOSITORY + ENTRY_POINTS[name]));
    const types = names.filter((name) => !values.includes(name));
    modules.push(
      `export type { ${types.join(", ")} } from "${specifier(name)}";\n` +
        `export { ${values.join(", ")} } from "${specifier(name)}";\n`,
    );
  }
  return modules;
}

async function withProject(
  compilerOptions: Record<string, boolean> | undefined,
  body: (run: (...args: string[]) => Promise<string>) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const imports = Object.fromEntries(
      Object.entries(ENTRY_POINTS).map((
        [name, file],
      ) => [specifier(name), REPOSITORY + file.slice(2)]),
    );
    const write = (name: string, text: string) =>
      Deno.writeTextFileSync(`${dir}/${name}`, text);
    write("deno.json", JSON.stringify({ imports, compilerOptions }));
    (await (modules ??= exportEveryName())).forEach((text, i) =>
      write(`every_name_${i}.ts`, text)
    );
    write("use.ts", PROGRAM);
    write(
      "main.ts",
      'import { use } from "./use.ts";\nconsole.log((await use()).join(", "));\n',
    );
    write(
      "use_test.ts",
      `import { use } from "./use.ts";
Deno.test("use", async () => {
  const shown = (await use()).join(", ");
  if (shown !== "${SHOWN}") throw new Error(shown);
});
`,
    );
    write("list.csv", LIST);
    await Deno.copyFile(
      fromFileUrl(new URL("recipes/packed.ffr", import.meta.url)),
      `${dir}/packed.ffr`,
    );
    await body(async (...args) => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args,
        cwd: dir,
        env: { NO_COLOR: "1" },
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      assert.equal(code, 0, `deno ${args.join(" ")}: ${text(stderr)}`);
      return text(stdout);
    });
  });
}

const specifier = (name: string) => `@recordfs/recordfs${name.slice(1)}`;

Deno.test("a bare project checks, runs and tests with every name of every entry point", () =>
  withProject(undefined, async (deno) => {
    // The strictest options, below, include these.
    if (LONG) await deno("check", ".");
    assert.equal(await deno("run", "-A", "main.ts"), `${SHOWN}\n`);
    await deno("test", "-A", "--no-check"); // they are checked separately
  }));

Deno.test("it also type-checks with the strictest options", () =>
  withProject(STRICTEST, async (deno) => {
    await deno("check", ".");
  }));

Deno.test("a program in a folder without a configuration that imports by path finds the packages", async () => {
  await withProject(undefined, async (deno) => {
    let program = PROGRAM;
    for (const [name, file] of Object.entries(ENTRY_POINTS)) {
      program = program.replaceAll(
        `"${specifier(name)}"`,
        JSON.stringify(REPOSITORY + file.slice(2)),
      );
    }
    const main = "console.log((await use()).join());";
    const dir = (await deno("eval", "console.log(Deno.cwd())")).trim();
    await Deno.remove(`${dir}/deno.json`);
    await Deno.writeTextFile(`${dir}/use.ts`, `${program}\n${main}`);
    const shown = await deno("run", "-A", "--no-config", "use.ts");
    assert.equal(shown, `${SHOWN.replaceAll(", ", ",")}\n`);
  });
});
