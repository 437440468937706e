/** Records as samples: decoded, as bytes, in batches, by ranks, and again where it stopped. */
import assert from "node:assert/strict";
import { TFRecordDataset } from "../../../../src/open/data/mod.ts";
import { countSamples } from "../../../../src/open/data/counted_samples.ts";
import { readLabels } from "../../../../src/open/data/read_labels.ts";
import { formatNamed, loadFormat } from "../../../../src/formats/registry.ts";
import { open } from "../../../../src/open/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  tfrecordCase,
  valueOf,
} from "../../../support/tfrecord/tfrecord_golden.ts";

const SHARDS = tfrecordCase("shards");
const LABELS = [0, 1, 2, 20, 21, 22, 23];

Deno.test("samples are examples, or the bytes of records", async () => {
  const { path, content: { examples, records } } = tfrecordCase("examples");
  using dataset = await TFRecordDataset.open(path);
  const order = [7, 0, 3, 3];
  const samples = await dataset.get(order);
  for (const [at, i] of order.entries()) {
    for (const [key, feature] of Object.entries(examples![i]!.features)) {
      assert.deepEqual(samples[at]!.features[key], valueOf(feature));
    }
  }
  using raw = await TFRecordDataset.open(path, { decode: false });
  assert.deepEqual(
    (await raw.get(order)).map((bytes) => sha256(bytes)),
    order.map((i) => records[i]!.sha256),
  );
  assert.equal(dataset.fileOf(3), path);
});

Deno.test("what 'process' makes of examples are samples", async () => {
  using dataset = await TFRecordDataset.open(SHARDS.path, {
    process: (samples) =>
      samples.map(({ features }) => Number(features["label"]![0])),
  });
  assert.deepEqual(await dataset.get([6, 0]), [23, 0]);
});

function labelsOf(batch: unknown): number[] {
  const samples = batch as { features: Record<string, BigInt64Array> }[];
  return samples.map(({ features }) => Number(features["label"]![0]));
}

Deno.test("the format's dataset is one of examples where the records are such; labels are features", async () => {
  const { openDataset } = await loadFormat(formatNamed("tfrecord"));
  using examples = await open(SHARDS.path);
  assert.deepEqual(countSamples(examples.info), { unit: "samples", length: 7 });
  using dataset = await openDataset!(SHARDS.path, examples.info, {});
  assert.deepEqual(labelsOf(await dataset!.get([4])), [21]);
  const labels = await readLabels(examples, "label");
  assert.deepEqual(
    LABELS.map((_, i) => labels.names[labels.at(i)]),
    LABELS.map(String),
  );
  const texts = await readLabels(examples, "text");
  assert.equal(texts.length, 7);
  await assert.rejects(readLabels(examples, "none"), { code: "no-label" });
  const plain = tfrecordCase("records");
  using records = await open(plain.path);
  using bytes = await openDataset!(plain.path, records.info, {});
  const [one] = await bytes!.get([1]);
  assert.deepEqual(one, new TextEncoder().encode("one"));
});
