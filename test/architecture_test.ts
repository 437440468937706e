import assert from "node:assert/strict";
import { REPOSITORY } from "./support/paths.ts";

/** What each layer may import besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  "deno.json": [],
  "src/message_text.ts": [],
  "src/errors.ts": ["src/message_text.ts"],
  "src/serialized_error.ts": ["src/errors.ts"],
  "src/names.ts": [],
  "src/bytes_of.ts": [],
  "src/io": ["src/errors.ts", "src/names.ts", "src/bytes_of.ts"],
  "src/tree": ["src/errors.ts", "src/io"],
  "src/codecs": ["src/errors.ts", "src/bytes_of.ts"],
  "src/formats": [
    "src/message_text.ts",
    "src/errors.ts",
    "src/serialized_error.ts",
    "src/names.ts",
    "src/bytes_of.ts",
    "src/io",
    "src/tree",
    "src/codecs",
  ],
  "src/vfs": [
    "src/errors.ts",
    "src/names.ts",
    "src/io",
    "src/tree",
    "src/formats",
  ],
  "src/convert": [
    "src/errors.ts",
    "src/names.ts",
    "src/io",
    "src/codecs",
    "src/formats",
    "src/vfs",
  ],
  "src/data": [
    "src/errors.ts",
    "src/serialized_error.ts",
    "src/names.ts",
    "src/bytes_of.ts",
    "src/io",
    "src/tree",
    "src/codecs",
    "src/formats",
    "src/vfs",
  ],
  "fuse": ["src/errors.ts", "src/serialized_error.ts", "src/io", "src/tree"],
  "src/cli": [
    "deno.json",
    "src/message_text.ts",
    "src/errors.ts",
    "src/names.ts",
    "src/io",
    "src/formats",
    "src/vfs",
    "src/convert",
    "src/data",
    "fuse",
  ],
};

/** The one file of `fuse/` that opens containers; the rest of it knows only trees. */
const MOUNTS_PATHS = "fuse/mount_container.ts";

function sources(dir: string): string[] {
  return [...Deno.readDirSync(REPOSITORY + dir)].flatMap((entry) =>
    entry.isDirectory
      ? sources(`${dir}/${entry.name}`)
      : entry.name.endsWith(".ts")
      ? [`${dir}/${entry.name}`]
      : []
  );
}

function layerOf(file: string): string {
  const layer = Object.keys(MAY_IMPORT).find((layer) =>
    file === layer || file.startsWith(`${layer}/`)
  );
  assert.ok(layer !== undefined, `${file} belongs to no layer`);
  return layer;
}

/** Specifiers of all static and literal dynamic imports, and of re-exports. */
function importsOf(file: string): string[] {
  const text = Deno.readTextFileSync(REPOSITORY + file).replace(
    /^\s*(\*|\/\/).*$/gm,
    "",
  );
  const pattern = /(?:(?<!--)\bfrom\s*|\bimport\s*\(?\s*)"([^"]+)"/g;
  return [...text.matchAll(pattern)].map((match) => match[1]!);
}

function resolve(file: string, specifier: string): string {
  return new URL(specifier, `file:///${file}`).pathname.slice(1);
}

const files = [...sources("src"), ...sources("fuse")];

/** The files that a file's imports load. */
function runtimeImports(file: string): string[] {
  return [
    ...Deno.readTextFileSync(REPOSITORY + file).matchAll(
      /^(?:import|export) (?!type\b)[^;]*?\bfrom "(\.[^"]+)"/gm,
    ),
  ].map(([, specifier]) => resolve(file, specifier!));
}

Deno.test("imports point one way", () => {
  assert.ok(files.length > 30);
  for (const file of files) {
    const layer = layerOf(file);
    for (
      const specifier of importsOf(file).filter((name) => name.startsWith("."))
    ) {
      const target = resolve(file, specifier);
      const there = layerOf(target);
      const allowed = there === layer || MAY_IMPORT[layer]!.includes(there) ||
        file === MOUNTS_PATHS && there === "src/vfs";
      assert.ok(allowed, `${file} imports ${target}`);
    }
  }
});

