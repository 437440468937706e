/** Hostile files: false lengths, truncation, compressed files, and invalid messages. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deflateSync, gzipSync } from "node:zlib";
import { openSamples } from "../../../../mod.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { FormatError } from "../../../../src/base/errors.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { contentsOf } from "../../../support/contents.ts";
import {
  exampleOf,
  field,
  fileOf,
  framed,
  maskedSum,
  varint,
} from "../../../support/tfrecord/make_tfrecord.ts";

const RECORDS = ["first", "", "third record"];
const WHOLE = fileOf(RECORDS);

function openBytes(bytes: Uint8Array, name = "t.tfrecord") {
  const storage = new MemoryStorage({ [name]: new Uint8Array(bytes) });
  return openSamples(name, { storage });
}

Deno.test("false lengths are rejected by their checksums, or by the file's size", async () => {
  for (let at = 0; at < 12; at++) {
    const bytes = Buffer.from(WHOLE);
    bytes[at]! ^= 1;
    await assert.rejects(openBytes(bytes), {
      code: /^(metadata-checksum|truncated-data)$/,
    });
  }
  for (const length of [6n, 2n ** 31n, 2n ** 53n, 2n ** 64n - 1n]) {
    await assert.rejects(openBytes(framed("first", length)), {
      code: "truncated-data",
      sample: 0,
    });
  }
});

Deno.test("data with a wrong checksum is returned only on request", async () => {
  for (const at of [12, 16, 17, 20]) {
    const bytes = Buffer.from(WHOLE);
    bytes[at]! ^= 0x10;
    using reader = await openBytes(bytes);
    for (const read of [() => reader.read(0), () => reader.read([2, 0])]) {
      await assert.rejects(read, { code: "sample-checksum", sample: 0 });
    }
    assert.throws(() => reader.readSync(0), { code: "sample-checksum" });
    assert.equal(
      String(Buffer.from((await contentsOf(reader, [2]))[0]!)),
      RECORDS[2],
    );
    const storage = new MemoryStorage({ "t.tfrecord": new Uint8Array(bytes) });
    using unchecked = await openSamples("t.tfrecord", {
      storage,
      checkData: false,
    });
    assert.equal((await contentsOf(unchecked, [0]))[0]!.length, 5);
  }
  // An empty record has a checksum as well.
  const bytes = Buffer.from(WHOLE);
  bytes[33]! ^= 1;
  using reader = await openBytes(bytes);
  await assert.rejects(reader.read(1), { code: "sample-checksum" });
  assert.throws(() => reader.readSync([1]), { code: "sample-checksum" });
  using fs = await open(new Uint8Array(bytes));
  await assert.rejects(fs.read("000001"), { code: "sample-checksum" });
  await assert.rejects(
    Array.fromAsync(await fs.stream("000001")),
    { code: "sample-checksum" },
  );
  await fs.read("000000");
});

Deno.test("files compressed by zlib or gzip are read, whatever their names", async () => {
  using plain = await openBytes(WHOLE);
  const expected = await plain.get([0, 1]);
  for (const name of ["a.tfrecord.gz", "a.tfrecord", "a"]) {
    using compressed = await openBytes(gzipSync(WHOLE), name);
    assert.deepEqual(await compressed.get([0, 1]), expected);
  }
  for (const name of ["a.tfrecord.zlib", "a.tfrecord.zz", "a.tfrecord", "a"]) {
    for (const level of [0, 1, 6, 9]) {
      const storage = new MemoryStorage({
        [name]: new Uint8Array(deflateSync(WHOLE, { level })),
      });
      for (const format of [undefined, "tfrecord"]) {
        using fs = await open(name, { storage, format });
        assert.equal(fs.info.format, "tfrecord");
        using samples = await openSamples(name, { storage, format });
        assert.deepEqual(await samples.get([0, 1]), expected);
      }
      using now = openSync(name, { storage });
      assert.equal(now.info.format, "tfrecord");
    }
  }
});

Deno.test("zlib streams of other contents, and damaged ones, are no TFRecord", async () => {
  const other = new Uint8Array(deflateSync("no records"));
  await assert.rejects(open(other), { code: "unknown-format" });
  const cut = new Uint8Array(deflateSync(WHOLE)).slice(0, -5);
  await assert.rejects(open(cut), FormatError);
  const damaged = new Uint8Array(deflateSync(WHOLE));
  damaged[damaged.length - 1]! ^= 1; // of its checksum
  await assert.rejects(open(damaged), { code: "bad-structure" });
});

Deno.test("compressed shards are read by their suffixes, and rejected with a remedy without", async () => {
  const shards = (
    suffix: string,
    compress: (bytes: Uint8Array) => Uint8Array,
  ) =>
    new MemoryStorage(Object.fromEntries([0, 1].map((i) => [
      `d/a.tfrecord-0000${i}-of-00002${suffix}`,
      new Uint8Array(compress(WHOLE)),
    ])));
  for (
    const [suffix, compress] of [[".gz", gzipSync], [
      ".zlib",
      deflateSync,
    ]] as const
  ) {
    const storage = shards(suffix, compress);
    using samples = await openSamples("d", { storage });
    assert.equal(samples.length, 6);
    await assert.rejects(openSamples("d", { storage: shards("", compress) }), {
      code: "unsupported",
      message: new RegExp(`Rename all such shards \\(.*${suffix}\\)`),
    });
  }
});

Deno.test("lengths that look like the start of something compressed are lengths", async () => {
  for (const length of [0x088b1f, 0x0178, 0x9c78]) {
    using reader = await openBytes(fileOf([new Uint8Array(length), "x"]));
    assert.equal(reader.length, 2);
  }
});

Deno.test("files are recognised by content, whatever their names, and not by accident", async () => {
  using fs = await open(new Uint8Array(WHOLE));
  assert.equal(fs.info.format, "tfrecord");
  const wrong = Buffer.from(WHOLE);
  wrong[8]! ^= 1;
  await assert.rejects(open(new Uint8Array(wrong)), { code: "unknown-format" });
  await assert.rejects(open({ "x.tfrecord": new Uint8Array(wrong) }), {
    code: "metadata-checksum",
  });
});

Deno.test("incomplete shards are rejected by name", async () => {
  const shard = new Uint8Array(WHOLE);
  const storage = new MemoryStorage({
    "d/a-00000-of-00003": shard,
    "d/a-00002-of-00003": shard,
  });
  for (const location of ["d", "d/a-?????-of-?????"]) {
    await assert.rejects(openSamples(location, { storage }), {
      code: "missing-shard",
      message: /2 of the 3 shards a-…-of-00003/,
    });
  }
  await assert.rejects(openSamples("d/b-*-of-*", { storage }), {
    code: "missing-shard",
  });
});

/** Messages that are not examples, by fault. */
const WRONG: Record<string, Uint8Array> = {
  "field 0": field(1, Buffer.from([2, 0])),
  "wire type 3": field(1, Buffer.from([0x0b, 0x0c])),
  "a tag that does not end": field(1, Buffer.alloc(6, 0xff)),
  "a value of 100 bytes": field(1, Buffer.from([0x0a, 100, 1])),
  "a length that does not end": Buffer.from([0x0a, 0x80]),
  "floats in 3 bytes": field(
    1,
    field(
      1,
      field(1, Buffer.from("f")),
      field(2, field(2, field(1, Buffer.alloc(3)))),
    ),
  ),
  "an integer that does not end": field(
    1,
    field(
      1,
      field(1, Buffer.from("i")),
      field(2, field(3, field(1, Buffer.alloc(12, 0x80)))),
    ),
  ),
  "more than 65536 features": field(
    1,
    Buffer.concat(Array(65_537).fill(field(1))),
  ),
};

