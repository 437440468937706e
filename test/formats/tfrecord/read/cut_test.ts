/** Files that end inside a record, or in which nothing is found after a wrong length. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { openSamples } from "../../../../mod.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import { samplesOf } from "../../../../src/tree/samples_of.ts";
import { ROOT } from "../../../../src/tree/tree.ts";
import { contentsOf } from "../../../support/contents.ts";
import {
  exampleOf,
  fileOf,
  framed,
} from "../../../support/tfrecord/make_tfrecord.ts";

const RECORDS = ["first", "", "third record"];
const WHOLE = fileOf(RECORDS);

function openBytes(
  bytes: Uint8Array,
  warnings: string[] = [],
) {
  const storage = new MemoryStorage({ "t.tfrecord": new Uint8Array(bytes) });
  const onWarning = (warning: string) => warnings.push(warning);
  return openSamples("t.tfrecord", { storage, onWarning });
}

async function textsOf(
  samples: OpenedSamples,
  indices: Iterable<number>,
): Promise<string[]> {
  return (await contentsOf(samples, indices)).map(text);
}

function text(bytes: Uint8Array): string {
  return String(Buffer.from(bytes));
}

/** Offsets of that file's records, and of its end. */
const STARTS = [0, 21, 37, WHOLE.length];

Deno.test("of a file truncated anywhere, the complete records are read, and a warning names the first incomplete one", async () => {
  for (let length = 0; length <= WHOLE.length; length++) {
    const bytes = WHOLE.subarray(0, length);
    const whole = STARTS.findLastIndex((start) => start <= length);
    const isCut = STARTS[whole] !== length;
    const warnings: string[] = [];
    const opening = openBytes(bytes, warnings);
    if (whole === 0 && isCut) {
      await assert.rejects(opening, (error: Error & { code: string }) => {
        assert.match(error.code, /^truncated-(header|data)$/);
        assert.match(
          error.message,
          /^Cannot read t\.tfrecord: .* no whole record.*truncated/,
        );
        return true;
      });
      assert.deepEqual(warnings, []);
      continue;
    }
    using reader = await opening;
    assert.equal(reader.length, whole);
    assert.deepEqual(
      await textsOf(reader, Array(whole).keys()),
      RECORDS.slice(0, whole),
    );
    assert.throws(() => reader.readSync(whole), { code: "index-range" });
    assert.equal(warnings.length, Number(isCut));
    if (!isCut) continue;
    assert.match(
      warnings[0]!,
      new RegExp(`^Cannot read '00000${whole}' in t\\.tfrecord: .*truncated`),
    );
  }
});

Deno.test("the truncated record is listed, with its size if that is known, and reading it is an error", async () => {
  for (
    const [length, size, code] of [
      [45, 0, "truncated-header"],
      [37 + 12, 12, "truncated-data"],
      [WHOLE.length - 1, 12, "truncated-data"],
    ] as const
  ) {
    const warnings: string[] = [];
    using fs = await open({ "t.tfrecord": WHOLE.subarray(0, length) }, {
      format: "tfrecord",
      ext: "bin",
      onWarning: (warning) => warnings.push(warning),
    });
    const shard = "t";
    const names = await fs.list(shard);
    assert.deepEqual(names, ["000000.bin", "000001.bin", "000002.bin"]);
    assert.equal(text(await fs.read(`${shard}/000000.bin`)), RECORDS[0]);
    const cut = `${shard}/000002.bin`;
    assert.equal((await fs.stat(cut)).size, size);
    const error = { code, member: "000002.bin", sample: 2, offset: 37 };
    await assert.rejects(fs.read(cut), error);
    await assert.rejects(async () => {
      await Array.fromAsync(await fs.stream(cut));
    }, error);
    assert.equal(warnings.length, 1);
    const { facts, unreadable, files } = fs.info;
    assert.deepEqual(facts, { records: 2, unreadable: 1 });
    assert.equal(files, 3);
    assert.deepEqual(
      unreadable?.map(({ name, code, message }) => [name, code, message]),
      [["000002.bin", code, warnings[0]]],
    );
    await assert.rejects(fs.list(cut), { code: "not-directory" });
    await assert.rejects(fs.stat(`${shard}/000003.bin`), { code: "not-found" });
  }
});

Deno.test("of truncated shards, the complete records are numbered, and one without any does not affect the others", async () => {
  const storage = new MemoryStorage({
    "d/a-00000-of-00003": new Uint8Array(WHOLE.subarray(0, 30)),
    "d/a-00001-of-00003": new Uint8Array(WHOLE.subarray(0, 20)),
    "d/a-00002-of-00003": new Uint8Array(WHOLE),
  });
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  using reader = await openSamples("d", { storage, onWarning });
  assert.deepEqual(await textsOf(reader, [0, 1, 2, 3]), [
    RECORDS[0],
    ...RECORDS,
  ]);
  assert.equal(reader.length, 4);
  assert.deepEqual(
    warnings.map((line) =>
      /Cannot read '(\d+)' in (\S+):/.exec(line)?.slice(1)
    ),
    [["000001", "d/a-00000-of-00003"], ["000000", "d/a-00001-of-00003"]],
  );
  const handle = structuredClone(reader.share());
  using shared = await OpenedSamples.openShared(handle, { storage });
  assert.equal(shared.length, 4);
  assert.deepEqual(await textsOf(shared, [3]), [RECORDS[2]]);
  using fs = await open("d", { storage, onWarning });
  const paths: string[] = [];
  for await (const { path, isFile } of fs.walk()) {
    if (isFile) paths.push(path);
  }
  assert.deepEqual(paths, [
    "a-00000-of-00003/000000",
    "a-00000-of-00003/000001",
    "a-00001-of-00003/000000",
    "a-00002-of-00003/000000",
    "a-00002-of-00003/000001",
    "a-00002-of-00003/000002",
  ]);
  assert.deepEqual(fs.info.facts, { records: 4, unreadable: 2 });
});

