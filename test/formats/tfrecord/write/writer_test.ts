/** What the writer writes, by an independent reader, and what is left of it when it fails. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/convert/mod.ts";
import {
  TFRecordReader,
  TFRecordWriter,
} from "../../../../src/formats/tfrecord/mod.ts";
import { open } from "../../../../src/vfs/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { fileOf } from "../../../support/tfrecord/make_tfrecord.ts";
import { tfrecordCase } from "../../../support/tfrecord/tfrecord_golden.ts";

const SIZES = [0, 1, 65_536, 65_537, 3_000_000, 0, 12];
const RECORDS = SIZES.map((size, i) =>
  Uint8Array.from({ length: size }, (_, k) => k * (i + 3))
);

async function* pieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 40_000) {
    yield await Promise.resolve(bytes.subarray(at, at + 40_000));
  }
}

Deno.test("records of any size are framed as the specification says, from memory and from streams", () =>
  withTempDir(async (dir) => {
    const expected = fileOf(RECORDS);
    const path = `${dir}/a.tfrecord`;
    {
      await using writer = await TFRecordWriter.open(path);
      for (const [i, record] of RECORDS.entries()) {
        assert.equal(await writer.write(record), i);
      }
      assert.deepEqual(fs.readdirSync(dir).includes("a.tfrecord"), false);
      await writer.close();
      assert.equal(writer.length, RECORDS.length);
    }
    assert.ok(expected.equals(fs.readFileSync(path)));
    {
      await using writer = await TFRecordWriter.open(path);
      const writes = RECORDS.map((record, i) =>
        writer.write(i % 2 ? pieces(record) : new Blob([record]))
      );
      await Promise.all(writes);
      await writer.close();
    }
    assert.ok(expected.equals(fs.readFileSync(path)));
    {
      using writer = TFRecordWriter.openSync(path, { sync: false });
      for (const record of RECORDS) writer.writeSync(record);
      writer.closeSync();
    }
    assert.ok(expected.equals(fs.readFileSync(path)));
    assert.deepEqual(fs.readdirSync(dir), ["a.tfrecord"]);
  }));

Deno.test("a write that fails leaves the records before it, and one that is given up nothing", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/a.tfrecord`;
    {
      await using writer = await TFRecordWriter.open(path);
      await writer.write(RECORDS[2]!);
      const failing = async function* () {
        yield RECORDS[4]!;
        await Promise.reject(new Error("lost"));
      };
      await assert.rejects(writer.write(failing()), /lost/);
      await writer.write(RECORDS[6]!);
      await writer.close();
    }
    const expected = fileOf([RECORDS[2]!, RECORDS[6]!]);
    assert.ok(expected.equals(fs.readFileSync(path)));
    {
      await using writer = await TFRecordWriter.open(path);
      await writer.write("never there" as never).catch(() => {});
      await writer.write(RECORDS[1]!);
    }
    assert.ok(expected.equals(fs.readFileSync(path)));
    assert.deepEqual(fs.readdirSync(dir), ["a.tfrecord"]);
  }));

Deno.test("records of other formats become records, and these files", () =>
  withTempDir(async (dir) => {
    const { path, content: { records } } = tfrecordCase("shards");
    const one = `${dir}/one.tfrecord`;
    const report = await convert(path, one);
    assert.equal(report.count, records.length);
    using reader = await TFRecordReader.open(one);
    const sums = (await reader.read(records.map((_, i) => i))).map(sha256Of);
    assert.deepEqual(sums, records.map(({ sha256 }) => sha256));
    await convert(one, `${dir}/back.ffr`);
    await convert(`${dir}/back.ffr`, `${dir}/again.tfrecord`);
    assert.ok(
      fs.readFileSync(one).equals(fs.readFileSync(`${dir}/again.tfrecord`)),
    );
    await convert(one, `${dir}/folder/`);
    using shown = await open(one);
    for (const name of await shown.list()) {
      assert.deepEqual(
        new Uint8Array(fs.readFileSync(`${dir}/folder/${name}`)),
        new Uint8Array(await shown.read(name)),
      );
    }
    await convert(
      `${REPOSITORY}test/recipes/just_a_folder`,
      `${dir}/f.tfrecord`,
      { lossy: true },
    );
    using folder = await TFRecordReader.open(`${dir}/f.tfrecord`);
    assert.ok(folder.length > 1);
  }));

function sha256Of(bytes: Uint8Array): string {
  return sha256(bytes);
}
