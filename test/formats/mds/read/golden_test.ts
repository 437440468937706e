/** Datasets of an independent writer: values, and files. */
import { columnsOf, openMds } from "../../../support/mds/open_mds.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { openSamplesSync } from "../../../../src/open/mod.ts";
import type {
  FieldBytes,
  FieldValues,
} from "../../../../src/tree/field_shards/field_samples.ts";
import assert from "node:assert/strict";
import { readNpy } from "../../../../src/codecs/numpy/mod.ts";
import { runAsync } from "../../../../src/io/concurrency/steps.ts";
import { newExtent } from "../../../../src/tree/tree.ts";
import { whenLoaded } from "../../../../src/tree/not_loaded.ts";
import { check, open } from "../../../../src/open/open.ts";
import { decodeValue } from "../../../../src/open/mod.ts";
import { type VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { findNode } from "../../../../src/tree/vfs/paths.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  assertValue,
  type ExpectedMdsValue,
  mdsCase,
  mdsCases,
} from "../../../support/mds/mds_golden.ts";

const onWarning = (message: string) => assert.fail(message);

const SUFFIXES: Record<string, string> = {
  bytes: "",
  str: ".txt",
  "str_int": ".txt",
  "str_float": ".txt",
  "str_decimal": ".txt",
  jpeg: ".jpg",
  png: ".png",
  pkl: ".pkl",
  ndarray: ".npy",
  pil: ".npy",
  "list[jpeg]": "",
  "list[png]": "",
  "list[pil]": "",
  "jpeg_array": "",
  jpegarray: "",
};

/** Columns whose names are not valid file names, or conflict with others. */
const ODD: Record<string, string> = {
  "..": "%2E%2E",
  "a/b.txt": "a%2Fb.txt",
  "": "%",
  "clash.txt": "clash.txt~2",
};

function fileOf(column: string, encoding: string): string {
  return ODD[column] ??
    `${column}${SUFFIXES[encoding.split(":")[0]!] ?? ".json"}`;
}

for (const golden of mdsCases()) {
  const { samples } = golden.content;

  Deno.test(`values equal those written: ${golden.name}`, async () => {
    using reader = await openMds(golden.path);
    assert.equal(reader.length, samples.length);
    const order = samples.map((_, i) => i).reverse();
    const read = await reader.read(order);
    const decoded = await reader.get(order);
    for (const [at, i] of order.entries()) {
      const expected = samples[i]!;
      if (reader.fields !== undefined) { // undefined if shards have different fields
        assert.deepEqual(
          columnsOf(reader),
          Object.entries(expected)
            .map(([name, { encoding }]) => [name, encoding]),
        );
      }
      assert.deepEqual(Object.keys(read[at]!), Object.keys(expected));
      for (const [column, value] of Object.entries(expected)) {
        assert.equal(sha256(read[at]![column]!), value.sha256, column);
        assertValue(decoded[at]![column], value);
      }
    }
  });

  Deno.test(`values are files, without damage: ${golden.name}`, async () => {
    using fs = await open(golden.path, { onWarning });
    assert.equal(fs.info.format, "mds");
    let [files, lists, elements] = [0, 0, 0];
    for (const [i, sample] of samples.entries()) {
      const directory = String(i).padStart(6, "0");
      for (const [column, expected] of Object.entries(sample)) {
        const path = `${directory}/${fileOf(column, expected.encoding)}`;
        const { value } = expected;
        if (typeof value === "object" && value !== null && "list" in value) {
          lists++;
          elements += value.list.length;
          await assertList(fs, path, value.list);
          continue;
        }
        files++;
        const bytes = await fs.read(path);
        assert.equal((await fs.stat(path)).size, bytes.length, path);
        if (path.endsWith(".npy")) {
          assertValue(readNpy(bytes), expected);
        } else if (SUFFIXES[expected.encoding.split(":")[0]!] === undefined) {
          const text = new TextDecoder().decode(bytes);
          if (expected.encoding === "json") assertJson(text, expected.value);
          else assertNumber(text, expected.value);
        } else assert.equal(sha256(bytes), expected.sha256, path);
      }
    }
    const all = await Array.fromAsync(fs.walk(""));
    assert.equal(all.filter(({ isFile }) => isFile).length, files + elements);
    assert.deepEqual(
      [fs.info.files, fs.info.directories, fs.info.facts!["samples"]],
      [files, samples.length + lists, samples.length],
    );
    const { damaged, samples: found } = await check(golden.path, {
      onDamage: (damage) => assert.fail(damage),
      onWarning,
    });
    assert.deepEqual([damaged, found], [0, samples.length]);
  });
}

/** Compares the files in a list's directory with its elements. */
async function assertList(
  fs: VirtualFs,
  path: string,
  list: readonly ExpectedMdsValue[],
): Promise<void> {
  assert.ok((await fs.stat(path)).isDirectory);
  const entries = await fs.list(path);
  assert.deepEqual(
    entries,
    list.map(({ encoding }, i) => `00000${i}${SUFFIXES[encoding]}`),
  );
  for (const [i, element] of list.entries()) {
    const file = `${path}/${entries[i]!}`;
    const bytes = await fs.read(file);
    assert.equal((await fs.stat(file)).size, bytes.length, file);
    if (file.endsWith(".npy")) assertValue(readNpy(bytes), element);
    else assert.equal(sha256(bytes), element.sha256, file);
  }
  const none = `${path}/${String(list.length).padStart(6, "0")}.jpg`;
  await assert.rejects(fs.stat(none), { code: "not-found" });
}

