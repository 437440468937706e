/** Rows as directories: names, cells as files, cost of stat, and remote files. */
import assert from "node:assert/strict";
import * as files from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import {
  type ParquetCase,
  parquetCase,
  valueOf,
} from "../../../support/parquet/parquet_golden.ts";
import { largeFile } from "../../../support/parquet/make_parquet.ts";
import { withTempDir } from "../../../support/paths.ts";
import {
  newExtent,
  reopenHandle,
  type Tree,
} from "../../../../src/tree/tree.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("cells are raw bytes, text, or JSON; null is an empty file, or null", async () => {
  using fs = await open(parquetCase("types").path);
  const cells = async (name: string) =>
    (await fs.read([0, 1, 2, 3].map((row) => `00000${row}/${name}`))).map(text);
  assert.deepEqual(await cells("string.txt"), ["", "häß ☃ 🦊", "", 'a\nb"c']);
  assert.deepEqual(await cells("int64.json"), [
    "-9223372036854775808\n",
    "9223372036854775807\n",
    "null\n",
    "9007199254740993\n",
  ]);
  assert.deepEqual(await cells("uint64.json"), [
    "0\n",
    "18446744073709551615\n",
    "null\n",
    "9007199254740993\n",
  ]);
  assert.deepEqual(await cells("bool.json"), [
    "true\n",
    "false\n",
    "null\n",
    "true\n",
  ]);
  assert.deepEqual(await cells("double.json"), [
    "0.1\n",
    "NaN\n",
    "null\n",
    "-1e+300\n",
  ]);
  assert.deepEqual(await cells("decimal9.json"), [
    '"1.20"\n',
    '"-0.05"\n',
    "null\n",
    '"1234567.89"\n',
  ]);
  assert.deepEqual(await fs.read("000001/binary"), Uint8Array.of(0, 255));
  assert.deepEqual(await cells("fixed"), ["abc", "\0\x01\x02", "", "xyz"]);
  using jsons = await open(parquetCase("json_null").path);
  const texts = [0, 1, 2].map((row) => `00000${row}/meta.json`);
  assert.deepEqual((await jsons.read(texts)).map(text), [
    '{"a": 1}',
    "null",
    "null",
  ]);
  assert.equal(jsons.statSync(texts[1]!).size, 4);
  using nested = await open(parquetCase("nested").path);
  const json = async (path: string) => text(await nested.read(path));
  assert.equal(await json("000000/list.json"), "[1, 2, null]\n");
  assert.equal(await json("000001/list.json"), "[]\n");
  assert.equal(await json("000002/list.json"), "null\n");
  assert.equal(await json("000000/map.json"), '[["k", 1], ["", null]]\n');
  assert.equal(await json("000000/struct.json"), '{"a": 1, "b": "x"}\n');
  assert.equal(await json("000000/bytes_in_list.json"), '["AQ==", null]\n');
});

/** Returns the names of the files in the first row. */
async function namesOf({ path }: ParquetCase): Promise<string[]> {
  using fs = await open(path);
  return fs.listSync("000000");
}

Deno.test("names are those of columns, and distinct", async () => {
  assert.deepEqual(await namesOf(parquetCase("odd_names")), [
    "a%2Fb.txt",
    "%2E%2E.txt",
    "%2E.txt",
    "%.txt",
    "a.b.txt",
    "ü ☃.txt",
    "100%25.txt",
    "x.txt",
    "x~2.txt",
    "__proto__.txt",
    `${"n".repeat(223)}~10.txt`,
  ]);
  assert.deepEqual(await namesOf(parquetCase("duplicates")), [
    "a.json",
    "a~2.json",
  ]);
  using none = await open(parquetCase("no_columns").path);
  assert.deepEqual(none.listSync(""), []);
});

Deno.test("images have the extension of their paths, other bytes one that fits their content", async () => {
  const { path, content } = parquetCase("pictures");
  using fs = await open(path);
  assert.deepEqual(fs.listSync("000011"), [
    "image.png",
    "label.json",
    "caption.txt",
  ]);
  const [image] = content.columns;
  for (const [row, value] of image!.values.entries()) {
    const name = `${String(row).padStart(6, "0")}/image.png`;
    const expected = valueOf(value) as { bytes: Uint8Array } | null;
    assert.deepEqual(
      await fs.read(name),
      expected?.bytes ?? new Uint8Array(0),
    );
  }
  assert.deepEqual(await namesOf(parquetCase("sniffed")), [
    "jpg.jpg",
    "data.flac",
    "json.txt",
  ]);
});

Deno.test("shards are directories, whose rows are numbered in each", async () => {
  using fs = await open(parquetCase("shards").path);
  const names = [0, 1, 2].map((i) => `train-0000${i}-of-00003`);
  assert.deepEqual(fs.listSync(""), names);
  assert.equal(fs.listSync(names[2]!).length, 22);
  assert.equal(text(await fs.read(`${names[1]}/000003/id.json`)), "103\n");
  const pattern = `${parquetCase("shards").path}/train-*-of-*.parquet`;
  using one = await open(pattern);
  assert.equal(one.info.facts!["rows"], 63);
});

Deno.test("nodes have views: rows are datapoints, cells are values of their kind", async () => {
  using fs = await open(parquetCase("pictures").path);
  const { tree } = fs;
  const encoder = new TextEncoder();
  const find = (dir: number, name: string) =>
    tree.lookup(dir, encoder.encode(name), 0, name.length);
  const row = find(1, "000002");
  assert.deepEqual(tree.view!(row), { kind: "datapoint" });
  const kinds = ["image.png", "label.json", "caption.txt"].map((name) => {
    const view = tree.view!(find(row, name));
    return view?.kind === "value" ? [view.type.name, view.type.kind] : view;
  });
  assert.deepEqual(kinds, [
    ["struct<bytes, path>", "image"],
    ["int64", "number"],
    ["text", "text"],
  ]);
  assert.equal(tree.parent(find(row, "label.json")), row);
});

Deno.test("pages decoded by one thread are used by others, while they are cached", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/p.parquet`;
    const shape = { groups: 1, pages: 3, rows: 4, size: 100_000 };
    const whole = largeFile({ ...shape, isIndexed: true });
    files.writeFileSync(path, whole);
    files.utimesSync(path, 1_700_000_000, 1_700_000_000);
    using fs = await open(path);
    const handle = () => structuredClone(fs.tree.share());
    const first = await reopenHandle(handle());
    const second = await reopenHandle(handle());
    const cell = (tree: Tree, row: number) => {
      const into = newExtent();
      assert.ok(tree.locate(2 + 12 + row, into));
      return into.bytes!;
    };
    assert.ok(cell(first, 5).every((byte) => byte === 5));
    // The pages change invisibly: size and time are unchanged.
    files.writeFileSync(path, whole.fill(0, 4, whole.length - 1000));
    files.utimesSync(path, 1_700_000_000, 1_700_000_000);
    assert.equal(cell(second, 7).length, 100_000);
    assert.ok(cell(second, 7).every((byte) => byte === 7));
    assert.ok(cell(second, 4).every((byte) => byte === 4));
    first.close();
    second.close();
  }));

Deno.test("a file in memory can be opened, but not served by threads", async () => {
  const bytes = await Deno.readFile(parquetCase("pictures").path);
  using fs = await open("x", {
    storage: new MemoryStorage({ x: bytes }), // detected by content
  });
  assert.equal(fs.info.format, "parquet");
  assert.throws(() => fs.tree.share(), { code: "unsupported" });
});
