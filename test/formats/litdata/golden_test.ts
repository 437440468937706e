/** Datasets that LitData wrote, and what it reads of them: values, files, checks, servers. */
import assert from "node:assert/strict";
import { type NdArray, readNpy } from "../../../src/codecs/numpy/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { check, open } from "../../../src/open/open.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { goldenSet, sha256 } from "../../support/golden.ts";
import { serving } from "../../support/remote/serving.ts";
import * as fs from "node:fs";

/** A value as LitData reads it; of files and bytes their hash. */
type Expected =
  | { readonly text: string }
  | { readonly number: string }
  | { readonly boolean: boolean }
  | { readonly sha256: string }
  | { readonly json: unknown }
  | {
    readonly dtype: string;
    readonly shape: readonly number[];
    readonly values: readonly string[];
  };

interface Case {
  readonly name: string;
  readonly path: string;
  readonly content: {
    readonly formats: readonly string[];
    readonly samples: readonly Readonly<Record<string, Expected>>[];
  };
}

const { all: goldens, one: golden } = goldenSet<Case>("litdata");
const onWarning = (message: string) => assert.fail(message);

/** Suffixes of files by the serializers of their values. */
const SUFFIXES: Readonly<Record<string, string>> = {
  str: ".txt",
  bool: ".json",
  int: ".json",
  float: ".json",
  bytes: "",
  jpeg: ".jpg",
  pickle: ".pkl",
};

/** What `str` of Python says of a number, as a number. */
function numberOf(text: string): number | bigint {
  const number = Number(text.replace("inf", "Infinity").replace("nan", "NaN"));
  const isWhole = /^-?\d+$/.test(text);
  return isWhole && !Number.isSafeInteger(number) ? BigInt(text) : number;
}

function assertArray(
  array: NdArray,
  { dtype, shape, values }: Extract<Expected, { dtype: string }>,
): void {
  assert.deepEqual([array.dtype, array.shape], [dtype, shape]);
  const data = array.data as Iterable<number | bigint>;
  assert.deepEqual(Array.from(data, Number), values.map(Number));
}

function assertValue(value: unknown, expected: Expected): void {
  if ("text" in expected) assert.equal(value, expected.text);
  else if ("boolean" in expected) assert.equal(value, expected.boolean);
  else if ("number" in expected) {
    assert.deepEqual(value, numberOf(expected.number));
  } else if ("json" in expected) {
    assert.deepEqual([...value as Set<unknown>], expected.json);
  } else if ("dtype" in expected) assertArray(value as NdArray, expected);
}

for (const { name, path, content: { samples, formats } } of goldens()) {
  Deno.test(`${name}: values are those that LitData reads`, async () => {
    using reader = await openSamples(path, { onWarning });
    assert.equal(reader.length, samples.length);
    const all = await reader.get(samples.keys());
    const stored = await reader.read(samples.keys());
    for (const [i, sample] of samples.entries()) {
      assert.deepEqual(Object.keys(all[i]!).sort(), Object.keys(sample).sort());
      for (const [field, expected] of Object.entries(sample)) {
        assertValue(all[i]![field], expected);
        if (!("sha256" in expected)) continue;
        assert.equal(sha256(stored[i]![field] as Uint8Array), expected.sha256);
      }
    }
    using dataset = await openDataset(path, { onWarning });
    assert.deepEqual(
      await dataset.get([samples.length - 1]),
      [all[samples.length - 1]],
    );
  });

  Deno.test(`${name}: files are the values`, async () => {
    using container = await open(path, { onWarning });
    for (const [i, sample] of samples.entries()) {
      const directory = `${i}`.padStart(6, "0");
      const files = await container.list(directory);
      // As the configuration orders them, in which `expect.json` does not.
      assert.equal(files.length, formats.length);
      for (const [field, expected] of Object.entries(sample)) {
        const found = files.filter((file) =>
          file === field || /^\.[a-z]+$/.test(file.slice(field.length)) &&
            file.startsWith(field)
        );
        assert.equal(found.length, 1, field);
        const [file] = found as [string];
        const format = formats[files.indexOf(file)]!.split(":")[0]!;
        assert.equal(file, field + (SUFFIXES[format] ?? ".npy"));
        const bytes = await container.read(`${directory}/${file}`);
        assert.equal(
          (await container.stat(`${directory}/${file}`)).size,
          bytes.length,
        );
        const text = () => new TextDecoder().decode(bytes);
        if ("text" in expected) assert.equal(text(), expected.text);
        else if ("boolean" in expected) {
          assert.equal(text(), `${expected.boolean}\n`);
        } else if ("dtype" in expected) assertArray(readNpy(bytes), expected);
        else if ("number" in expected) {
          const number = numberOf(expected.number);
          const said = text().trim();
          if (typeof number === "bigint") assert.equal(said, `${number}`);
          else assert.deepEqual(Number(said), number);
        } else if ("sha256" in expected) {
          assert.equal(sha256(bytes), expected.sha256);
        }
      }
    }
    const report = await check(path, { onDamage: assert.fail });
    assert.deepEqual([report.samples, report.damaged, report.compares], [
      samples.length,
      0,
      "structure",
    ]);
  });
}

Deno.test("a decompressed chunk next to a compressed one is read instead", () =>
  serving(async ({ dir, server, remote }) => {
    fs.cpSync(golden("zstd").path, `${dir}/d`, { recursive: true });
    using before = await openSamples(`${server.url}/d/index.json`, { remote });
    const expected = await before.get([0, 1, 2]);
    assert.equal(before.container!.info.facts!["compressed"], 2);
    for (const chunk of ["chunk-0-0", "chunk-0-1"]) {
      const { zstdDecompressSync } = await import("node:zlib");
      const bytes = fs.readFileSync(`${dir}/d/${chunk}.zstd.bin`);
      fs.writeFileSync(`${dir}/d/${chunk}.bin`, zstdDecompressSync(bytes));
      fs.rmSync(`${dir}/d/${chunk}.zstd.bin`);
    }
    using after = await openSamples(`${dir}/d`);
    assert.equal(after.container!.info.facts!["compressed"], undefined);
    assert.deepEqual(await after.get([0, 1, 2]), expected);
  }));
