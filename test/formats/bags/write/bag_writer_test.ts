import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { BagReader } from "../../../../src/formats/bags/read/bag_reader.ts";
import { BagWriter } from "../../../../src/formats/bags/write/bag_writer.ts";
import type { SampleData } from "../../../../src/io/write/sample_data.ts";
import { pythonCases } from "../../../support/bags/bags_written_by_python.ts";
import { naiveBag } from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";

const GENERATIONS = [1, 2, 3] as const;

const CASES = pythonCases("bag");

Deno.test("there are bags of the original packages to compare with", () => {
  assert.deepEqual(
    new Set(CASES.map(({ generation }) => generation)),
    new Set(GENERATIONS),
  );
  assert.ok(CASES.length > 12);
});

function assertSameFile(path: string, expected: string): void {
  assert.equal(
    Buffer.compare(fs.readFileSync(path), fs.readFileSync(expected)),
    0,
    path,
  );
}

for (const { name, path, generation } of CASES) {
  Deno.test(`rewriting ${name} gives the original's bytes`, async () => {
    const records = naiveBag(path, generation);
    await withTempDir(async (dir) => {
      const copy = `${dir}/copy.bag`;
      const again = `${dir}/again.bag`;
      await using writer = await BagWriter.open(copy, { generation });
      using sync = BagWriter.openSync(again, { generation });
      for (const [i, record] of records.entries()) {
        assert.equal(await writer.write(record), i);
        assert.equal(sync.writeSync(record), i);
      }
      assert.equal(writer.length, records.length);
      await writer.close();
      sync.closeSync();
      assertSameFile(copy, path);
      assertSameFile(again, path);
      const names = ["again.bag", "copy.bag"];
      let size = fs.statSync(copy).size;
      if (generation === 3) {
        const index = path.replace(/\.bag$/, ".idx");
        assertSameFile(`${dir}/copy.idx`, index);
        assertSameFile(`${dir}/again.idx`, index);
        size += fs.statSync(index).size;
        names.push("again.idx", "copy.idx");
      }
      assert.equal(writer.size, size); // Python reports the same size
      assert.deepEqual(fs.readdirSync(dir).sort(), names.sort());
    });
  });
}

/** Types of data accepted as a record. */
const WAYS: Record<string, (bytes: Uint8Array<ArrayBuffer>) => SampleData> = {
  bytes: (bytes) => bytes,
  buffer: (bytes) => bytes.slice().buffer,
  DataView: (bytes) => new DataView(bytes.slice().buffer),
  Blob: (bytes) => new Blob([bytes]),
  stream: (bytes) => new Blob([bytes]).stream(),
  "generator of uneven pieces": async function* (bytes) {
    for (let at = 0, step = 1; at < bytes.length; at += step, step *= 3) {
      yield bytes.subarray(at, at + step);
    }
  },
};