Deno.test("records that are not examples are reported, and shown as bytes if the first is one", async () => {
  const bytes = fileOf([exampleOf({ a: ["1"] }), ...Object.values(WRONG)]);
  using reader = await openBytes(bytes);
  using fs = await open(new Uint8Array(bytes), { decoded: true });
  const directories = await fs.list("");
  assert.equal(directories.length, 1 + Object.keys(WRONG).length);
  for (const [i, what] of Object.keys(WRONG).entries()) {
    const error = {
      code: "bad-value",
      message: new RegExp(`record ${i + 1} of .* as an Example.*${what}`),
    };
    await assert.rejects(reader.get(i + 1), error);
    await assert.rejects(fs.list(`00000${i + 1}`), error);
  }
  assert.equal(String(Buffer.from(await fs.read("000000/a"))), "1");
  const warnings: string[] = [];
  using plain = await open(new Uint8Array(WHOLE), {
    decoded: true,
    onWarning: (warning) => warnings.push(warning),
  });
  assert.equal((await plain.read("000000")).length, 5);
  assert.match(warnings.join(), /not Examples/);
});

Deno.test("names that no directory can show are escaped, and one that is too long is rejected", async () => {
  const features = {
    "../../etc/passwd": ["1"],
    "nul\0": ["2"],
    ".": ["3"],
    "/abs": ["4"],
    "x": ["5"],
    "x/y": ["6"],
    "x%2Fz": ["7"],
  };
  using fs = await open(new Uint8Array(fileOf([exampleOf(features)])), {
    decoded: true,
  });
  const names: string[] = [];
  for await (const { path } of fs.walk("000000")) names.push(path);
  assert.deepEqual(
    names.map((name) => name.slice("000000/".length)).sort(),
    ["%2Fabs", "%2E", "..%2F..%2Fetc%2Fpasswd", "nul%00", "x", "x%2Fy", "x%2Fz"]
      .sort(),
  );
  const long = exampleOf({ ["n".repeat(256)]: ["1"] });
  using other = await open(new Uint8Array(fileOf([long])), { decoded: true });
  await assert.rejects(other.list("000000"), {
    code: "unsafe-name",
  });
});

