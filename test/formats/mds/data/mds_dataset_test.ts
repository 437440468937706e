/** Samples of columns: decoded, as bytes, in batches, by ranks, and again where it stopped. */
import assert from "node:assert/strict";
import { MDSDataset, type MDSSample } from "../../../../src/open/data/mod.ts";
import { countSamples } from "../../../../src/open/data/counted_samples.ts";
import { readLabels } from "../../../../src/open/data/read_labels.ts";
import { formatNamed, loadFormat } from "../../../../src/formats/registry.ts";
import { open } from "../../../../src/open/mod.ts";
import { assertPortable } from "../../../data/support/in_thread.ts";
import { sha256 } from "../../../support/golden.ts";
import { assertValue, mdsCase } from "../../../support/mds/mds_golden.ts";

const PLAIN = mdsCase("plain");
const LABELS = [0, 1, 2, 3, 4, 5, 6];

Deno.test("samples are values, or their bytes", async () => {
  for (const name of ["plain", "zstd", "every"]) {
    const { path, content: { samples } } = mdsCase(name);
    using dataset = await MDSDataset.open(path);
    const order = [2, 0, 1, 1];
    const decoded = await dataset.get(order);
    using raw = await MDSDataset.open(path, { decode: false });
    const bytes = await raw.get(order);
    for (const [at, i] of order.entries()) {
      for (const [column, value] of Object.entries(samples[i]!)) {
        assertValue(decoded[at]![column], value);
        assert.equal(sha256(bytes[at]![column]!), value.sha256);
      }
    }
  }
});

Deno.test("what 'process' makes of samples are samples, of the columns that are wanted", async () => {
  using dataset = await MDSDataset.open(PLAIN.path, {
    columns: ["label"],
    process: (samples) => samples.map((sample) => Object.entries(sample)),
  });
  assert.deepEqual(await dataset.get([6, 0]), [[["label", 6]], [["label", 0]]]);
});

function labelsOf(batch: unknown): number[] {
  return (batch as MDSSample[]).map((sample) => Number(sample["label"]));
}

Deno.test("the format's dataset is one of samples; labels are columns", async () => {
  const { openDataset } = await loadFormat(formatNamed("mds"));
  using container = await open(PLAIN.path);
  assert.deepEqual(countSamples(container.info), {
    unit: "samples",
    length: 7,
  });
  using dataset = await openDataset!(PLAIN.path, container.info, {});
  assert.deepEqual(labelsOf(await dataset!.get([4])), [4]);
  const labels = await readLabels(container, "label");
  assert.deepEqual(
    LABELS.map((_, i) => labels.names[labels.at(i)]),
    LABELS.map(String),
  );
  const names = await readLabels(container, "name");
  assert.equal(names.names[names.at(3)], "näme 3");
  for (
    const [column, message] of [
      [
        "none",
        /by 'none': Sample 0 of .* has no column 'none'; it has image, /,
      ],
      ["raw", /Sample 0 has no label 'raw' that is a text or a number/],
    ] as const
  ) {
    const labels = readLabels(container, column);
    await assert.rejects(labels, { code: "no-label", message });
  }
});

Deno.test("another thread makes the same dataset, of the columns that are wanted", async () => {
  for (const name of ["plain", "zstd"]) {
    using dataset = await MDSDataset.open(mdsCase(name).path, {
      columns: ["label"],
    });
    assert.deepEqual(Object.keys((await dataset.get([1]))[0]!), ["label"]);
    await assertPortable(dataset, [2, 0, 1]);
  }
});
