/** Files written by Hugging Face's safetensors: samples, the tree, and reading of extracted files by the original. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { type NdArray, readNpy } from "../../../src/codecs/numpy/mod.ts";
import { check, open } from "../../../src/open/open.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import type { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { newStat, reopenHandle } from "../../../src/tree/tree.ts";
import { findNode } from "../../../src/tree/vfs/paths.ts";
import { goldenSet, sha256 } from "../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { succeed } from "../../cli/run_cli.ts";

/** Tensor as the original reads it; values as text, if NumPy has the type. */
interface ExpectedTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly sha256: string;
  readonly numpy?: string;
  readonly values?: readonly string[];
}

type Files = Case["content"]["files"];

interface Case {
  readonly name: string;
  readonly path: string;
  readonly content: {
    readonly index: boolean;
    readonly files: Readonly<
      Record<string, {
        readonly metadata: Readonly<Record<string, string>> | null;
        readonly tensors: readonly ExpectedTensor[];
      }>
    >;
  };
}

const { all: goldens, one: golden } = goldenSet<Case>("safetensors");
const onWarning = (message: string) => assert.fail(message);

/** Names of tensors whose files have other names. */
const ODD: Readonly<Record<string, string>> = {
  "empty/of": "empty%2Fof.npy",
  "layers.0/attn.k": "layers.0%2Fattn.k.npy",
  "..": "%2E%2E.npy",
  "a.npy": "a~2.npy",
  "a": "a.npy",
  "": "%.npy",
};

function tensorsOf({ content: { files } }: Case): ExpectedTensor[] {
  return Object.keys(files).sort().flatMap((name) => files[name]!.tensors);
}

/** Parses a number as printed by Python's `str`. */
function numberOf(text: string): number | bigint {
  if (text === "True" || text === "False") return text === "True" ? 1 : 0;
  if (/^-?\d{16,}$/.test(text)) return BigInt(text);
  return Number(text.replace("inf", "Infinity").replace("nan", "NaN"));
}

/** Asserts that an array equals the tensor that the original reads. */
function assertArray(array: NdArray, expected: ExpectedTensor): void {
  const { dtype, shape, numpy, values, sha256: sum } = expected;
  const data = array.data as Exclude<NdArray["data"], string[]>;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  assert.equal(sha256(bytes), sum);
  if (numpy === undefined) {
    const bits = { BF16: 16, F4: 4 }[dtype] ?? 8;
    assert.equal(array.dtype, `|V${Math.ceil(bits / 8)}`);
    assert.deepEqual(array.shape, bits < 8 ? [bytes.length] : shape);
    return;
  }
  assert.equal(array.dtype, numpy);
  assert.deepEqual(array.shape, shape);
  if (dtype === "C64") return; // Python prints complex numbers as two numbers
  const numbers = Array.from(
    data as Iterable<number | bigint>,
    (value) => /^-?\d{16,}$/.test(`${value}`) ? value : Number(value),
  );
  assert.deepEqual(numbers, values!.map(numberOf));
}

async function filesOf(container: VirtualFs): Promise<string[]> {
  const files: string[] = [];
  for await (const { path, isFile } of container.walk()) {
    if (isFile) files.push(path);
  }
  return files;
}

for (const one of goldens()) {
  const { name, path, content } = one;
  const expected = tensorsOf(one);

  Deno.test(`${name}: samples are the tensors, in the order of their data`, async () => {
    using samples = await openSamples(path, { onWarning });
    assert.equal(samples.length, expected.length);
    const all = await samples.get(expected.keys());
    const stored = await samples.read(expected.keys());
    const single = await samples.get(expected.keys(), { fields: ["name"] });
    for (const [i, tensor] of expected.entries()) {
      const sample = all[i] as { name: string; value: NdArray };
      assert.equal(sample.name, tensor.name);
      assertArray(sample.value, tensor);
      const { value } = stored[i] as { value: Uint8Array };
      assert.equal(sha256(value), tensor.sha256);
      assert.deepEqual(single[i], { name: tensor.name });
    }
  });

  Deno.test(`${name}: the tree has a file for each tensor, and one of texts`, async () => {
    using container = await open(path, { onWarning });
    const { files } = content;
    const areApart = !content.index && Object.keys(files).length > 1;
    const seen = new Set<string>();
    for (const [file, { metadata, tensors }] of Object.entries(files)) {
      const before = areApart ? `${file.replace(".safetensors", "")}/` : "";
      if (metadata !== null) {
        const place = `${before}__metadata__.json`;
        seen.add(place);
        const json = new TextDecoder().decode(await container.read(place));
        assert.deepEqual(JSON.parse(json), metadata);
      }
      for (const tensor of tensors) {
        const { name, dtype, shape, numpy, sha256: sum } = tensor;
        const long = name.length > 255
          ? `${name.slice(0, 223)}~`
          : `${before}${name}.`;
        const odd = ODD[name];
        const ofTensor = (await filesOf(container)).filter((path) =>
          odd === undefined ? path.startsWith(long) : path === odd
        );
        for (const path of ofTensor) seen.add(path);
        const bytes = await container.read(ofTensor[0]!);
        if (numpy !== undefined) {
          assert.equal(ofTensor.length, 1, name);
          assertArray(readNpy(bytes), tensor);
          continue;
        }
        assert.deepEqual(
          ofTensor,
          [`${before}${name}.bin`, `${before}${name}.json`],
        );
        assert.equal(sha256(bytes), sum);
        const json = new TextDecoder().decode(
          await container.read(ofTensor[1]!),
        );
        assert.deepEqual(JSON.parse(json), { dtype, shape });
      }
    }
    assert.deepEqual((await filesOf(container)).sort(), [...seen].sort());
    assert.equal(container.info.facts!["tensors"], expected.length);
    const report = await check(path, { onDamage: assert.fail });
    assert.deepEqual(
      [report.samples, report.damaged, report.compares],
      [expected.length, 0, "structure"],
    );
  });
}

