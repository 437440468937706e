/** Records as samples, decoded or as bytes. */
import assert from "node:assert/strict";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  tfrecordCase,
  valueOf,
} from "../../../support/tfrecord/tfrecord_golden.ts";

Deno.test("samples are examples, or the bytes of records", async () => {
  const { path, content: { examples, records } } = tfrecordCase("examples");
  using dataset = await openDataset(path);
  const order = [7, 0, 3, 3];
  const samples = await dataset.get(order);
  for (const [at, i] of order.entries()) {
    for (const [key, feature] of Object.entries(examples![i]!.features)) {
      assert.deepEqual(samples[at]![key], valueOf(feature));
    }
  }
  using raw = await openDataset(path, { decode: false });
  assert.deepEqual(
    (await raw.get(order)).map(({ content }) => sha256(content as Uint8Array)),
    order.map((i) => records[i]!.sha256),
  );
  assert.equal(dataset.fileOf(3), path);
});

Deno.test("the results of 'process' are samples", async () => {
  using dataset = await openDataset(tfrecordCase("shards").path, {
    process: (samples) =>
      samples.map(({ label }) => Number((label as BigInt64Array)[0])),
  });
  assert.deepEqual(await dataset.get([6, 0]), [23, 0]);
});
