import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { withTempDir } from "../../support/paths.ts";
import { fileOf } from "../../support/tfrecord/make_tfrecord.ts";

async function damagesOf(location: Parameters<typeof checked>[0]) {
  const found = await checked(location, { format: "tfrecord" });
  assert.equal(found.done.at(-1), found.bytes);
  assert.deepEqual([...found.totals], [found.bytes]);
  return found;
}

const RECORDS = Array.from({ length: 40 }, (_, i) => "r".repeat(100 * i));
const WHOLE = fileOf(RECORDS);

/** Returns the offset of a record's data. */
function startOf(record: number): number {
  return 12 +
    RECORDS.slice(0, record).reduce((at, one) => at + one.length + 16, 0);
}

Deno.test("each record is verified by its checksum", async () => {
  const bytes = Buffer.from(WHOLE);
  for (const record of [1, 7, 39]) bytes[startOf(record)]! ^= 1;
  bytes[startOf(0)]! ^= 1; // the checksum of a record without data
  const { damages, samples } = await damagesOf({ "t.tfrecord": bytes });
  assert.deepEqual(
    damages.map(({ code, sample }) => [code, sample]),
    [0, 1, 7, 39].map((record) => ["sample-checksum", record]),
  );
  assert.equal(samples, 40);
});

Deno.test("after a wrong length nothing is found, and the preceding records are checked", async () => {
  const bytes = Buffer.from(WHOLE);
  bytes[startOf(3)]! ^= 1;
  bytes[startOf(20) - 12]! ^= 1;
  const { damages, samples } = await damagesOf({ "t.tfrecord": bytes });
  assert.deepEqual(
    damages.map(({ code, sample }) => [code, sample]),
    [["sample-checksum", 3], ["metadata-checksum", 20]],
  );
  assert.equal(samples, 20);
  assert.match(damages[1]!.message, /no record after it is found/);
});

Deno.test("a truncated file is named, with what is missing", async () => {
  const { damages, samples } = await damagesOf({
    "t.tfrecord": WHOLE.subarray(0, WHOLE.length - 10),
  });
  assert.deepEqual(
    damages.map(({ code, sample, member }) => [code, sample, member]),
    [["truncated-data", 39, "000039"]],
  );
  assert.equal(samples, 39);
});

Deno.test("a file without a whole record is named as well", async () => {
  const { damages, samples } = await damagesOf({
    "t.tfrecord": WHOLE.subarray(0, 13),
  });
  assert.deepEqual(damages.map(({ code }) => code), ["truncated-data"]);
  assert.equal(samples, 0);
});

Deno.test("records longer than the buffer are checked as one", () =>
  withTempDir(async (dir) => {
    const large = Buffer.alloc(70 << 20, 7);
    const whole = fileOf([large, "small", large]);
    const path = `${dir}/t.tfrecord`;
    fs.writeFileSync(path, whole);
    const sound = await damagesOf(path);
    assert.deepEqual([sound.damages, sound.samples], [[], 3]);
    whole[12 + (65 << 20)]! ^= 1;
    fs.writeFileSync(path, whole);
    const { damages } = await damagesOf(path);
    assert.deepEqual(
      damages.map(({ code, sample }) => [code, sample]),
      [["sample-checksum", 0]],
    );
  }));
