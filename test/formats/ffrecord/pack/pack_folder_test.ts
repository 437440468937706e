import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  PackedFolder,
  PackError,
  packFolder,
} from "../../../../src/formats/ffrecord/mod.ts";
import type { PackProblem } from "../../../../src/formats/ffrecord/pack/pack_problem.ts";
import { descriptorsBelow } from "../../../support/programs/descriptors.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";

/** Writes text files by path; a path that ends in a slash is a directory. */
function write(dir: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    const end = path.lastIndexOf("/");
    fs.mkdirSync(`${dir}/${path.slice(0, end + 1)}`, { recursive: true });
    if (end !== path.length - 1) fs.writeFileSync(`${dir}/${path}`, text);
  }
}

/** Returns all entries of a packed folder in order, with the text of files. */
async function unpack(out: string): Promise<[string, string?][]> {
  using folder = await PackedFolder.open(out);
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return folder.list("", { recursive: true }).map((path) =>
    folder.isDir(path) ? [path] : [path, decode(folder.readOneSync(path))]
  );
}

/** Asserts that packing fails, and leaves nothing behind. */
async function fails(
  packing: Promise<unknown>,
  dir: string,
  expected: { code?: string; message?: RegExp; name?: string },
): Promise<void> {
  const before = fs.readdirSync(dir).sort();
  await assert.rejects(packing, expected);
  assert.deepEqual(fs.readdirSync(dir).sort(), before);
  assert.equal(await descriptorsBelow(dir), 0);
}

Deno.test("a folder is packed depth first, by code point", async () => {
  await withTempDir(async (dir) => {
    write(`${dir}/in`, {
      "b": "1",
      "a/z": "2",
      "a/y/": "",
      "a.txt": "3",
      "A": "4",
      "\uff5e": "5",
      "😀": "6",
      "é/": "",
    });
    const report = await packFolder(`${dir}/in`, `${dir}/out.ffr`);
    assert.deepEqual(report, {
      files: 6,
      directories: 3,
      bytes: 6,
      paths: [`${dir}/out.ffr`],
      skipped: [],
    });
    assert.deepEqual(await unpack(`${dir}/out.ffr`), [
      ["A", "4"],
      ["a"],
      ["a/y"],
      ["a/z", "2"],
      ["a.txt", "3"],
      ["b", "1"],
      ["é"],
      ["\uff5e", "5"],
      ["😀", "6"],
    ]);
  });
});

Deno.test("an empty folder can be packed, and a URL is accepted", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in`);
    const out = new URL(`file://${dir}/out.ffr`);
    const { files } = await packFolder(new URL(`file://${dir}/in`), out);
    assert.equal(files, 0);
    assert.deepEqual(await unpack(`${dir}/out.ffr`), []);
  });
});

