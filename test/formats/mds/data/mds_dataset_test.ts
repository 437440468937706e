/** Samples of columns, decoded or as bytes, and fields that are not labels. */
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import type {
  FieldBytes,
  FieldValues,
} from "../../../../src/tree/field_shards/field_samples.ts";
import assert from "node:assert/strict";
import { readLabels } from "../../../../src/open/data/read_labels.ts";
import { open } from "../../../../src/open/open.ts";
import { assertPortable } from "../../../data/support/in_thread.ts";
import { sha256 } from "../../../support/golden.ts";
import { assertValue, mdsCase } from "../../../support/mds/mds_golden.ts";

const PLAIN = mdsCase("plain");

Deno.test("samples are values, or their bytes", async () => {
  for (const name of ["plain", "zstd", "every"]) {
    const { path, content: { samples } } = mdsCase(name);
    using dataset = await openDataset<FieldValues>(path);
    const order = [2, 0, 1, 1];
    const decoded = await dataset.get(order);
    using raw = await openDataset<FieldBytes>(path, { decode: false });
    const bytes = await raw.get(order);
    for (const [at, i] of order.entries()) {
      for (const [column, value] of Object.entries(samples[i]!)) {
        assertValue(decoded[at]![column], value);
        assert.equal(sha256(bytes[at]![column]!), value.sha256);
      }
    }
  }
});

Deno.test("a field that is not a label is rejected with the reason", async () => {
  using container = await open(PLAIN.path);
  for (
    const [column, message] of [
      [
        "none",
        /by 'none': Cannot read column 'none' of sample 0 of .*: there is no such column, only image, /,
      ],
      [
        "raw",
        /read label 'raw' of sample 0 of .*: it has none that is a text or a number/,
      ],
    ] as const
  ) {
    const labels = readLabels(container, column);
    await assert.rejects(labels, { code: "no-label", message });
  }
});

Deno.test("another thread makes the same dataset, of the requested columns", async () => {
  for (const name of ["plain", "zstd"]) {
    using dataset = await openDataset(mdsCase(name).path, {
      fields: ["label"],
    });
    assert.deepEqual(Object.keys((await dataset.get([1]))[0]!), ["label"]);
    await assertPortable(dataset, [2, 0, 1]);
  }
});