Deno.test("appended records are in the bag, whatever their type", async () => {
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.nat(300) },
    fc.constantFrom(0, 1, 8, 65_536, 65_537, 262_144, 262_145, 1_048_576),
    { weight: 2, arbitrary: fc.nat(200_000) },
    fc.nat(2_500_000),
  );
  const record = fc.record({
    length,
    fill: fc.nat(255),
    way: fc.constantFrom(...Object.keys(WAYS)),
    awaited: fc.boolean(),
    flush: fc.constantFrom(undefined, undefined, undefined, false, true),
  });
  await withTempDir(async (dir) => {
    let bag = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 30 }),
        fc.constantFrom(...GENERATIONS),
        async (given, generation) => {
          const path = `${dir}/${++bag}.bag`;
          const records = given.map(({ length, fill }) =>
            new Uint8Array(generation === 1 ? length : Math.max(1, length))
              .fill(fill)
          );
          await using writer = await BagWriter.open(path, { generation });
          const indices: Promise<number>[] = [];
          for (const [i, { way, awaited, flush }] of given.entries()) {
            indices.push(writer.write(WAYS[way]!(records[i]!)));
            if (awaited) await indices.at(-1);
            if (flush !== undefined) writer.flush({ sync: flush });
          }
          await writer.close();
          assert.deepEqual(await Promise.all(indices), [...records.keys()]);
          const written = naiveBag(path, generation);
          assert.equal(written.length, records.length);
          written.forEach((bytes, i) =>
            assert.equal(Buffer.compare(bytes, records[i]!), 0)
          );
          const index = generation === 3
            ? 0
            : 8 * records.length + (generation === 1 ? 8 : 0);
          const data = records.reduce((sum, { length }) => sum + length, 0);
          assert.equal(fs.statSync(path).size, data + index);
          for (const name of fs.readdirSync(dir)) {
            fs.unlinkSync(`${dir}/${name}`);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

Deno.test("an index may have more records than its buffer holds", async () => {
  const count = LONG ? 300_000 : 140_000; // over 1 MB of entries
  await withTempDir((dir) => {
    for (const generation of GENERATIONS) {
      const path = `${dir}/g${generation}.bag`;
      using writer = BagWriter.openSync(path, { generation });
      for (let i = 0; i < count; i++) {
        writer.writeSync(Uint8Array.of(i, i >> 8).subarray(i % 2));
      }
      writer.closeSync();
      const records = naiveBag(path, generation);
      assert.equal(records.length, count);
      for (let i = 0; i < count; i += 997) {
        assert.deepEqual(records[i], Uint8Array.of(i, i >> 8).subarray(i % 2));
      }
    }
    assert.deepEqual(fs.readdirSync(dir).sort(), [
      "g1.bag",
      "g2.bag",
      "g3.bag",
      "g3.idx",
    ]);
  });
});

Deno.test("generations 1 and 3 accept empty records, even only those", async () => {
  await withTempDir(async (dir) => {
    const records = [[], [1, 2], [], [], [3]].map((bytes) =>
      Uint8Array.from(bytes)
    );
    for (const generation of [1, 3] as const) {
      const path = `${dir}/g${generation}.bag`;
      await using writer = await BagWriter.open(path, { generation });
      await writer.write(records[0]!);
      await writer.write(records[1]!);
      await writer.write(new Blob([]));
      writer.writeSync(records[3]!);
      await writer.write(records[4]!);
      await writer.close();
      assert.deepEqual(naiveBag(path, generation), records);
      using reader = await BagReader.open(path);
      assert.deepEqual(await reader.read([0, 1, 2, 3, 4]), records);
    }
    // As granular 0.24.2 writes three empty records: an index of three zeros, and an empty bag.
    const only = `${dir}/only.bag`;
    await using writer = await BagWriter.open(only, { generation: 3 });
    for (let i = 0; i < 3; i++) await writer.write(new Uint8Array(0));
    await writer.close();
    assert.equal(fs.statSync(only).size, 0);
    assert.deepEqual(
      new Uint8Array(fs.readFileSync(`${dir}/only.idx`)),
      new Uint8Array(24),
    );
    using reader = await BagReader.open(only);
    assert.deepEqual(await reader.read([2, 0]), [
      new Uint8Array(0),
      new Uint8Array(0),
    ]);
  });
});

Deno.test("generation 2 rejects empty records", async () => {
  await withTempDir(async (dir) => {
    const empty = {
      name: "WriteError",
      code: "empty-record",
      sample: 1,
      message: /generation 3 or 1/,
    };
    const path = `${dir}/g2.bag`;
    await using writer = await BagWriter.open(path, { generation: 2 });
    await writer.write(Uint8Array.of(1));
    await assert.rejects(writer.write(new Uint8Array(0)), empty);
    await assert.rejects(writer.write(new Blob([])), empty);
    assert.throws(() => writer.writeSync(new Uint8Array(0)), empty);
    assert.equal(await writer.write(Uint8Array.of(2)), 1);
    await writer.close();
    assert.deepEqual(naiveBag(path, 2), [Uint8Array.of(1), Uint8Array.of(2)]);
  });
});

Deno.test("generations 1 and 2 replace nothing", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.bag`, "old");
    fs.writeFileSync(`${dir}/b.idx`, "");
    const exists = { name: "WriteError", code: "exists" };
    for (const generation of [1, 2] as const) {
      await assert.rejects(
        BagWriter.open(`${dir}/a.bag`, { generation }),
        exists,
      );
      await assert.rejects(BagWriter.open(`${dir}/b.bag`, { generation }), {
        ...exists,
        message: /b\.idx exists, and would be taken for its index/,
      });
      using writer = BagWriter.openSync(`${dir}/c.bag`, { generation });
      fs.writeFileSync(`${dir}/c.bag`, "meanwhile");
      assert.throws(() => writer.closeSync(), exists);
      assert.equal(fs.readFileSync(`${dir}/c.bag`, "utf8"), "meanwhile");
      fs.unlinkSync(`${dir}/c.bag`);
    }
    assert.equal(fs.readFileSync(`${dir}/a.bag`, "utf8"), "old");
    assert.deepEqual(fs.readdirSync(dir).sort(), ["a.bag", "b.idx"]);
  });
});

Deno.test("an invalid path for a bag is reported", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/d.bag`);
    fs.mkdirSync(`${dir}/e.idx`);
    for (const generation of GENERATIONS) {
      const refuses = (name: string, code: string, message: RegExp) =>
        assert.rejects(BagWriter.open(`${dir}/${name}`, { generation }), {
          name: "WriteError",
          code,
          message,
        });
      await refuses("a.idx", "bad-name", /must end in \.bag/);
      await refuses("none/a.bag", "ENOENT", /none does not exist/);
      await refuses(
        "d.bag",
        generation === 3 ? "not-a-file" : "exists",
        /d\.bag/,
      );
      await refuses(
        "e.bag",
        generation === 3 ? "not-a-file" : "exists",
        /e\.idx/,
      );
    }
    const generation = 4 as 3;
    await assert.rejects(
      BagWriter.open(`${dir}/a.bag`, { generation }),
      /1, 2 or 3/,
    );
    assert.deepEqual(fs.readdirSync(dir).sort(), ["d.bag", "e.idx"]);
  });
});