function assertJson(text: string, value: unknown): void {
  assert.deepEqual({ json: JSON.parse(text) }, value);
}

function assertNumber(text: string, value: unknown): void {
  assert.match(text, /^\S+\n$/);
  const wanted = Number(String(value).replace("inf", "Infinity"));
  assert.equal(Number(text), wanted);
  if (/^-?\d+$/.test(String(value))) assert.equal(text, `${value}\n`);
}

Deno.test("the stored bytes are a slice of the shard", async () => {
  for (const name of ["plain", "zstd", "merged"]) {
    using fs = await open(mdsCase(name).path);
    for (const path of ["000001/image.jpg", "000001/label.json"]) {
      const node = await runAsync(findNode(fs.tree, path));
      const extent = newExtent();
      await runAsync(whenLoaded(() => fs.tree.locate(node, extent)));
      assert.equal(extent.source < 0, path.endsWith(".json"));
    }
  }
});

Deno.test("an index opens the dataset, and a shard opens alone", async () => {
  const { path, content: { samples } } = mdsCase("plain");
  using whole = await open(`${path}/index.json`);
  assert.equal(whole.info.facts!["samples"], 7);
  using reader = await openMds(`${path}/shard.00001.mds`);
  assert.equal(reader.length, 3);
  const { image, label } = await reader.read(1);
  assert.equal(sha256(image!), samples[5]!["image"]!.sha256);
  assert.equal(label![0], 5);
  assert.equal(reader.fileOf(1), `${path}/shard.00001.mds`);
  // Detected by content, under any name.
  const bytes = await Deno.readFile(`${path}/shard.00001.mds`);
  using named = await open(bytes);
  assert.equal(named.info.kind, "a shard");
  assert.equal(named.info.directories, 3);
});

Deno.test("decompressed shards next to compressed ones are read instead", async () => {
  const { path } = mdsCase("kept");
  using reader = await openMds(path);
  assert.deepEqual(reader.paths, [
    `${path}/shard.00000.mds`,
    `${path}/shard.00001.mds`,
  ]);
});

Deno.test("only the requested columns are returned, if they exist", async () => {
  const { path } = mdsCase("plain");
  using reader = openSamplesSync<FieldValues, FieldBytes>(path);
  assert.deepEqual({ ...await reader.get(3, { fields: ["label"] }) }, {
    label: 3,
  });
  const [bytes] = reader.readSync([3], { fields: ["name"] });
  assert.equal(new TextDecoder().decode(bytes!["name"]), "näme 3");
  await assert.rejects(reader.read(3, { fields: ["x"] }), {
    code: "no-column",
    message:
      /read column 'x' of sample 3 .*: there is no such column, only image, label, name, raw/,
  });
  await assert.rejects(reader.read([0, 7]), { name: "IndexError" });
});

Deno.test("another thread's reader opens shards on demand", async () => {
  const { path } = mdsCase("zstd");
  using reader = await openMds(path);
  using again = await OpenedSamples.openShared(structuredClone(reader.share()));
  assert.deepEqual(await again.read([5, 0]), await reader.read([5, 0]));
});

Deno.test("samples are datapoints to viewers, and files are values of their encodings", async () => {
  const { path, content: { samples } } = mdsCase("every");
  using fs = await open(path);
  const view = async (path: string) =>
    fs.tree.view!(await runAsync(findNode(fs.tree, path)));
  assert.deepEqual(await view("000001"), { kind: "datapoint" });
  assert.equal(await view(""), undefined);
  for (const [column, expected] of Object.entries(samples[1]!)) {
    const file = `000001/${fileOf(column, expected.encoding)}`;
    const value = await view(file);
    assert.ok(value?.kind === "value");
    assert.deepEqual([value.key, value.type.name], [
      column,
      expected.encoding,
    ]);
    const bytes = (await fs.read(file)).slice();
    const decoded = await decodeValue(bytes, value.type);
    assertValue(decoded as never, expected);
  }
});

Deno.test("lists are directories of values to viewers", async () => {
  const { path, content: { samples } } = mdsCase("lists");
  using fs = await open(path);
  const view = async (path: string) => {
    const value = fs.tree.view!(await runAsync(findNode(fs.tree, path)));
    assert.ok(value?.kind === "value");
    return value;
  };
  for (const [column, expected] of Object.entries(samples[2]!)) {
    const { value } = expected;
    if (typeof value !== "object" || value === null || !("list" in value)) {
      continue;
    }
    const { key, type, isList } = await view(`000002/${column}`);
    assert.deepEqual([key, type.name, isList], [
      column,
      expected.encoding,
      true,
    ]);
    for (const [i, element] of value.list.entries()) {
      const file = `000002/${column}/00000${i}${SUFFIXES[element.encoding]}`;
      const one = await view(file);
      assert.deepEqual(
        [one.key, one.type.name, one.isList, one.type.kind],
        [undefined, element.encoding, false, type.kind],
      );
      const bytes = (await fs.read(file)).slice();
      if (type.kind === "image") assert.equal(sha256(bytes), element.sha256);
      assertValue(await decodeValue(bytes, one.type) as never, element);
    }
  }
});