Deno.test("unknown fields are skipped, parts of messages merged, and the last of equal keys wins", async () => {
  const entry = (key: string, ...values: Uint8Array[]) =>
    field(1, field(1, Buffer.from(key)), ...values);
  const bytes = (...values: string[]) =>
    field(1, ...values.map((value) => field(1, Buffer.from(value))));
  const record = Buffer.concat([
    field(1, entry("a", field(2, bytes("old"))), field(9, Buffer.from("?"))),
    Buffer.concat([varint(7 << 3), varint(300)]),
    field(
      1,
      entry("a", field(2, bytes("1")), field(2, bytes("2"))),
      entry("b", field(2, field(2), bytes("x"))),
    ),
  ]);
  const plain = exampleOf({ a: ["0"] }); // marks records as examples
  using reader = await openBytes(fileOf([plain, record]));
  const example = await reader.get(1);
  const texts = (key: string) =>
    (example[key] as Uint8Array[]).map((value) => String(Buffer.from(value)));
  assert.deepEqual([texts("a"), texts("b")], [["1", "2"], ["x"]]);
});

Deno.test("examples are detected by the first undamaged record", async () => {
  const bytes = fileOf([exampleOf({ a: ["1"] }), exampleOf({ a: ["2"] })]);
  bytes[12]! ^= 1; // in the data of the first record
  using samples = await openBytes(bytes);
  const { a } = await samples.get(1);
  assert.deepEqual(a, [new TextEncoder().encode("2")]);
  await assert.rejects(samples.get(0), { code: "sample-checksum", sample: 0 });
});

Deno.test("the generated frame follows the specification", () => {
  // A record without data: eight zeros, their checksum, and the checksum of empty data.
  assert.equal(
    framed("").toString("hex"),
    "000000000000000029039807d8ea82a2",
  );
  assert.equal(maskedSum(new Uint8Array(0)), 0xa282ead8);
});
