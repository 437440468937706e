import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import {
  FFRecordReader,
  FFRecordWriter,
  type SampleData,
} from "../../../../src/formats/ffrecord/mod.ts";
import { goldenCases } from "../../../support/golden.ts";
import { ffrBytes } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";

function assertSameBytes(path: string, expected: Uint8Array): void {
  assert.equal(Buffer.compare(fs.readFileSync(path), expected), 0, path);
}

/** Returns bytes that differ between calls. */
function bytesOfLength(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  }
  return bytes;
}

const WRITTEN_BY_THE_ORIGINAL = goldenCases("ffrecord").filter(
  ({ name, path }) =>
    /^ffrecord\/(plain|packed)_/.test(name) && fs.statSync(path).isFile(),
);

Deno.test("there are files of the original library to compare with", () => {
  assert.ok(WRITTEN_BY_THE_ORIGINAL.length > 15);
});

for (const { name, path } of WRITTEN_BY_THE_ORIGINAL) {
  Deno.test(`rewriting ${name} gives the original's bytes`, async () => {
    using reader = await FFRecordReader.open(path);
    const original = fs.readFileSync(path);
    await withTempDir(async (dir) => {
      const copy = `${dir}/copy.ffr`;
      for (const count of [reader.length, undefined]) {
        await using writer = await FFRecordWriter.open(copy, { count });
        for (let i = 0; i < reader.length; i++) {
          assert.equal(await writer.write(await reader.readOne(i)), i);
        }
        assert.equal(writer.length, reader.length);
        await writer.close();
        assertSameBytes(copy, original);

        using again = FFRecordWriter.openSync(copy, { count });
        for (let i = 0; i < reader.length; i++) {
          assert.equal(again.writeSync(reader.readOneSync(i)), i);
        }
        again.closeSync();
        assertSameBytes(copy, original);
      }
      assert.deepEqual(fs.readdirSync(dir), ["copy.ffr"]);
    });
  });
}

/** Types in which the same bytes can be passed. */
const WAYS: Record<string, (bytes: Uint8Array<ArrayBuffer>) => SampleData> = {
  bytes: (bytes) => bytes,
  buffer: (bytes) => bytes.slice().buffer,
  "view of a part": (bytes) => {
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 3);
    return larger.subarray(3, 3 + bytes.length);
  },
  DataView: (bytes) => {
    const larger = new Uint8Array(bytes.length + 2);
    larger.set(bytes, 1);
    return new DataView(larger.buffer, 1, bytes.length);
  },
  Buffer: (bytes) => Buffer.from(bytes),
  SharedArrayBuffer: (bytes) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    return shared.buffer;
  },
  "resizable buffer": (bytes) => {
    const buffer = new ArrayBuffer(bytes.length, { maxByteLength: 4_000_000 });
    new Uint8Array(buffer).set(bytes);
    return new Uint8Array(buffer);
  },
  Blob: (bytes) => new Blob([bytes]),
  ReadableStream: (bytes) => new Blob([bytes]).stream(),
  "generator of uneven pieces": async function* (bytes) {
    for (let at = 0, step = 1; at < bytes.length; at += step, step *= 3) {
      yield bytes.subarray(at, at + step);
    }
  },
};

Deno.test("written samples are in the file, whatever their type", async () => {
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.nat(300) },
    fc.constantFrom(0, 1, 65_535, 65_536, 65_537, 1_048_575, 1_048_576),
    { weight: 2, arbitrary: fc.nat(200_000) },
    fc.nat(2_500_000),
  );
  const sample = fc.record({
    bytes: length.map(bytesOfLength),
    way: fc.constantFrom(...Object.keys(WAYS)),
    awaited: fc.boolean(),
  });
  await withTempDir(async (dir) => {
    const path = `${dir}/samples.ffr`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(sample, { maxLength: 30 }),
        fc.boolean(),
        async (samples, counted) => {
          const count = counted ? samples.length : undefined;
          await using writer = await FFRecordWriter.open(path, { count });
          const indices: Promise<number>[] = [];
          for (const { bytes, way, awaited } of samples) {
            indices.push(writer.write(WAYS[way]!(bytes)));
            if (awaited) await indices.at(-1);
          }
          await writer.close();
          assert.deepEqual(await Promise.all(indices), [...samples.keys()]);
          assertSameBytes(path, ffrBytes(samples.map(({ bytes }) => bytes)));
        },
      ),
      { numRuns: LONG ? 40 : 15 },
    );
  });
});

