/** Output of `packFolder`, compared with that of Python's library, and as Python reads it. */
import assert from "node:assert/strict";
import {
  FFRecordReader,
  PackedFolder,
  packFolder,
} from "../../../../src/formats/ffrecord/mod.ts";
import { DirectoryChain } from "../../../../src/io/dirfd/directory_chain.ts";
import { openDirectory } from "../../../../src/io/dirfd/open_directory.ts";
import { succeed } from "../../../cli/run_cli.ts";
import {
  type ExactFolder,
  writeExactTree,
} from "../../../support/exact_tree.ts";
import { goldenCases, sha256 } from "../../../support/golden.ts";
import { fromFileUrl, withMemoryDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const SCRIPT = fromFileUrl(
  new URL("../python/walk_structure.py", import.meta.url),
);

async function python(...args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(PYTHON, {
    args: [SCRIPT, ...args],
  }).output();
  assert.equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).trim();
}

for (const golden of goldenCases("ffrecord")) {
  if (golden.kind !== "packed" || !golden.valid) continue;
  Deno.test(`packed again, ${golden.name} has the same samples in the same order`, async () => {
    await withMemoryDir(async (dir) => {
      await succeed(["extract", golden.path, `${dir}/in`]);
      const { paths } = await packFolder(`${dir}/in`, `${dir}/out.ffr`);
      const { n, entries } = golden.content;
      using reader = await FFRecordReader.open(paths);
      assert.equal(reader.length, n);
      for (const { type, index, size, sha256: expected } of entries) {
        if (type !== "file") continue;
        const sample = await reader.readOne(index);
        assert.deepEqual([sample.length, sha256(sample)], [size, expected]);
      }
      // The structure is pickled with other opcodes, so its content is compared.
      using theirs = await PackedFolder.open(golden.path);
      using ours = await PackedFolder.open(paths);
      const listed = ours.list("", { recursive: true });
      assert.deepEqual(listed, theirs.list("", { recursive: true }));
      assert.equal(listed.length, entries.length);
      for (const path of listed) {
        assert.equal(ours.isDir(path), theirs.isDir(path));
        if (ours.isDir(path)) continue;
        assert.deepEqual(await ours.readOne(path), await theirs.readOne(path));
      }
    });
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);
const hex = (text: string) => bytes(text).toHex();

/** Names whose order differs between bytes, UTF-16 and code points. */
const ODD: ExactFolder = {
  ff: bytes("not UTF-8"),
  "ed9fbf": bytes("the last below the surrogates"),
  "ee8080": bytes("the first above them"),
  "f09f9880": bytes("beyond 16 bits"),
  "80": { "fe": {}, "c3": bytes("x"), [hex("é")]: bytes("y") },
  [hex("empty")]: {},
  [hex("nothing")]: new Uint8Array(),
  [hex("large")]: new Uint8Array(3_000_000).fill(7),
  [hex("x").repeat(255)]: bytes("long name"),
  ["ff".repeat(255)]: bytes("long name of which each byte takes three"),
  [hex("many")]: Object.fromEntries(
    Array.from({ length: 2345 }, (_, i) => [hex(`f${i}`), bytes(`${i}`)]),
  ),
};

for (const parts of [1, 5]) {
  Deno.test({
    name: `Python unpickles the structure and walks it: ${parts} parts`,
    ...needs("python3"),
    async fn() {
      await withMemoryDir(async (dir) => {
        writeExactTree(`${dir}/in`, ODD);
        const out = parts === 1 ? `${dir}/out.ffr` : `${dir}/out`;
        const report = await packFolder(`${dir}/in`, out, { parts });
        assert.equal(report.paths.length, parts);
        const printed = await python(`${dir}/in`, ...report.paths);
        assert.equal(printed, "2355 4");
        assert.deepEqual([report.files, report.directories], [2355, 4]);
      });
    },
  });
}

Deno.test({
  name: "1,000 levels are packed, walked by Python, and read",
  ...needs("python3"),
  async fn() {
    await withMemoryDir(async (dir) => {
      await Deno.mkdir(`${dir}/in`);
      const chain = new DirectoryChain(openDirectory(`${dir}/in`), "keep");
      const path = [];
      for (let level = 1; level <= 1000; level++) {
        const file = chain.last.createFile("file");
        file.write(bytes(`${level}`));
        file.close();
        chain.last.makeDirectory(`level ${level}`);
        chain.enter(`level ${level}`);
        path.push(`level ${level}`);
      }
      chain.close();
      const { paths } = await packFolder(`${dir}/in`, `${dir}/out.ffr`);
      assert.equal(await python(`${dir}/in`, ...paths), "1000 1000");
      using folder = await PackedFolder.open(paths);
      assert.ok(folder.isDir(path.join("/")));
      path[999] = "file";
      assert.deepEqual(await folder.readOne(path.join("/")), bytes("1000"));
    });
  },
});
