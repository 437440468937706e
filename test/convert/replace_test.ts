/** `replace`: an existing target is removed when the new one is complete, not before. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import { DatasetWriter } from "../../src/formats/bags/mod.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { testImage } from "../support/images.ts";
import { writeChunk } from "../support/gulp/make_gulp.ts";
import { withTempDir } from "../support/paths.ts";

/** Returns all files in a directory, by path. */
function contentOf(dir: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(dir)) {
    const path = `${dir}/${name}`;
    if (isDirectory) Object.assign(found, contentOf(path, `${prefix}${name}/`));
    else found[prefix + name] = Deno.readFileSync(path).toHex();
  }
  return found;
}

/** Writes a dataset, chunks and plain samples to convert, in `dir/from`. */
async function writeSources(dir: string): Promise<void> {
  await Deno.mkdir(`${dir}/from`);
  const writer = await DatasetWriter.open(`${dir}/from/bags`, { a: "utf8" });
  for (const a of ["one", "two", "three"]) await writer.write({ a });
  await writer.close();
  const codec = await imageCodec();
  const frames = [await codec.encode(testImage(16, 12))];
  writeChunk(`${dir}/from/gulp`, 0, [{ id: "v", frames }]);
  const samples = [1, 2, 3, 4].map((value) => Uint8Array.of(value));
  await Deno.writeFile(`${dir}/from/x.ffr`, ffrBytes(samples));
}

/** Kinds of targets: source, name of the target, and options. */
const KINDS: [string, string, ConvertOptions][] = [
  ["x.ffr", "y.ffr", { to: "ffrecord-samples" }],
  ["x.ffr", "parts", { to: "ffrecord-samples", parts: 2 }],
  ["gulp", "folder.ffr", { to: "ffrecord" }],
  ["x.ffr", "y.bag", { generation: 3 }],
  ["x.ffr", "y.bag", { generation: 1 }],
  ["bags", "data", { to: "bags", generation: 2 }],
  ["bags", "shards", { to: "bags", shardLength: 2 }],
  ["gulp", "chunks", { to: "gulp" }],
  ["x.ffr", "records", { to: "tfrecord", shardLength: 3 }],
];

for (const [source, name, options] of KINDS) {
  Deno.test(`${source} replaces ${name} ${JSON.stringify(options)}`, async () => {
    await withTempDir(async (dir) => {
      await writeSources(dir);
      const from = `${dir}/from/${source}`;
      await Deno.mkdir(`${dir}/to`);
      await Deno.mkdir(`${dir}/new`);
      const to = `${dir}/to/${name}`;
      await convert(from, `${dir}/new/${name}`, options);
      const expected = contentOf(`${dir}/new`);

      // First to a new path, then over an older target of another size.
      await convert(from, to, { ...options, replace: true });
      assert.deepEqual(contentOf(`${dir}/to`), expected);
      if (options.to === undefined) { // over a bag of another generation
        const generation = options.generation === 3 ? 1 : 3;
        await convert(from, to, { generation, replace: true });
      }
      const before = contentOf(`${dir}/to`);
      await assert.rejects(convert(from, to, options), {
        code: /^(exists|not-empty)$/,
        message: /the option `replace`/,
      });

      // A conversion that ends early changes nothing.
      const abort = new AbortController();
      await assert.rejects(
        convert(from, to, {
          ...options,
          replace: true,
          signal: abort.signal,
          onProgress: () => abort.abort(),
        }),
        { name: "AbortError" },
      );
      assert.deepEqual(contentOf(`${dir}/to`), before);

      const report = await convert(from, to, { ...options, replace: true });
      assert.equal(report.path, to);
      assert.deepEqual(contentOf(`${dir}/to`), expected);
      using fs = await open(to);
      assert.ok(fs.info.files > 0);
    });
  });
}

Deno.test("a directory with other content is not replaced", async () => {
  await withTempDir(async (dir) => {
    await writeSources(dir);
    const cases: [string, ConvertOptions, string, RegExp][] = [
      ["bags", { to: "bags" }, "notes.txt", /not only a dataset.*notes\.txt/],
      ["bags", { to: "bags" }, ".hidden", /not only a dataset.*\.hidden/],
      [
        "bags",
        { to: "bags" },
        "000000/a.txt",
        /not only.*holds 000000\/a\.txt/,
      ],
      ["gulp", { to: "gulp" }, "spec.json", /not only GulpIO.*spec\.json/],
      ["gulp", { to: "folder" }, "meta.json", /may hold any files/],
      ["x.ffr", { to: "ffrecord-samples", parts: 2 }, "a.bag", /a\.bag/],
      ["x.ffr", { to: "bag" }, "a.bag", /it is not a file/],
      ["x.ffr", { to: "ffrecord-samples" }, "a.ffr", /it is not a file/],
    ];
    for (const [i, [source, options, stray, words]] of cases.entries()) {
      const isFile = options.to === "ffrecord-samples" && !options.parts;
      const to = `${dir}/${i}${
        isFile ? ".ffr" : options.to === "bag" ? ".bag" : ""
      }`;
      const file = `${to}/${stray}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.writeTextFile(file, "mine");
      await assert.rejects(
        convert(`${dir}/from/${source}`, to, { ...options, replace: true }),
        { code: "exists", message: words },
      );
      assert.deepEqual(contentOf(to), { [stray]: "6d696e65" });
    }
    // The same holds for a directory that contains the source, and for a link to a directory that is not a container.
    await assert.rejects(
      convert(`${dir}/from/x.ffr`, `${dir}/from`, {
        to: "ffrecord-samples",
        parts: 2,
        replace: true,
      }),
      { code: "exists" },
    );
    await Deno.mkdir(`${dir}/only`);
    await Deno.rename(`${dir}/from/x.ffr`, `${dir}/only/x.ffr`);
    await assert.rejects(
      convert(`${dir}/only/x.ffr`, `${dir}/only`, {
        to: "ffrecord-samples",
        parts: 2,
        replace: true,
      }),
      { code: "exists", message: /it holds .*x\.ffr, which is converted/ },
    );
  });
});

Deno.test("a container can replace itself, also through a link", async () => {
  await withTempDir(async (dir) => {
    await writeSources(dir);
    const bags = `${dir}/from/bags`;
    await Deno.symlink("from/bags", `${dir}/link`);
    await convert(bags, `${dir}/link`, {
      to: "bags",
      generation: 1,
      replace: true,
    });
    assert.ok((await Deno.lstat(`${dir}/link`)).isSymlink);
    using fs = await open(bags);
    assert.equal(await Deno.stat(`${bags}/refs.bag`).then(() => true), true);
    assert.equal(new TextDecoder().decode(await fs.read("000002/a")), "three");
  });
});