Deno.test("the sample view has a directory of a name and an array for each tensor", async () => {
  for (const one of goldens()) {
    const { path, content: { index, files } } = one;
    const names = Object.keys(files).sort();
    using container = await open(path, { sampleView: true, onWarning });
    const again = await reopenHandle(container.tree.share());
    const areApart = !index && names.length > 1;
    const groups = areApart
      ? names.map((name) => [name.replace(".safetensors", "/"), files[name]!])
      : [["", { tensors: tensorsOf(one) }]];
    for (const [before, { tensors }] of groups as [string, Files[string]][]) {
      for (const [i, tensor] of tensors.entries()) {
        const directory = `${before}${`${i}`.padStart(6, "0")}`;
        assert.deepEqual(await container.list(directory), [
          "name.txt",
          "value.npy",
        ]);
        const name = await container.read(`${directory}/name.txt`);
        assert.equal(new TextDecoder().decode(name), tensor.name);
        const file = await container.stat(`${directory}/value.npy`);
        const bytes = await container.read(`${directory}/value.npy`);
        assertArray(readNpy(bytes), tensor);
        assert.equal(file.size, bytes.length);
        const node = await runAsync(
          findNode(container.tree, `${directory}/value.npy`),
        );
        const stat = newStat();
        assert.ok(again.stat(node, stat));
        assert.equal(stat.size, bytes.length);
        assert.equal(container.tree.view!(node)!.kind, "value");
      }
    }
    again.close();
  }
});

Deno.test("a range of a file equals that of the whole, also across its generated header", async () => {
  using container = await open(golden("types").path);
  const file = "f8.weight.npy";
  const whole = await container.read(file);
  for (let start = 0; start < whole.length; start += 7) {
    for (const length of [1, 5, 64, 200]) {
      assert.deepEqual(
        await container.readRange(file, start, length),
        whole.slice(start, start + length),
      );
    }
  }
});

Deno.test({
  name: "Python's NumPy and safetensors read the same from extracted files",
  ...needs("python3", "numpy", "safetensors"),
  fn: () =>
    withTempDir(async (dir) => {
      const { path } = golden("types");
      await succeed(["extract", path, `${dir}/out`]);
      const { code, stderr } = await new Deno.Command(PYTHON, {
        args: [
          `${REPOSITORY}test/formats/safetensors/python/compare.py`,
          path,
          `${dir}/out`,
        ],
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const names = fs.readdirSync(`${dir}/out`);
      assert.equal(names.length, tensorsOf(golden("types")).length + 1);
    }),
});

Deno.test("a dataset of tensors that cannot be stacked is rejected, and the error names two of them", async () => {
  const { path } = golden("raw");
  await assert.rejects(openDataset(path), {
    code: "unsupported",
    message:
      /raw\.safetensors as a dataset: batches of its tensors cannot be stacked: 'raw\.float32' is F32 of shape \(2\) and 'raw\.bfloat16' is BF16 of shape \(2, 3\)\. Give 'process'/,
  });
  using names = await openDataset(path, { fields: ["name"] });
  assert.deepEqual((await names.get([1]))[0], { name: "raw.bfloat16" });
  using stored = await openDataset(path, { decode: false });
  assert.equal(stored.length, 6);
  using alike = await openDataset(golden("sharded").path);
  assert.deepEqual(alike.shardLengths, [3, 2]);
});
