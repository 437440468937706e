/** Output of the writer, read by an independent reader, and its state after failures. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../../../src/convert/conversion.ts";
import { TFRecordWriter } from "../../../../src/formats/tfrecord/mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { contentsOf } from "../../../support/contents.ts";
import { openSamples } from "../../../../mod.ts";
import { fileOf } from "../../../support/tfrecord/make_tfrecord.ts";

const SIZES = [0, 1, 65_536, 65_537, 3_000_000, 0, 12];
const RECORDS = SIZES.map((size, i) =>
  Uint8Array.from({ length: size }, (_, k) => k * (i + 3))
);

async function* pieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 40_000) {
    yield await Promise.resolve(bytes.subarray(at, at + 40_000));
  }
}

Deno.test("records of any size are framed by the specification, from memory and from streams", () =>
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

Deno.test("a failing write leaves the preceding records, and an aborted writer nothing", () =>
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

Deno.test("records are split into shards by number or bytes, whose names contain their count", () =>
  withTempDir(async (dir) => {
    await using writer = await TFRecordWriter.open(`${dir}/all.tfrecord`);
    for (const record of RECORDS) await writer.write(record);
    await writer.close();
    assert.equal(writer.size, fs.statSync(`${dir}/all.tfrecord`).size);
    const cases: [string, ConvertOptions, number[]][] = [
      ["by-length", { shardLength: 3 }, [3, 3, 1]],
      ["by-size", { shardSize: 65_536 }, [3, 1, 1, 2]],
      ["by.both", { shardSize: 100_000, shardLength: 4 }, [4, 1, 2]],
      ["one", { shardLength: 100 }, [7]],
    ];
    for (const [name, limits, counts] of cases) {
      const target = `${dir}/${name}`;
      const { count, plan } = await convert(`${dir}/all.tfrecord`, target, {
        ...limits,
        to: "tfrecord",
      });
      assert.equal(count, RECORDS.length);
      assert.equal(plan.to, "shards of TFRecord");
      assert.deepEqual(plan.lost, []);
      const start = name.includes(".") ? `${name}.tfrecord` : name;
      const of = `of-0000${counts.length}`;
      const names = counts.map((_, i) => `${start}-0000${i}-${of}`);
      assert.deepEqual(fs.readdirSync(target).sort(), names);
      let from = 0;
      for (const [i, count] of counts.entries()) {
        const expected = fileOf(RECORDS.slice(from, from += count));
        assert.ok(expected.equals(fs.readFileSync(`${target}/${names[i]}`)));
      }
      using reader = await openSamples(target);
      assert.equal(reader.length, RECORDS.length);
    }
  }));

Deno.test("shards of streams in any order, of nothing, and of an aborted writer", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/files`);
    const options: ConvertOptions = { to: "tfrecord", shardLength: 2 };
    await convert(`${dir}/files`, `${dir}/none`, { ...options, lossy: true });
    assert.deepEqual(fs.readdirSync(`${dir}/none`), ["none-00000-of-00001"]);
    assert.equal(fs.statSync(`${dir}/none/none-00000-of-00001`).size, 0);
    for (const name of ["a", "b", "c"]) {
      fs.writeFileSync(`${dir}/files/${name}`, name.repeat(3));
    }
    await assert.rejects(convert(`${dir}/files`, `${dir}/lost`, options), {
      code: "would-lose",
      losses: ["the names of files and directories"],
    });
    await convert(`${dir}/files`, `${dir}/three`, { ...options, lossy: true });
    using reader = await openSamples(`${dir}/three`);
    const records = await contentsOf(reader, [0, 1, 2]);
    assert.deepEqual(records.map(String), ["aaa", "bbb", "ccc"].map(textBytes));
    const before = fs.readdirSync(dir).sort();
    const abort = new AbortController();
    await assert.rejects(
      convert(`${dir}/files`, `${dir}/late`, {
        ...options,
        lossy: true,
        signal: abort.signal,
        onProgress: ({ done }) => void (done === 3 && abort.abort()),
      }),
      { name: "AbortError" },
    );
    assert.deepEqual(fs.readdirSync(dir).sort(), before);
  }));

function textBytes(text: string): string {
  return String(new TextEncoder().encode(text));
}
