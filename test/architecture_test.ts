import assert from "node:assert/strict";
import { formatNames, formats } from "../src/formats/registry.ts";
import { PACKAGES } from "../src/base/packages.ts";
import { MAY_IMPORT } from "./support/layers.ts";
import { REPOSITORY } from "./support/paths.ts";

/** The only file of `fuse/` that opens containers; the others depend on trees only. */
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

/** Returns the specifiers of static imports, literal dynamic imports, and re-exports. */
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

/** Returns the files that a file's imports load at run time. */
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
        file === MOUNTS_PATHS && there === "src/open";
      assert.ok(allowed, `${file} imports ${target}`);
    }
  }
});

Deno.test("no file imports itself through others", () => {
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

/** Maximum number of files in a cycle: files of one subject that need each other's types. */
const MOST_IN_CIRCLE = 5;

Deno.test("no import cycle has more than five files, counting types and import()", () => {
  const edges = new Map(files.map((file) => [
    file,
    importsOf(file).filter((name) => name.startsWith("."))
      .map((name) => resolve(file, name)).filter((to) => files.includes(to)),
  ]));
  const large = circlesOf(edges).filter(({ length }) =>
    length > MOST_IN_CIRCLE
  );
  assert.deepEqual(large, []);
});

/** Strongly connected components (Tarjan, 1972). */
function circlesOf(
  edges: ReadonlyMap<string, readonly string[]>,
): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string) => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    open.push(file);
    for (const target of edges.get(file)!) {
      if (!order.has(target)) visit(target);
      else if (!open.includes(target)) continue;
      lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    circles.push(open.splice(open.indexOf(file)));
  };
  for (const file of edges.keys()) if (!order.has(file)) visit(file);
  return circles;
}

/** Descriptors of formats, constants, and the error of conversions. */
const LIGHT =
  /\/(registry|descriptor|kinds|layout|dataset\/dataset_names|convert\/conversion)\.ts$/;

Deno.test("importing the root loads no format, codec, dataset or conversion", () => {
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    runtimeImports(file).forEach(load);
  };
  load("mod.ts");
  assert.ok(loaded.has("src/open/open.ts"));
  assert.deepEqual(
    [...loaded].filter((file) =>
      /^src\/(formats|codecs|data|convert)\//.test(file)
    )
      .filter((file) => !LIGHT.test(file)),
    [],
  );
});

Deno.test("format descriptors import no implementation: rooms are loaded on demand", () => {
  const text = (file: string) => Deno.readTextFileSync(REPOSITORY + file);
  assert.doesNotMatch(text("src/formats/format.ts"), /^import (?!type )/m);
  const core = sources("src/formats").filter((file) =>
    /^src\/formats\/\w+\//.test(file) && !/\/(convert|data)\//.test(file)
  );
  for (const file of core) {
    assert.doesNotMatch(
      text(file),
      /^import [^;]*from "[^"]*\/(convert|data)\//m,
      file,
    );
    assert.doesNotMatch(
      text(file),
      /^import (?!type )[^;]*from "[^"]*\/tree\/vfs\//m,
      file,
    );
  }
});

