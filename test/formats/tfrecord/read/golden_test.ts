/** Files of an independent writer: records, examples, files, and the tree in other threads. */
import assert from "node:assert/strict";
import { openSamples } from "../../../../mod.ts";
import { readNpy } from "../../../../src/codecs/numpy/mod.ts";
import { runAsync } from "../../../../src/io/concurrency/steps.ts";
import { newExtent, reopenHandle } from "../../../../src/tree/tree.ts";
import { whenLoaded } from "../../../../src/tree/not_loaded.ts";
import { open } from "../../../../src/open/open.ts";
import { type VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { findNode } from "../../../../src/tree/vfs/paths.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  type ExpectedFeature,
  tfrecordCase,
  tfrecordCases,
  valueOf,
} from "../../../support/tfrecord/tfrecord_golden.ts";

const onWarning = (message: string) => assert.fail(message);

for (const golden of tfrecordCases()) {
  Deno.test(`records and examples equal those written: ${golden.name}`, async () => {
    using samples = await openSamples(golden.path, { onWarning });
    const { records, examples } = golden.content;
    assert.equal(samples.length, records.length);
    const all = await samples.read(records.keys());
    assert.deepEqual(
      all.map(({ content }) => sha256(content as Uint8Array)),
      records.map(({ sha256 }) => sha256),
    );
    const decoded = await samples.get(records.keys());
    if (examples === undefined) return assert.deepEqual(decoded, all);
    assert.deepEqual(
      decoded.map((sample) => ({ ...sample })),
      examples.map(({ features, lists }) => ({
        ...mapped(features, valueOf),
        ...mapped(lists, (steps) => steps.map(valueOf)),
      })),
    );
  });

  Deno.test(`records are files, without damage: ${golden.name}`, async () => {
    using fs = await open(golden.path, { onWarning, ext: "bin" });
    const files: string[] = [];
    for await (const entry of fs.walk("")) {
      if (entry.isFile) files.push(entry.path);
    }
    const { records } = golden.content;
    assert.equal(files.length, records.length);
    assert.equal(fs.info.files, records.length);
    for (const [i, path] of files.entries()) {
      assert.match(path, /^(train-\d{5}-of-00003\/)?\d{6}\.bin$/);
      assert.equal(sha256(await fs.read(path)), records[i]!.sha256);
    }
  });
}

function mapped<A, B>(of: Readonly<Record<string, A>>, map: (value: A) => B) {
  return Object.fromEntries(
    Object.entries(of).map(([key, value]) => [key, map(value)]),
  );
}

/** Asserts that the features of an example are shown as documented. */
async function assertFeature(
  fs: VirtualFs,
  path: string,
  feature: ExpectedFeature,
): Promise<void> {
  const value = valueOf(feature);
  if (!Array.isArray(value)) {
    const json = new TextDecoder().decode(await fs.read(`${path}.json`));
    const numbers = value instanceof Float32Array
      ? JSON.parse(json)
      : json.match(/-?\d+/g)!.map(BigInt);
    assert.deepEqual(numbers, [...value]);
    const npy = readNpy(await fs.read(`${path}.npy`));
    assert.deepEqual([npy.data, npy.shape], [value, [value.length]]);
  } else if (value.length === 1) {
    assert.deepEqual(await fs.read(path), value[0]);
  } else {
    const names = (await Array.fromAsync(fs.walk(path))).map(({ name }) =>
      name
    );
    assert.deepEqual(
      names,
      value.map((_, i) => String(i).padStart(6, "0")),
    );
    for (const [i, name] of names.entries()) {
      assert.deepEqual(await fs.read(`${path}/${name}`), value[i]);
    }
  }
}

Deno.test("decoded examples are files named by their features", async () => {
  const golden = tfrecordCase("examples");
  const odd: Record<string, string> = {
    "..": "%2E%2E",
    "a//b": "a%2F%2Fb",
    "": "%",
  };
  using fs = await open(golden.path, { decoded: true, onWarning });
  for (const [i, { features }] of golden.content.examples!.entries()) {
    for (const [key, feature] of Object.entries(features)) {
      if (key === "clash") continue;
      const isBehind = i === 5 && key.startsWith("image/");
      const name = isBehind ? key.replaceAll("/", "%2F") : odd[key] ?? key;
      await assertFeature(fs, `00000${i}/${name}`, feature);
    }
    const mine = await fs.read(`00000${i}/clash.json`);
    assert.equal(new TextDecoder().decode(mine), "mine");
    assert.ok(await fs.exists(`00000${i}/clash.npy`));
  }
});

Deno.test("steps of sequence examples are numbered", async () => {
  const golden = tfrecordCase("sequences");
  using fs = await open(golden.path, { decoded: true, onWarning });
  for (const [i, { features, lists }] of golden.content.examples!.entries()) {
    for (const [key, feature] of Object.entries(features)) {
      await assertFeature(fs, `00000${i}/context/${key}`, feature);
    }
    for (const [key, steps] of Object.entries(lists)) {
      const list = `00000${i}/feature_lists/${key}`;
      assert.ok(await fs.exists(list));
      for (const [k, step] of steps.entries()) {
        await assertFeature(fs, `${list}/00000${k}`, step);
      }
    }
  }
});

Deno.test("views equal the records, and are verified", async () => {
  const { path, content: { records } } = tfrecordCase("records");
  using samples = await openSamples(path);
  const views = samples.unsafeViews(records.map((_, i) => i));
  assert.deepEqual(
    views.map((bytes) => sha256(bytes)),
    records.map(({ sha256 }) => sha256),
  );
  assert.throws(() => samples.unsafeViews([7]), { name: "IndexError" });
  const dir = await Deno.makeTempDir();
  try {
    const bytes = await Deno.readFile(path);
    bytes[records[3]!.offset]! ^= 1;
    await Deno.writeFile(`${dir}/t.tfrecord`, bytes);
    using damaged = await openSamples(`${dir}/t.tfrecord`);
    assert.throws(() => damaged.unsafeViews([1, 3]), {
      code: "sample-checksum",
      sample: 3,
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a feature's bytes are a slice of the file", async () => {
  const golden = tfrecordCase("examples");
  using fs = await open(golden.path, { decoded: true });
  const bytes = await Deno.readFile(golden.path);
  const extent = newExtent();
  const node = await runAsync(findNode(fs.tree, "000003/image/encoded"));
  assert.ok(await runAsync(whenLoaded(() => fs.tree.locate(node, extent))));
  const { features } = golden.content.examples![3]!;
  const [wanted] = valueOf(features["image/encoded"]!);
  const { offset, length, source } = extent;
  assert.equal(source, 0);
  assert.deepEqual(bytes.subarray(offset, offset + length), wanted);
  // Another thread opens the file itself.
  const again = await reopenHandle(structuredClone(fs.tree.share()));
  const there = newExtent();
  assert.ok(again.locate(node, there));
  assert.deepEqual(there, extent);
  again.close();
});

Deno.test("shards are directories, with one numbering for readers; a pattern names them too", async () => {
  const golden = tfrecordCase("shards");
  const { records } = golden.content;
  for (const pattern of ["?????-of-?????", "?????-of-00003", "*-of-*"]) {
    const location = `${golden.path}/train-${pattern}`;
    using samples = await openSamples(location);
    assert.equal(samples.length, records.length);
    assert.equal(samples.fileOf(3), `${golden.path}/train-00002-of-00003`);
    using fs = await open(location);
    assert.equal(fs.info.kind, "Examples in shards");
    assert.equal(
      sha256(await fs.read("train-00002-of-00003/000003")),
      records[6]!.sha256,
    );
  }
});
