/** Header and samples beyond 4 GiB, in sparse files. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { NewFile } from "../../../../src/io/write/new_file.ts";
import { runSync } from "../../../../src/io/concurrency/steps.ts";
import { SampleOutput } from "../../../../src/formats/ffrecord/write/sample_output.ts";
import { TableOutput } from "../../../../src/formats/ffrecord/write/table_output.ts";
import { ffrHeader } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";

/** Larger than 32 bits, signed or unsigned, can represent, with the offset included. */
const LARGE = 3 * 2 ** 30 + 5;

Deno.test("offsets beyond 4 GiB, with and without knowing the number of samples", async () => {
  const count = 20_000;
  const lengths = Array.from({ length: count }, () => LARGE);
  const checksums = lengths.map((_, i) => (i * 0x9e3779b1) >>> 0);
  const expected = ffrHeader(lengths, checksums);
  await withTempDir((dir) => {
    for (const known of [count, undefined]) {
      const file = runSync(NewFile.create(`${dir}/a`));
      const table = new TableOutput(file.file, known);
      const start = known === undefined ? 0 : expected.length;
      checksums.forEach((crc, i) => {
        if (table.isFull) runSync(table.spill());
        table.add(crc, start + i * LARGE);
      });
      assert.equal(table.length, count);
      runSync(table.finish(expected.length - start));
      runSync(file.publish());
      table.close();
      assert.deepEqual(fs.readFileSync(`${dir}/a`), expected);
    }
    assert.deepEqual(fs.readdirSync(dir), ["a"]); // and no scratch file
  });
});

Deno.test("samples beyond 4 GiB are at their recorded offsets", async () => {
  await withTempDir((dir) => {
    const file = runSync(NewFile.create(`${dir}/a`));
    const samples = new SampleOutput(file.file, 2 ** 33 + 1);
    const large = new Uint8Array(1_500_000).fill(7);
    assert.equal(runSync(samples.append(Uint8Array.of(1, 2), 0)), 0xb6cc4292); // zlib.crc32
    runSync(samples.append(large, 0));
    assert.equal(samples.end, 2 ** 33 + 1 + 2 + large.length);
    runSync(samples.finish(0));
    runSync(file.publish());
    const fd = fs.openSync(`${dir}/a`, "r");
    const read = new Uint8Array(4);
    fs.readSync(fd, read, 0, 4, 2 ** 33);
    assert.deepEqual([...read], [0, 1, 2, 7]);
    assert.equal(fs.fstatSync(fd).size, 2 ** 33 + 3 + large.length);
    fs.closeSync(fd);
  });
});

Deno.test("withdrawn samples leave no trace", async () => {
  await withTempDir((dir) => {
    const file = runSync(NewFile.create(`${dir}/a`));
    const samples = new SampleOutput(file.file, 0);
    runSync(samples.append(Uint8Array.of(1), 0));
    for (const size of [10, 65_536, 65_537, 3_000_000]) {
      const end = samples.end;
      runSync(samples.append(new Uint8Array(size), 0));
      samples.takeBack(end);
      assert.equal(samples.end, end);
      runSync(samples.append(Uint8Array.of(2), 0));
    }
    runSync(samples.finish(3));
    runSync(file.publish());
    const bytes = fs.readFileSync(`${dir}/a`);
    assert.deepEqual([...bytes.subarray(3)], [1, 2, 2, 2, 2]);
  });
});
