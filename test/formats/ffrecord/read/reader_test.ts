import assert from "node:assert/strict";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import fc from "../../../support/random.ts";
import { FFRecordReader } from "../../../../src/formats/ffrecord/mod.ts";
import {
  FormatError,
  IndexError,
  RecordfsError,
} from "../../../../src/base/errors.ts";
import { ffrBytes, ffrHeader } from "../../../support/ffrecord/make_ffr.ts";
import { FULL } from "../../../support/long.ts";
import { descriptorsBelow } from "../../../support/programs/descriptors.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";

const sizes = goldenCase("ffrecord/plain_sizes");

Deno.test("read() accepts any batch, in any order, with repeats", async () => {
  const parts = goldenCase("ffrecord/parts_dump");
  using reader = await FFRecordReader.open(parts.path);
  const expected = parts.content.samples.map((sample) => sample.sha256);
  const index = fc.nat({ max: reader.length - 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(index, { maxLength: 60 }), async (indices) => {
      const hashes = indices.map((i) => expected[i]);
      assert.deepEqual((await reader.read(indices)).map(sha256), hashes);
      assert.deepEqual(reader.readSync(indices).map(sha256), hashes);
    }),
  );
});

Deno.test("read() has no upper limit for a batch", async () => {
  using reader = await FFRecordReader.open(sizes.path);
  const indices = Array.from({ length: 10_000 }, (_, i) => i % 10);
  const batch = await reader.read(indices);
  assert.equal(batch.length, 10_000);
  assert.equal(sha256(batch[9_997]!), sizes.content.samples[7]!.sha256);
});

Deno.test("read() fills the given memory, each sample at a multiple of 8", async () => {
  for (const checkData of [true, false]) {
    using reader = await FFRecordReader.open(sizes.path, { checkData });
    const buffer = new ArrayBuffer(1 << 23);
    const takes: number[] = [];
    const memory = {
      take(length: number) {
        takes.push(length);
        return new Uint8Array(buffer, 0, length).fill(255);
      },
    };
    const index = fc.nat({ max: reader.length - 1 });
    const batches = fc.array(index, { maxLength: 30 });
    await fc.assert(fc.asyncProperty(batches, async (indices) => {
      const own = await reader.read(indices);
      for (
        const read of [
          () => reader.readSync(indices, { memory }),
          () => reader.read(indices, { memory }),
        ]
      ) {
        takes.length = 0;
        const batch = await read();
        assert.deepEqual(batch, own);
        let start = 0;
        for (const sample of batch) {
          assert.equal(sample.buffer, buffer);
          assert.equal(sample.byteOffset, start);
          start = Math.ceil((start + sample.length) / 8) * 8;
        }
        assert.deepEqual(takes, [lengthOf(batch)]);
      }
    }));
  }
});

/** Returns the bytes from the first sample of a batch to the end of the last one. */
function lengthOf(batch: readonly Uint8Array[]): number {
  const last = batch.at(-1);
  return last === undefined ? 0 : last.byteOffset + last.length;
}

Deno.test("given memory is compared with the request, and samples in it are verified", async () => {
  const damaged = goldenCase("ffrecord/bad_flip_sample");
  using reader = await FFRecordReader.open(damaged.path);
  const memory = { take: (length: number) => new Uint8Array(length) };
  const indices = [...Array(reader.length).keys()];
  await assert.rejects(reader.read(indices, { memory }), {
    code: "sample-checksum",
  });
  for (const more of [-1, 1]) {
    const wrong = { take: (length: number) => new Uint8Array(length + more) };
    assert.throws(() => reader.readSync([0], { memory: wrong }), TypeError);
  }
});

Deno.test("another thread opens the same files over the same tables", async () => {
  const parts = goldenCase("ffrecord/parts_dump");
  using reader = await FFRecordReader.open(parts.path);
  const seed = structuredClone(reader.share());
  using same = await FFRecordReader.openShared(seed);
  assert.deepEqual(same.paths, reader.paths);
  assert.deepEqual(same.checksums, reader.checksums);
  const indices = [...Array(reader.length).keys()];
  assert.deepEqual(await same.read(indices), await reader.read(indices));
  assert.deepEqual(
    parts.content.files.map(({ name }) => name),
    reader.paths.map((path) => path.split("/").at(-1)),
  );
  let first = 0;
  for (const [i, { n }] of parts.content.files.entries()) {
    if (n > 0) {
      assert.equal(same.fileOf(first), reader.paths[i]);
      assert.equal(same.fileOf(first + n - 1), reader.paths[i]);
    }
    first += n;
  }
  assert.throws(() => same.fileOf(reader.length), IndexError);
});

Deno.test("a replaced file is not opened again over old tables", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    await Deno.writeFile(path, ffrBytes([Uint8Array.of(1)]));
    using reader = await FFRecordReader.open(path);
    await Deno.writeFile(path, ffrBytes([Uint8Array.of(1, 2)]));
    await assert.rejects(FFRecordReader.openShared(reader.share()), {
      code: "changed",
      path,
    });
  });
});

Deno.test("each sample has memory of its own", async () => {
  using reader = await FFRecordReader.open(sizes.path);
  const [a, b] = await reader.read([5, 5]);
  a!.fill(0);
  assert.equal(sha256(b!), sizes.content.samples[5]!.sha256);
  assert.equal(b!.buffer.byteLength, b!.length);
});

Deno.test("an index that is out of range, negative or fractional is named", async () => {
  using reader = await FFRecordReader.open(sizes.path);
  for (const index of [17, -1, 1.5, NaN, 2 ** 53]) {
    const refusal = (error: unknown) =>
      error instanceof IndexError && Object.is(error.index, index) &&
      error.length === 17 && error.message.includes(`read sample ${index} `);
    await assert.rejects(reader.readOne(index), refusal);
    await assert.rejects(reader.read([0, index]), refusal);
    assert.throws(() => reader.readOneSync(index), refusal);
  }
});

