/** Datasets that LitData wrote, and comparisons with the values that it reads from them. */
import assert from "node:assert/strict";
import { type NdArray, readNpy } from "../../../src/codecs/numpy/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { check, open } from "../../../src/open/open.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { sha256 } from "../golden.ts";

/** A value as LitData reads it; files and bytes by their hash. */
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

/** `expect.json` of one case. */
export interface LitDataCase {
  readonly name: string;
  readonly path: string;
  readonly content: {
    readonly formats: readonly string[];
    readonly samples: readonly Readonly<Record<string, Expected>>[];
  };
}

const onWarning = (message: string) => assert.fail(message);

/** Suffix of files, by the serializer of their values. */
const SUFFIXES: Readonly<Record<string, string>> = {
  str: ".txt",
  bool: ".json",
  int: ".json",
  float: ".json",
  bytes: "",
  jpeg: ".jpg",
  pickle: ".pkl",
};

/** Parses a number that Python's `str` wrote. */
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

/** Compares the values of all samples with those that LitData reads. */
export async function compareValues(
  { path, content: { samples } }: LitDataCase,
): Promise<void> {
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
}

/** Compares the files of all samples with the values that LitData reads, and checks the dataset. */
export async function compareFiles(
  { path, content: { samples, formats } }: LitDataCase,
): Promise<void> {
  using container = await open(path, { onWarning });
  for (const [i, sample] of samples.entries()) {
    const directory = `${i}`.padStart(6, "0");
    const files = await container.list(directory);
    // `files` has the order of the configuration, and `expect.json` does not.
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
}
