/** Records as samples: decoded, or as bytes. */
import assert from "node:assert/strict";
import { TFRecordDataset } from "../../../../src/open/data/mod.ts";
import { formatNamed, loadFormat } from "../../../../src/formats/registry.ts";
import { open } from "../../../../src/open/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  tfrecordCase,
  valueOf,
} from "../../../support/tfrecord/tfrecord_golden.ts";

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

Deno.test("the format's dataset is one of bytes where the records are no examples", async () => {
  const { openDataset } = await loadFormat(formatNamed("tfrecord"));
  const { path } = tfrecordCase("records");
  using records = await open(path);
  using bytes = await openDataset!(path, records.info, {});
  const [one] = await bytes!.get([1]);
  assert.deepEqual(one, new TextEncoder().encode("one"));
});
