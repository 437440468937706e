/** Indexes of streams with very many batches: kept, and made anew where they do not fit. */
import { int32 } from "@uwdata/flechette";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import type { TableRow } from "../../../src/tree/rows/row_samples.ts";
import { arrowBytes } from "../../support/arrow/make_arrow.ts";
import { withTempDir } from "../../support/paths.ts";

/** Batches from which on the index of a local file is kept. */
const MANY = 1 << 15;
const ROWS = 3;
const END = 8;

/** A stream of very many batches, each with the numbers 7, 8 and 9; and where its first batch begins. */
function largeStream(): { bytes: Uint8Array; start: number } {
  const stream = arrowBytes({ n: [int32(), [7, 8, 9]] }, "stream");
  const view = new DataView(stream.buffer, stream.byteOffset);
  const start = 8 + view.getUint32(4, true);
  const batch = stream.subarray(start, -END);
  const bytes = new Uint8Array(start + MANY * batch.length + END);
  bytes.set(stream.subarray(0, start));
  for (let i = 0; i < MANY; i++) bytes.set(batch, start + i * batch.length);
  bytes.set(stream.subarray(-END), bytes.length - END);
  return { bytes, start };
}

Deno.test("the index of a stream of many batches is kept, and made anew if it is damaged", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/x.arrows`;
    const { bytes, start } = largeStream();
    fs.writeFileSync(path, bytes);
    fs.utimesSync(path, 1_700_000_000, 1_700_000_000);
    const remote = { cache: { directory: `${dir}/cache` } };
    const read = async () => {
      using samples = await openSamples<TableRow, TableRow>(path, { remote });
      assert.equal(samples.length, ROWS * MANY);
      const rows = await samples.read([ROWS * MANY - 1, 5]);
      assert.deepEqual(rows.map((row) => row["n"]), [9, 9]);
    };
    await read();
    const kept = fs.readdirSync(`${dir}/cache/indexes`);
    assert.equal(kept.length, 1);
    // Without the index, nothing behind this batch is found.
    const ruined = bytes.slice().fill(0x7a, start, start + 4);
    fs.writeFileSync(path, ruined);
    fs.utimesSync(path, 1_700_000_000, 1_700_000_000);
    await read();
    const file = `${dir}/cache/indexes/${kept[0]}`;
    const index = fs.readFileSync(file);
    index[index.length >> 1]! ^= 1;
    fs.writeFileSync(file, index);
    await assert.rejects(read);
    fs.writeFileSync(path, bytes);
    fs.utimesSync(path, 1_700_000_000, 1_700_000_000);
    await read();
  }));
