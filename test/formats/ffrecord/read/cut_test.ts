/** Truncated files: samples that their tables locate and the file contains are read, and the others are named. */
import assert from "node:assert/strict";
import { checked } from "../../../support/checked.ts";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { DataLoader, FFRecordDataset } from "../../../../src/open/data/mod.ts";
import { FFRecordReader } from "../../../../src/formats/ffrecord/mod.ts";
import { countSamples } from "../../../../src/open/data/counted_samples.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { convert } from "../../../../src/open/convert/convert.ts";
import { open } from "../../../../src/open/open.ts";
import { withTempDir } from "../../../support/paths.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";

const TEXTS = ["first", "", "the third", "4"];
const FILE = ffrBytes(TEXTS.map((text) => Buffer.from(text)));
const HEADER = 12 + 12 * TEXTS.length;

/** Returns how many leading samples end within `length` bytes; the last one ends at the end of the file. */
function wholeIn(length: number): number {
  const ends = [5, 5, 14].filter((end) => HEADER + end <= length).length;
  return length === FILE.length ? ends + 1 : ends;
}

function text(bytes: Uint8Array): string {
  return String(Buffer.from(bytes));
}

Deno.test("of a file truncated anywhere after its tables, the samples before the truncation are read, and the others are named", async () => {
  for (let length = HEADER; length <= FILE.length; length++) {
    const whole = wholeIn(length);
    const storage = new MemoryStorage({ "a.ffr": FILE.slice(0, length) });
    const warnings: string[] = [];
    const options = {
      storage,
      format: "ffrecord-samples",
      onWarning: (line: string) => warnings.push(line),
    };
    if (whole === 0) {
      await assert.rejects(open("a.ffr", options), /a\.ffr: .*truncated/);
      continue;
    }
    using opened = await open("a.ffr", options);
    assert.equal((await opened.list("")).length, TEXTS.length);
    const cut = ["000000", "000001", "000002", "000003"].slice(whole);
    assert.deepEqual(
      warnings.map((line) =>
        /^Cannot read '(\d+)' of a\.ffr: .*truncated/.exec(line)?.[1]
      ),
      cut,
    );
    assert.equal(opened.info.facts?.["unreadable"] ?? 0, cut.length);
    for (const [i, expected] of TEXTS.entries()) {
      const path = `00000${i}`;
      if (i < whole) {
        assert.equal(text(await opened.read(path)), expected);
        continue;
      }
      const { size } = await opened.stat(path);
      assert.equal(size, i === TEXTS.length - 1 ? 0 : expected.length);
      await assert.rejects(opened.read(path), { member: path, sample: i });
    }
    using dataset = await FFRecordDataset.open("a.ffr", options);
    assert.equal(dataset.length, whole);
    assert.equal(countSamples(opened.info)?.length, whole);
    const read = await dataset.get(Array.from({ length: whole }, (_, i) => i));
    assert.deepEqual(read.map(text), TEXTS.slice(0, whole));
    await assert.rejects(dataset.get([whole]), { name: "IndexError" });
  }
});

Deno.test("of truncated files in sequence, datasets number the remaining samples", async () => {
  const storage = new MemoryStorage({
    "d/a.ffr": FILE.slice(0, HEADER + 5),
    "d/b.ffr": FILE.slice(0, HEADER),
    "d/c.ffr": FILE,
  });
  const warnings: string[] = [];
  const options = {
    storage,
    onWarning: (line: string) => warnings.push(line),
  };
  using dataset = await FFRecordDataset.open("d", options);
  const left = ["first", "", ...TEXTS];
  assert.equal(dataset.length, left.length);
  const read: string[] = [];
  for await (const batch of new DataLoader(dataset, { batchSize: 4 })) {
    read.push(...batch.map(text));
  }
  assert.deepEqual(read, left);
  assert.equal(dataset.fileOf(1), "d/a.ffr");
  assert.equal(dataset.fileOf(2), "d/c.ffr");
  assert.deepEqual(
    warnings.map((line) =>
      /^Cannot read (\d) samples? from (\d) on of (\S+):/.exec(line)?.slice(1)
    ),
    [["2", "2", "d/a.ffr"], ["4", "4", "d/b.ffr"]],
  );
  using reader = await FFRecordReader.open("d", options);
  assert.equal(reader.length, 3 * TEXTS.length);
  await assert.rejects(
    reader.read([2]),
    /Cannot read sample 2 of .*truncated/,
  );
  using opened = await open("d", { ...options, format: "ffrecord-samples" });
  assert.deepEqual(opened.info.parts.map(({ samples }) => samples), [2, 0, 4]);
  assert.deepEqual(opened.info.facts, { unreadable: 6 });
});

const FOLDER = packedSamples({ a: Buffer.from("1"), b: Buffer.from("22") });
const PACKED = ffrBytes(FOLDER);

Deno.test("a packed folder truncated before or in its list is rejected as truncated", async () => {
  const list = PACKED.length - FOLDER.at(-1)!.length;
  for (let length = 12; length < PACKED.length; length++) {
    const storage = new MemoryStorage({ "a.ffr": PACKED.slice(0, length) });
    for (const format of [undefined, "ffrecord-packed"]) {
      await assert.rejects(
        open("a.ffr", { storage, format, onWarning() {} }),
        /truncated/,
      );
    }
    if (length < list) continue;
    using opened = await open("a.ffr", {
      storage,
      format: "ffrecord-samples",
      onWarning() {},
    });
    assert.equal(text(await opened.read("000001")), "22");
  }
});

Deno.test("of a folder in several files, a missing part of one is named by its path", async () => {
  const [a, b, structure] = packedSamples({
    d: { a: Buffer.from("1") },
    e: Buffer.from("22"),
  });
  const first = ffrBytes([a!]);
  const storage = new MemoryStorage({
    "d/0.ffr": first.slice(0, -1),
    "d/1.ffr": ffrBytes([b!, structure!]),
  });
  const warnings: string[] = [];
  using opened = await open("d", {
    storage,
    onWarning: (w) => warnings.push(w),
  });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^Cannot read 'd\/a' of d\/0\.ffr: .*truncated/);
  assert.equal(text(await opened.read("e")), "22");
  await assert.rejects(opened.read("d/a"), { member: "d/a" });
});

Deno.test("check names each sample after the truncation", async () => {
  const storage = new MemoryStorage({ "a.ffr": FILE.slice(0, HEADER + 5) });
  const { damages } = await checked("a.ffr", {
    storage,
    format: "ffrecord-samples",
  });
  assert.deepEqual(damages.map(({ sample }) => sample), [2, 3]);
  for (const { message } of damages) assert.match(message, /truncated/);
});

Deno.test("a conversion to records with 'lossy' skips a truncated last sample, too", () =>
  withTempDir(async (dir) => {
    const bytes = ffrBytes(["one", "two!"].map((text) => Buffer.from(text)));
    fs.writeFileSync(`${dir}/a.ffr`, bytes.subarray(0, -1));
    const to = `${dir}/a.tfrecord`;
    await assert.rejects(convert(`${dir}/a.ffr`, to), { code: "would-lose" });
    const options = { lossy: true, onWarning() {} };
    const { count, leftOut } = await convert(`${dir}/a.ffr`, to, options);
    assert.deepEqual([count, leftOut], [1, 1]);
    using made = await open(to);
    assert.equal(text(await made.read("000000")), "one");
  }));