Deno.test("each type of a sample is accepted", async (t) => {
  for (const [name, way] of Object.entries(WAYS)) {
    for (const length of [0, 5, 70_000, 2_100_000]) {
      await t.step(
        `${name}, ${length} bytes`,
        () =>
          withTempDir(async (dir) => {
            const bytes = bytesOfLength(length);
            await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
            await writer.write(way(bytes));
            await writer.close();
            assertSameBytes(`${dir}/a.ffr`, ffrBytes([bytes]));
          }),
      );
    }
  }
});

Deno.test("typed arrays are written in their memory order", async () => {
  await withTempDir((dir) => {
    const floats = Float32Array.of(0, 1.5, -2, 3).subarray(1, 3);
    using writer = FFRecordWriter.openSync(`${dir}/a.ffr`);
    writer.writeSync(floats);
    writer.closeSync();
    using reader = FFRecordReader.openSync(`${dir}/a.ffr`);
    // 1.5 and -2 in IEEE 754, little-endian
    const expected = [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0];
    assert.deepEqual([...reader.readOneSync(0)], expected);
  });
});

Deno.test("more samples than fit in one block of the tables", async () => {
  for (const length of [8191, 8192, 8193, 25_000]) {
    const samples = Array.from(
      { length },
      (_, i) => Uint8Array.of(i, i >> 8).subarray(i % 3),
    );
    const expected = ffrBytes(samples);
    await withTempDir(async (dir) => {
      for (const count of [length, undefined]) {
        using writer = FFRecordWriter.openSync(`${dir}/a.ffr`, { count });
        for (const sample of samples) writer.writeSync(sample);
        writer.closeSync();
        assertSameBytes(`${dir}/a.ffr`, expected);

        await using waiting = await FFRecordWriter.open(`${dir}/a.ffr`, {
          count,
        });
        for (const sample of samples) waiting.write(sample);
        await waiting.close();
        assertSameBytes(`${dir}/a.ffr`, expected);
      }
      assert.deepEqual(fs.readdirSync(dir), ["a.ffr"]);
    });
  }
});

Deno.test("calls that are not awaited keep their order and their bytes", async () => {
  await withTempDir(async (dir) => {
    await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    const reused = new Uint8Array(40_000);
    const expected: Uint8Array[] = [];
    const indices: Promise<number>[] = [];
    for (let i = 0; i < 100; i++) {
      reused.fill(i); // while earlier samples are still being written
      indices.push(writer.write(reused));
      expected.push(reused.slice());
    }
    await writer.close();
    assert.deepEqual(await Promise.all(indices), [...expected.keys()]);
    assertSameBytes(`${dir}/a.ffr`, ffrBytes(expected));
  });
});

Deno.test("a value that is not a sample is rejected by name", async () => {
  await withTempDir(async (dir) => {
    await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    const transferred = new Uint8Array(10);
    structuredClone(transferred, { transfer: [transferred.buffer] });
    const resizable = new ArrayBuffer(10, { maxByteLength: 20 });
    const [shrunk, view] = [
      new Uint16Array(resizable, 4, 3),
      new DataView(resizable, 4, 3),
    ];
    resizable.resize(2);
    const refused: [unknown, RegExp][] = [
      ["text", /TextEncoder/],
      [[1, 2, 3], /not Array/],
      [null, /not null/],
      [undefined, /not undefined/],
      [{}, /not Object/],
      [[].values().map(String), /not \w+/],
      [(function* () {})(), /not an object/],
      [transferred, /transferred or resized/],
      [transferred.buffer, /transferred or resized/],
      [shrunk, /transferred or resized/],
      [view, /transferred or resized/],
      [new Response("a").body!.pipeThrough(new TextDecoderStream()), /string/],
    ];
    for (const [data, message] of refused) {
      const expected = { name: "TypeError", message };
      await assert.rejects(writer.write(data as SampleData), expected);
      assert.throws(() => writer.writeSync(data as ArrayBuffer), TypeError);
    }
    assert.throws(
      () => writer.writeSync(new Blob(["a"]) as unknown as ArrayBuffer),
      /Call write\(\)/,
    );
    assert.equal(await writer.write(Uint8Array.of(1)), 0);
    await writer.close();
    assertSameBytes(`${dir}/a.ffr`, ffrBytes([Uint8Array.of(1)]));
  });
});