Deno.test("formats never import each other, and only the registry all", () => {
  for (const file of sources("src/formats")) {
    if (!/^src\/formats\/\w+\//.test(file)) continue;
    const own = file.split("/").slice(0, 3).join("/");
    for (
      const specifier of importsOf(file).filter((name) => name.startsWith("."))
    ) {
      const target = resolve(file, specifier);
      assert.ok(
        !target.startsWith("src/formats/") || target.startsWith(`${own}/`) ||
          target === "src/formats/format.ts",
        `${file} imports ${target}`,
      );
    }
  }
});

/** Modules that load packages on demand: to decode an image, read a list, match a glob, access a server, and so on. */
const LOADS_PACKAGES = [
  "src/base/packages.ts",
  "src/io/compressed/push_decoder.ts",
  "src/io/block_cache/snappy.ts",
  "src/io/checksums/crc32c.ts",
  "src/io/checksums/file_hash.ts",
  "src/io/remote/http/list_page.ts",
  "src/io/remote/s3/bucket.ts",
  "src/io/remote/s3/credentials.ts",
  "src/io/remote/s3/profile.ts",
  "src/io/remote/s3/list_bucket.ts",
  "src/codecs/columnar/arrays.ts",
  "src/codecs/rows/csv_cells.ts",
  "src/codecs/image/sharp_backend.ts",
  "src/codecs/image/thumbnail.ts",
  "src/formats/gulp/adapters/read_lists.ts",
  "src/formats/parquet/read/library.ts",
  "src/data/datasets/choose_files.ts",
  "src/serve/dav/propfind_request.ts",
  "src/serve/decode/drawable_svg.ts",
  "src/serve/decode/matched_paths.ts",
  "src/serve/decode/table_page.ts",
];

Deno.test("packages come from npm through the import map, and only the command line, image codecs, servers, CRC-32C, CSV, globs, Arrow and Parquet need any", () => {
  const { imports } = JSON.parse(
    Deno.readTextFileSync(`${REPOSITORY}deno.json`),
  );
  for (const target of Object.values<string>(imports)) {
    assert.match(target, /^npm:(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(-r\.\d+)?$/); // pinned
  }
  for (const file of files) {
    for (const specifier of importsOf(file)) {
      if (/^(\.|node:)/.test(specifier)) continue;
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(specifier)!;
      assert.ok(name in imports, `${file}: ${specifier} is in no import map`);
      assert.ok(
        file.startsWith("src/cli/") || LOADS_PACKAGES.includes(file),
        `${file} imports ${specifier}: libraries use no package`,
      );
    }
  }
});

Deno.test("libraries load packages on demand, in one version each", () => {
  const config = JSON.parse(Deno.readTextFileSync(`${REPOSITORY}deno.json`));
  const versions = Object.values<string>(config.imports);
  for (const specifier of Object.values(PACKAGES)) {
    assert.ok(versions.includes(specifier), specifier);
  }
  assert.ok(config.unstable.includes("npm-lazy-caching")); // otherwise Deno fetches all locked packages
  for (const file of LOADS_PACKAGES) {
    const text = Deno.readTextFileSync(REPOSITORY + file);
    const loading = text.replaceAll(/typeof import\("[^"]+"\)/g, "");
    assert.match(loading, /await import\(\s*`?(\$\{)?(PACKAGES\.|specifier)/);
    assert.doesNotMatch(loading, /(from |import |import\()"(?!\.|node:)/);
  }
});

/** Folders of formats and datasets that write to the local disk, or serve from it. */
const LOCAL_ROOMS =
  /^src\/formats\/\w+\/(write|pack|ingest|adapters|convert|check\/(repair|salvage))|^src\/data\/index_output/;

Deno.test("code that reads containers is given a storage, and calls no local file function", () => {
  const reading = [...sources("src/formats"), ...sources("src/data")].filter(
    (file) => !LOCAL_ROOMS.test(file),
  );
  assert.ok(reading.some((file) => file.endsWith("ffrecord/check.ts")));
  assert.ok(reading.some((file) => file.endsWith("ffrecord_dataset.ts")));
  const local =
    /\bFileSource\.open\b|\bDeno\.(open|read|stat|lstat|realPath)\w*\(|"node:fs"/;
  for (const file of reading) {
    const text = Deno.readTextFileSync(REPOSITORY + file)
      .replace(/^\s*(\*|\/\/).*$/gm, "");
    assert.doesNotMatch(text, local, file);
  }
});

/** Files besides the formats' folders that may name formats: the public API, and commands for a single format. */
const NAMES_FORMATS = [
  "src/serve/files/", // archives for clients that know no other format
  "src/codecs/values/sniffed_suffix.ts", // signatures of all file types
  "src/codecs/columnar/schema.ts", // names of its extension types
  "src/serve/api/", // a file in a container may be a text table as well
  "src/serve/page/icons.ts",
  "src/serve/page/listing/tiles.ts",
  "src/formats/registry.ts",
  "src/io/compressed/compressions.ts", // suffixes for a format with a compression
  "src/io/storage/chained_path.ts", // file systems of fsspec
  "src/open/convert/mod.ts",
  "src/open/data/mod.ts",
  "src/open/data/datasets.ts",
  "src/cli/command_list.ts",
  "src/cli/program.ts",
  "src/cli/permissions.ts",
  "src/cli/examples.ts",
  "src/cli/commands/bag/",
  "src/cli/commands/doctor/mounting.ts",
  "src/cli/commands/gulp/",
  "src/cli/commands/pack.ts",
  "src/cli/commands/records.ts",
  "src/cli/commands/write.ts",
  "src/cli/input/given_spec.ts",
  "src/cli/input/new_container.ts",
  "src/cli/input/sample_input_files.ts",
  "src/cli/input/sample_inputs.ts",
];

Deno.test("a format is one folder and one line: nothing else names any", () => {
  const targets = formats().flatMap(({ targets = [] }) => targets);
  const names = [...formatNames(), ...targets.map(({ name }) => name)];
  assert.ok(names.length >= 8);
  const word = new RegExp(`(?<![\\w-])(${names.join("|")})(?![\\w-])`);
  const is = new RegExp(
    `(["'\`])(${names.join("|")})\\1|formats/(?!format\\.|registry\\.)`,
  );
  for (const file of files) {
    if (/^src\/formats\/\w+\//.test(file)) continue;
    if (NAMES_FORMATS.some((own) => file.startsWith(own))) continue;
    const code = Deno.readTextFileSync(REPOSITORY + file)
      .replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
    // Help texts may name formats, but no command may depend on one.
    const found = (file.startsWith("src/cli/") ? is : word).exec(code);
    assert.equal(found, null, `${file}: ${found?.[0]}`);
  }
});

Deno.test("no file has more than 400 lines", () => {
  for (
    const file of [
      ...files,
      ...["test", "bench", "packaging"].flatMap(sources),
      "cli.ts",
      "mod.ts",
    ]
  ) {
    const lines = Deno.readTextFileSync(REPOSITORY + file).split("\n").length -
      1;
    assert.ok(lines <= 400, `${file} has ${lines}`);
  }
});