Deno.test("no file imports itself by way of others", () => {
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]) => {
    assert.ok(!above.includes(file), [...above, file].join(" -> "));
    if (done.has(file)) return;
    for (const target of runtimeImports(file)) visit(target, [...above, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assert.ok(done.size >= files.length);
});

/** What formats are told by, names and numbers, and the error of conversions. */
const LIGHT =
  /\/(signature|layout|dataset\/dataset_names|convert\/conversion)\.ts$/;

Deno.test("importing the root loads no format, codec, dataset or conversion", () => {
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    runtimeImports(file).forEach(load);
  };
  load("mod.ts");
  assert.ok(loaded.has("src/vfs/open.ts"));
  assert.deepEqual(
    [...loaded].filter((file) =>
      /^src\/(formats|codecs|data|convert)\//.test(file)
    )
      .filter((file) => !LIGHT.test(file)),
    [],
  );
});

Deno.test("formats never import each other", () => {
  for (const file of sources("src/formats")) {
    const own = file.split("/").slice(0, 3).join("/");
    for (
      const specifier of importsOf(file).filter((name) => name.startsWith("."))
    ) {
      const target = resolve(file, specifier);
      assert.ok(
        !target.startsWith("src/formats/") || target.startsWith(`${own}/`),
        `${file} imports ${target}`,
      );
    }
  }
});

/**
 * Image codecs, CSV and globs are packages, loaded when the first image is decoded, a list is read, or
 * files are chosen by a glob.
 */
const LOADS_PACKAGES = [
  "src/codecs/image/imagescript_wasm.ts",
  "src/codecs/image/sharp_codec.ts",
  "src/formats/gulp/adapters/read_lists.ts",
  "src/data/datasets/choose_files.ts",
];

Deno.test("packages come from npm through the import map, and only the command line, image codecs, CSV and globs need any", () => {
  const { imports } = JSON.parse(
    Deno.readTextFileSync(`${REPOSITORY}deno.json`),
  );
  for (const target of Object.values<string>(imports)) {
    assert.match(target, /^npm:(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/); // pinned
  }
  for (const file of files) {
    for (
      const specifier of importsOf(file).filter((name) =>
        !/^(\.|node:)/.test(name)
      )
    ) {
      assert.ok(
        specifier.split("/")[0]! in imports,
        `${file} imports ${specifier}, which is not in the import map`,
      );
      assert.ok(
        file.startsWith("src/cli/") || LOADS_PACKAGES.includes(file),
        `${file} imports ${specifier}: libraries use no package`,
      );
    }
  }
});

Deno.test("packages of the libraries are not fetched before they are asked for", () => {
  const config = JSON.parse(Deno.readTextFileSync(`${REPOSITORY}deno.json`));
  assert.ok(config.unstable.includes("npm-lazy-caching")); // or Deno fetches all that are locked
  for (const file of LOADS_PACKAGES) {
    const text = Deno.readTextFileSync(REPOSITORY + file);
    const loading = text.replaceAll(/typeof import\("[^"]+"\)/g, "");
    assert.match(loading, /await import\((PACKAGE|CSV_PACKAGE|`\$\{PACKAGE\})/);
    assert.doesNotMatch(loading, /(from |import |import\()"(?!\.|node:)/);
  }
});

Deno.test("no file has more than 400 lines", () => {
  for (
    const file of [
      ...files,
      ...sources("test"),
      ...sources("bench"),
      "cli.ts",
      "mod.ts",
    ]
  ) {
    const lines = Deno.readTextFileSync(REPOSITORY + file).split("\n").length -
      1;
    assert.ok(lines <= 400, `${file} has ${lines}`);
  }
});