Deno.test("a value that is not a record is rejected", async () => {
  await withTempDir(async (dir) => {
    await using writer = await BagWriter.open(`${dir}/a.bag`);
    for (const record of ["text", [1, 2], null, undefined, {}, 7]) {
      await assert.rejects(writer.write(record as unknown as Blob), TypeError);
    }
    assert.throws(
      () => writer.writeSync(new Blob(["a"]) as unknown as ArrayBuffer),
      /must be awaited/,
    );
    assert.equal(await writer.write(Uint8Array.of(1)), 0);
  });
});

Deno.test("a closed writer rejects records, and closing it again does nothing", async () => {
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const closed = { name: "WriteError", code: "closed", message: /closed/ };
      const writer = await BagWriter.open(`${dir}/c${generation}.bag`, {
        generation,
      });
      await writer.write(Uint8Array.of(1));
      const closing = writer.close();
      await assert.rejects(writer.write(Uint8Array.of(1)), closed);
      await closing;
      await writer.close();
      writer.closeSync();
      writer.abort();
      await assert.rejects(writer.flush(), closed);
      assert.throws(() => writer.writeSync(Uint8Array.of(1)), closed);
      assert.equal(naiveBag(writer.path, generation).length, 1);

      const aborted = BagWriter.openSync(`${dir}/a${generation}.bag`, {
        generation,
      });
      aborted.writeSync(Uint8Array.of(1));
      aborted.flushSync();
      aborted.writeSync(Uint8Array.of(2));
      aborted.abort();
      await assert.rejects(aborted.close(), {
        code: "closed",
        message: /was aborted/,
      });
      if (generation === 3) {
        assert.deepEqual(naiveBag(aborted.path, 3), [Uint8Array.of(1)]);
      } else assert.ok(!fs.existsSync(aborted.path));
    }
    assert.deepEqual(
      fs.readdirSync(dir).filter((name) => name.startsWith(".")),
      [],
    );
  });
});