Deno.test("a list of files is one sequence, in the order of the list", async () => {
  const one = goldenCase("ffrecord/plain_one");
  using reader = await FFRecordReader.open([one.path, sizes.path, one.path]);
  assert.equal(reader.length, 19);
  const hashes = (await reader.read([0, 1, 18])).map(sha256);
  assert.deepEqual(hashes, [
    one.content.samples[0]!.sha256,
    sizes.content.samples[0]!.sha256,
    one.content.samples[0]!.sha256,
  ]);
});

Deno.test("checkData: false reads damaged samples unchecked", async () => {
  const damaged = goldenCase("ffrecord/bad_flip_sample");
  using reader = await FFRecordReader.open(damaged.path, { checkData: false });
  const bytes = await reader.readOne(3);
  const recorded = reader.checksums[3];
  assert.notEqual(crc32(bytes), recorded);
});

Deno.test("checkData: false opens a file with damaged metadata", async () => {
  const damaged = goldenCase("ffrecord/bad_flip_checksum");
  using reader = await FFRecordReader.open(damaged.path, { checkData: false });
  assert.equal((await reader.readOne(0)).length > 0, true);
  await assert.rejects(
    reader.validate(),
    (error) =>
      error instanceof FormatError && error.code === "metadata-checksum",
  );
});

Deno.test("a file of an old version is reported once", async () => {
  const legacy = goldenCase("ffrecord/legacy_checksum0");
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  using _reader = await FFRecordReader.open([legacy.path, legacy.path], {
    onWarning,
  });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /old version/);
});

Deno.test("opening a file that is not FFRecord reports why", async () => {
  await withTempDir(async (dir) => {
    const refused = async (path: string, pattern: RegExp) =>
      await assert.rejects(
        FFRecordReader.open(path),
        (error: unknown) =>
          error instanceof RecordfsError && error.path === path &&
          pattern.test(error.message),
      );
    await refused(`${dir}/none.ffr`, /no such file/);
    await refused(dir, /holds no \.ffr file/);
    fs.writeFileSync(`${dir}/file`, "");
    await refused(`${dir}/file/x.ffr`, /not a directory/);
    const pipe = `${dir}/pipe.ffr`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    await refused(pipe, /not a regular file/); // without waiting for a writer
  });
});

Deno.test("an aborted read rejects with the signal's reason", async () => {
  using reader = await FFRecordReader.open(sizes.path);
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(reader.read([0, 1], { signal }), reason);
  const controller = new AbortController();
  const batch = reader.read(Array.from({ length: 17 }, (_, i) => i), {
    signal: controller.signal,
  });
  controller.abort(reason);
  await assert.rejects(batch, reason);
});

Deno.test("a closed reader reports that it is closed", async () => {
  const reader = await FFRecordReader.open(sizes.path);
  reader.close();
  await assert.rejects(
    reader.readOne(3),
    (error) => error instanceof RecordfsError && error.code === "closed",
  );
});

Deno.test("a file that shrinks while it is open is an error, not zeros", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(
      path,
      ffrBytes([new Uint8Array(5000), new Uint8Array(5000)]),
    );
    using reader = await FFRecordReader.open(path);
    fs.truncateSync(path, 6000);
    assert.equal((await reader.readOne(0)).length, 5000);
    await assert.rejects(
      reader.readOne(1),
      (error) => error instanceof FormatError && error.code === "out-of-bounds",
    );
  });
});

const large = "samples over 2 GiB and offsets over 4 GiB";
Deno.test(large, { ignore: !FULL }, async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/sparse.ffr`;
    const lengths = [2 ** 31 + 4096, 2 ** 31, 5];
    const tail = new TextEncoder().encode("tail!");
    const zeros = new Uint8Array(1 << 24);
    let crc = 0;
    for (let done = 0; done < 2 ** 31; done += zeros.length) {
      crc = crc32(zeros, crc);
    }
    const header = ffrHeader(lengths, [
      crc32(zeros.subarray(0, 4096), crc),
      crc,
      crc32(tail),
    ]);
    const file = fs.openSync(path, "w");
    fs.writeSync(file, header);
    const end = header.length + lengths[0]! + lengths[1]!;
    fs.writeSync(file, tail, 0, tail.length, end);
    fs.closeSync(file);

    using reader = await FFRecordReader.open(path);
    assert.deepEqual(await reader.readOne(2), tail);
    assert.equal(reader.offsets[2], end);
    assert.ok(end > 2 ** 32);
    const large = await reader.readOne(0); // with its checksum verified
    assert.equal(large.length, 2 ** 31 + 4096);
    assert.equal(large.at(-1), 0);
  });
});

Deno.test("1,000 files are opened with few descriptors", async () => {
  await withTempDir(async (dir) => {
    for (let i = 0; i < 1000; i++) {
      const name = String(i).padStart(5, "0");
      fs.writeFileSync(
        `${dir}/${name}.ffr`,
        ffrBytes([Uint8Array.of(i, i >> 8)]),
      );
    }
    using reader = await FFRecordReader.open(dir);
    const all = await reader.read(
      Array.from({ length: 1000 }, (_, i) => 999 - i),
    );
    assert.deepEqual(all[0], Uint8Array.of(999 & 255, 3));
    assert.deepEqual(reader.readOneSync(500), Uint8Array.of(500 & 255, 1));
    const open = await descriptorsBelow(dir);
    assert.ok(open <= 128, `${open} descriptors`);
  });
});
