/** Options of readers: unused options are absent from a format's types, as `deno check` verifies. */
import { openRows } from "../../support/parquet/open_rows.ts";
import { openMds } from "../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import { FFRecordReader } from "../../../src/formats/ffrecord/mod.ts";
import { SharedRoom } from "../../../src/io/read/read_memory.ts";
import { mdsCase } from "../../support/mds/mds_golden.ts";
import { parquetCase } from "../../support/parquet/parquet_golden.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import * as fs from "node:fs";

const RECORD = new TextEncoder().encode("record");

Deno.test("a reader of FFRecord accepts memory, and no fields", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([RECORD]));
    using samples = await FFRecordReader.open(`${dir}/a.ffr`);
    const memory = new SharedRoom();
    const [read] = await samples.read([0], { memory });
    assert.deepEqual(read!.slice(), RECORD);
    assert.ok(read!.buffer as ArrayBufferLike instanceof SharedArrayBuffer);
    // @ts-expect-error samples have no fields
    assert.deepEqual(await samples.read([], { fields: ["label"] }), []);
  }));

Deno.test("samples of Parquet accept fields", async () => {
  const { path } = parquetCase("pictures");
  using reader = await openRows(path);
  const [row] = await reader.read([0], { fields: ["label"] });
  assert.deepEqual(Object.keys(row!), ["label"]);
});

Deno.test("samples of MDS accept fields and memory", async () => {
  using reader = await openMds(mdsCase("plain").path);
  const memory = new SharedRoom();
  const [sample] = await reader.read([0], { fields: ["label"], memory });
  assert.deepEqual(Object.keys(sample!), ["label"]);
  const { buffer } = sample!["label"]!;
  assert.ok(buffer as ArrayBufferLike instanceof SharedArrayBuffer);
});