for (
  const [count, parts, counts] of [
    [10, 3, [4, 4, 3]],
    [3, 2, [2, 2]],
    [3, 9, [1, 1, 1, 1]],
    [0, 4, [1]],
    [3, 1, [4]],
  ] as const
) {
  Deno.test(`${count} files in ${parts} parts`, async () => {
    await withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/in`);
      for (let i = 0; i < count; i++) write(`${dir}/in`, { [`f${i}`]: `${i}` });
      const { paths } = await packFolder(`${dir}/in`, `${dir}/out`, { parts });
      const names = counts.map((_, i) => `PART_0000${i}.ffr`);
      assert.deepEqual(paths, names.map((name) => `${dir}/out/${name}`));
      assert.deepEqual(fs.readdirSync(`${dir}/out`).sort(), names);
      assert.deepEqual(fs.readdirSync(dir).sort(), ["in", "out"]);
      for (const [i, path] of paths.entries()) {
        const samples = fs.readFileSync(path).readBigInt64LE(4);
        assert.equal(Number(samples), counts[i]);
      }
      assert.deepEqual(
        await unpack(`${dir}/out`),
        Array.from({ length: count }, (_, i) => [`f${i}`, `${i}`]),
      );
    });
  });
}

Deno.test("one part is a file or a directory, depending on the name", async () => {
  await withTempDir(async (dir) => {
    write(dir, { "in/a": "a" });
    const options = { parts: 1 };
    const file = `${dir}/out.ffr`;
    const { paths } = await packFolder(`${dir}/in`, file, options);
    assert.deepEqual(paths, [file]); // as with Python's dump and nfiles = 1
    await packFolder(`${dir}/in`, `${dir}/out`, options);
    assert.deepEqual(
      fs.readFileSync(`${dir}/out/PART_00000.ffr`),
      fs.readFileSync(file),
    );
    await assert.rejects(
      packFolder(`${dir}/in`, `${dir}/other`),
      /must end in \.ffr/,
    );
  });
});

Deno.test("links are followed, to files and to directories", async () => {
  await withTempDir(async (dir) => {
    write(dir, { "in/real/x": "x", "other/y": "y", "in/same": "same" });
    fs.symlinkSync("../other", `${dir}/in/away`);
    fs.symlinkSync("real/x", `${dir}/in/file`);
    fs.symlinkSync("real", `${dir}/in/twice`);
    await packFolder(`${dir}/in`, `${dir}/out.ffr`);
    assert.deepEqual(await unpack(`${dir}/out.ffr`), [
      ["away"],
      ["away/y", "y"],
      ["file", "x"],
      ["real"],
      ["real/x", "x"],
      ["same", "same"],
      ["twice"],
      ["twice/x", "x"],
    ]);
  });
});

Deno.test({
  name:
    "an entry that cannot be packed ends the packing, or is skipped and reported",
  ...needs("mkfifo"),
  async fn() {
    await withTempDir(async (dir) => {
      write(dir, { "in/sub/x": "x" });
      fs.symlinkSync("nowhere", `${dir}/in/broken`);
      fs.symlinkSync("..", `${dir}/in/sub/up`);
      fs.symlinkSync("round", `${dir}/in/round`);
      new Deno.Command("mkfifo", { args: [`${dir}/in/pipe`] }).outputSync();
      const expected = [
        ["broken", "broken-link"],
        ["pipe", "special-file"],
        ["round", "ELOOP"],
        ["sub/up", "cycle"],
      ];
      const codes = (problems: readonly PackProblem[]) =>
        problems.map(({ path, code }) => [path, code]);

      const out = `${dir}/out.ffr`;
      const packing = packFolder(`${dir}/in`, out);
      await fails(packing, dir, {
        name: "PackError",
        code: "problems",
        message: /4 entries.*broken: it is a symbolic link to nowhere; pipe: /,
      });
      const error = await packing.catch((error) => error);
      assert.ok(error instanceof PackError);
      assert.deepEqual(codes(error.problems), expected);

      const told: PackProblem[] = [];
      const onProblem = (problem: PackProblem) => void told.push(problem);
      const { skipped } = await packFolder(`${dir}/in`, out, { onProblem });
      assert.deepEqual(codes(skipped), expected);
      assert.deepEqual(told, skipped);
      assert.deepEqual(await unpack(out), [["sub"], ["sub/x", "x"]]);

      // Entries rejected by the filter are not a problem.
      const filter = ({ path }: { path: string }) => path === "sub";
      const filtered = await packFolder(`${dir}/in`, out, { filter });
      assert.deepEqual(filtered.skipped, []);
      assert.deepEqual(await unpack(out), [["sub"]]);
    });
  },
});

Deno.test("a long list of problems is shortened", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in`);
    for (let i = 10; i < 60; i++) fs.symlinkSync("x", `${dir}/in/${i}`);
    await fails(packFolder(`${dir}/in`, `${dir}/out.ffr`), dir, {
      message: /50 entries.*10: it .*; 29: [^;]*; and 30 more\)$/,
    });
  });
});