Deno.test("after a length with a wrong checksum nothing is found, and the preceding records are read", async () => {
  const bytes = Buffer.from(WHOLE);
  bytes[37 + 8]! ^= 1;
  const warnings: string[] = [];
  using reader = await openBytes(bytes, warnings);
  assert.equal(reader.length, 2);
  assert.deepEqual(await textsOf(reader, [0, 1]), RECORDS.slice(0, 2));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /Cannot read '000002' .*no record after it/);
});

Deno.test("truncated examples are shown decoded, the incomplete one as a file that cannot be read", async () => {
  const bytes = fileOf([exampleOf({ a: ["1"] }), exampleOf({ a: ["2"] })]);
  using fs = await open(new Uint8Array(bytes.subarray(0, bytes.length - 6)), {
    decoded: true,
    onWarning() {},
  });
  assert.deepEqual(await fs.list(""), ["000000", "000001"]);
  assert.equal(await fs.isDir("000000"), true);
  assert.equal(await fs.isFile("000001"), true);
  assert.equal(text(await fs.read("000000/a")), "1");
  await assert.rejects(fs.read("000001"), { member: "000001" });
  assert.equal(fs.info.facts?.["unreadable"], 1);
});

Deno.test("samples of truncated shards are their complete records, and nodes lead from features to them", async () => {
  const shard = (...values: string[]) =>
    fileOf(values.map((value) => exampleOf({ a: [value] })));
  const cut = (bytes: Uint8Array) =>
    new Uint8Array(bytes.subarray(0, bytes.length - 6));
  const storage = new MemoryStorage({
    "d/a-00000-of-00003": cut(shard("1", "2")),
    "d/a-00001-of-00003": cut(shard("3")),
    "d/a-00002-of-00003": new Uint8Array(shard("4", "5")),
  });
  const options = { storage, decoded: true, onWarning() {} };
  using fs = await open("d", options);
  const { tree } = fs;
  const samples = await samplesOf(tree);
  const directories = ["0", "2", "2"];
  const names = ["000000", "000000", "000001"];
  assert.equal(samples.length, 3);
  const node = (path: string) =>
    path.split("/").reduce((parent, part) => {
      const bytes = Buffer.from(part);
      return tree.lookup(parent, bytes, 0, bytes.length);
    }, ROOT);
  for (const [i, name] of names.entries()) {
    const path = `a-0000${directories[i]}-of-00003/${name}`;
    assert.equal(samples.node(i), node(path));
    assert.equal(tree.parent(node(`${path}/a`)), node(path));
    assert.equal(text(await fs.read(`${path}/a`)), ["1", "4", "5"][i]);
  }
  assert.equal(tree.isDirectory(node("a-00000-of-00003/000001")), false);
  await assert.rejects(
    fs.read("a-00001-of-00003/000000"),
    /Cannot read .*truncated/,
  );
});

/** Reads the record in which a file was truncated, after asserting that the file opens. */
async function readCut(bytes: Uint8Array, record: string): Promise<unknown> {
  using fs = await open(new Uint8Array(bytes), { onWarning() {} });
  return await fs.read(record);
}

Deno.test("the missing part of a truncated record is reported: data, or the checksum after them", async () => {
  const start = 37; // of the last record, whose 12 bytes of data are at 49 to 61
  for (let there = 0; there < 12; there++) {
    await assert.rejects(
      readCut(WHOLE.subarray(0, start + 12 + there), "000002"),
      {
        message: new RegExp(
          `record 2 at byte 37 has 12 bytes by its length, and the file ends after ${there}: it is truncated`,
        ),
        expected: 12,
        actual: there,
      },
    );
  }
  for (let there = 0; there < 4; there++) {
    await assert.rejects(
      readCut(WHOLE.subarray(0, start + 24 + there), "000002"),
      {
        message: new RegExp(
          `record 2 at byte 37 has all of its data \\(12 bytes\\), but only ${there} of the 4 bytes of the checksum`,
        ),
        expected: 4,
        actual: there,
      },
    );
  }
  // A record without data has only its checksums.
  await assert.rejects(readCut(WHOLE.subarray(0, 33), "000001"), {
    message:
      /record 1 at byte 21 has all of its data \(0 bytes\), but only 0 of/,
  });
});

Deno.test("a length beyond the file's end with a wrong checksum is not a truncation, and is reported exactly", async () => {
  for (const bit of [1, 0x40]) {
    const bytes = Buffer.from(WHOLE);
    bytes[37 + 7]! ^= bit;
    await assert.rejects(readCut(bytes, "000002"), {
      code: "metadata-checksum",
      sample: 2,
      message: /checksum mismatch in the length of record 2 at byte 37/,
    });
  }
  for (const length of [2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
    await assert.rejects(openBytes(framed("first", length)), {
      code: "truncated-data",
      message: new RegExp(`has ${length} bytes by its length`),
    });
  }
});