Deno.test("the filter sees paths and kinds; empty directories can be removed", async () => {
  await withTempDir(async (dir) => {
    write(`${dir}/in`, {
      "a/b/c.txt": "1",
      "a/b/c.png": "2",
      "a/empty/": "",
      "d/e/f.png": "3",
      "d/g/": "",
    });
    const seen: string[] = [];
    const filter = (entry: { path: string; isDirectory: boolean }) => {
      seen.push(entry.path + (entry.isDirectory ? "/" : ""));
      return entry.isDirectory || entry.path.endsWith(".txt");
    };
    const out = `${dir}/out.ffr`;
    const all = await packFolder(`${dir}/in`, out, { filter });
    assert.deepEqual([all.files, all.directories], [1, 6]);
    assert.deepEqual(seen, [
      ...["a/", "a/b/", "a/b/c.png", "a/b/c.txt", "a/empty/"],
      ...["d/", "d/e/", "d/e/f.png", "d/g/"],
    ]);
    const options = { filter, emptyDirectories: false };
    const pruned = await packFolder(`${dir}/in`, out, options);
    assert.deepEqual([pruned.files, pruned.directories], [1, 2]);
    assert.deepEqual(await unpack(out), [["a"], ["a/b"], ["a/b/c.txt", "1"]]);
  });
});

Deno.test("the output itself is skipped, however it is reached", async () => {
  await withTempDir(async (dir) => {
    write(dir, {
      "in/x": "x",
      "in/out.ffr": "old",
      "in/.out.ffr.recordfs-1-1.part": "left by a killed process",
      "in/.data.recordfs-1-1.part/spec.json": "left by another",
      "in/parts/": "",
    });
    fs.symlinkSync(".", `${dir}/in/sub`);
    fs.symlinkSync("in", `${dir}/alias`);
    const onProblem = () => {};
    const { skipped } = await packFolder(`${dir}/in`, `${dir}/alias/out.ffr`, {
      onProblem,
    });
    assert.deepEqual(skipped.map(({ path, code }) => [path, code]), [
      [".data.recordfs-1-1.part", "temporary"],
      [".out.ffr.recordfs-1-1.part", "output"],
      ["out.ffr", "output"],
      ["sub", "cycle"],
    ]);
    assert.deepEqual(await unpack(`${dir}/in/out.ffr`), [["parts"], [
      "x",
      "x",
    ]]);
    fs.rmSync(`${dir}/in/sub`);
    const parts = await packFolder(`${dir}/in`, `${dir}/in/parts`, {
      parts: 2,
      filter: ({ path }) => !path.includes("out.ffr"),
    });
    assert.deepEqual(parts.skipped.map(({ path }) => path), [
      ".data.recordfs-1-1.part",
      "parts",
    ]);
    assert.deepEqual(await unpack(`${dir}/in/parts`), [["x", "x"]]);
  });
});

Deno.test("an invalid folder, and an impossible target, are reported first", async () => {
  await withTempDir(async (dir) => {
    write(dir, { "in/x": "x", "file": "", "full/x": "" });
    const pack = (from: string, to: string, parts?: number) =>
      packFolder(`${dir}/${from}`, `${dir}/${to}`, { parts });
    await fails(pack("nothing", "out.ffr"), dir, { code: "ENOENT" });
    await fails(pack("file", "out.ffr"), dir, { code: "ENOTDIR" });
    await fails(pack("in", "out"), dir, { code: "bad-name", message: /\.ffr/ });
    await fails(pack("in", "no/out.ffr"), dir, { code: "ENOENT" });
    await fails(pack("in", "full", 2), dir, { code: "not-empty" });
    await fails(pack("in", "out", 1.5), dir, { name: "RangeError" });
  });
});

Deno.test("progress ends at the total", async () => {
  await withTempDir(async (dir) => {
    write(`${dir}/in`, { "a/b": "1234", "c": "x".repeat(3_000_000) });
    const seen: number[] = [];
    await packFolder(`${dir}/in`, `${dir}/out.ffr`, {
      onProgress({ files, bytes, totalFiles, totalBytes }) {
        assert.deepEqual([totalFiles, totalBytes], [2, 3_000_004]);
        seen.push(bytes, files);
      },
    });
    assert.deepEqual(seen.slice(-2), [3_000_004, 2]);
  });
});
