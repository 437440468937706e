/** Resumed bags and datasets of generation 3: the cases of granular's tests/test_resume.py, and more. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { BagWriter } from "../../../../src/formats/bags/write/bag_writer.ts";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import {
  filesBelow,
  naiveBag,
  naiveDataset,
} from "../../../support/bags/naive_bags.ts";
import { fromFileUrl, withTempDir } from "../../../support/paths.ts";

const text = (text: string) => new TextEncoder().encode(text);

/** Writes records to a bag, like a process that ends normally. */
function append(path: string, ...records: string[]): void {
  using writer = BagWriter.openSync(path);
  for (const record of records) writer.writeSync(text(record));
  writer.closeSync();
}

function records(path: string): string[] {
  return naiveBag(path, 3).map((bytes) => new TextDecoder().decode(bytes));
}

Deno.test("a bag is continued after its last record", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    append(path);
    append(path, "record1", "record2");
    using writer = BagWriter.openSync(path);
    assert.equal(writer.length, 2);
    assert.equal(writer.size, 14 + 16);
    assert.equal(writer.writeSync(text("record3")), 2);
    writer.closeSync();
    assert.deepEqual(records(path), ["record1", "record2", "record3"]);
  });
});

Deno.test("bytes after the end of the index are reused if they are the same", async () => {
  await withTempDir((dir) => {
    for (const ahead of ["rec", "record2", "record2rec", "record2record3"]) {
      const path = `${dir}/${ahead}.bag`;
      append(path, "record1");
      fs.appendFileSync(path, ahead);
      append(path, "record2", "record3");
      assert.deepEqual(records(path), ["record1", "record2", "record3"]);
      assert.equal(fs.statSync(path).size, 21);
    }
  });
});

Deno.test("megabytes after the end of the index are reused", async () => {
  await withTempDir(async (dir) => {
    const sizes = [1, 100_000, 300_000, 1_100_000, 3, 700_000, 2_000_000];
    const records = sizes.map((size, i) => new Uint8Array(size).fill(i + 1));
    const all = new Uint8Array(
      records.reduce((sum, { length }) => sum + length, 0),
    );
    let end = 0;
    for (const record of records) {
      all.set(record, end);
      end += record.length;
    }
    for (
      const cut of [
        0,
        1,
        50_000,
        100_001,
        400_001,
        2_000_000,
        all.length - 1,
        all.length,
      ]
    ) {
      const path = `${dir}/${cut}.bag`;
      append(path);
      fs.writeFileSync(path, all.subarray(0, cut));
      await using writer = await BagWriter.open(path);
      for (const record of records) {
        await writer.write(cut % 2 ? new Blob([record]) : record);
      }
      await writer.close();
      assert.deepEqual(naiveBag(path, 3).map(({ length }) => length), sizes);
      assert.ok(fs.readFileSync(path).equals(all));
    }
  });
});

Deno.test("other bytes after the end of the index are an error with a hint", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.bag`;
    append(path, "record1", "record2");
    fs.appendFileSync(path, "other");
    const before = filesBelow(dir);
    await using writer = await BagWriter.open(path);
    await assert.rejects(
      writer.write(text("record3")),
      (error: Error & Record<string, unknown>) => {
        assert.equal(error.name, "WriteError");
        assert.equal(error.code, "mismatch");
        assert.equal(error.sample, 2);
        assert.match(
          error.message,
          /record 2 differs from the one that is there already/,
        );
        return true;
      },
    );
    assert.equal(writer.length, 2);
    await assert.rejects(writer.write(text("third")), {
      code: "mismatch",
      sample: 2,
    });
    writer.abort();
    assert.deepEqual(filesBelow(dir), before);
    // Checks the message.
    const error = await BagWriter.open(path).then(async (writer) => {
      await using _ = writer;
      return await writer.write(text("third")).catch(({ message }) => message);
    });
    const [, commands] = /cut it off: (.*)$/.exec(error)!;
    for (const command of commands!.split(" and ")) {
      const { success } = await new Deno.Command("sh", {
        args: ["-c", command],
      }).output();
      assert.ok(success, command);
    }
    append(path, "third");
    assert.deepEqual(records(path), ["record1", "record2", "third"]);
  });
});

Deno.test("a partly written entry is removed", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    append(path, "record1", "record2");
    for (let bytes = 1; bytes < 8; bytes++) {
      fs.truncateSync(`${dir}/a.idx`, 8 + bytes);
      append(path, "record2");
      assert.deepEqual(records(path), ["record1", "record2"]);
      assert.equal(fs.statSync(`${dir}/a.idx`).size, 16);
    }
  });
});

Deno.test("a bag without an index is not treated as empty", async () => {
  await withTempDir((dir) => {
    for (const generation of [1, 2] as const) {
      const path = `${dir}/${generation}.bag`;
      using writer = BagWriter.openSync(path, { generation });
      writer.writeSync(text("record1"));
      writer.closeSync();
      const before = filesBelow(dir);
      assert.throws(() => BagWriter.openSync(path), {
        code: "missing-index",
        message: /generation 1 or 2/,
      });
      assert.deepEqual(filesBelow(dir), before);
    }
    // As the message advises, the bag is resumed with the same records and an empty index.
    fs.writeFileSync(`${dir}/a.bag`, "record1");
    assert.throws(() => append(`${dir}/a.bag`, "record1"), {
      code: "missing-index",
    });
    fs.writeFileSync(`${dir}/a.idx`, "");
    append(`${dir}/a.bag`, "record1");
    assert.deepEqual(records(`${dir}/a.bag`), ["record1"]);
  });
});

Deno.test("an index that points past the end is not appended to", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    append(path, "record1", "record2");
    fs.truncateSync(path, 10);
    const before = filesBelow(dir);
    assert.throws(() => BagWriter.openSync(path), {
      name: "FormatError",
      code: "bad-index",
      message: /byte 14 of 10/,
    });
    assert.deepEqual(filesBelow(dir), before);
    fs.truncateSync(`${dir}/a.idx`, 8); // as the message advises
    append(path, "record2");
    assert.deepEqual(records(path), ["record1", "record2"]);
    fs.writeFileSync(`${dir}/a.idx`, new Uint8Array(80));
    assert.throws(() => BagWriter.openSync(path), {
      name: "FormatError",
      code: "bad-index",
      message: /damaged/,
    });
  });
});

Deno.test("a bag is not continued while a write of an aborted writer is running", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.bag`;
    const writer = await BagWriter.open(path);
    const writing = writer.write(new Uint8Array(64 * 2 ** 20).fill(1));
    writer.abort();
    assert.throws(() => BagWriter.openSync(path), { code: "busy" });
    await Promise.allSettled([writing]);
    fs.truncateSync(path, 0); // otherwise, data written ahead would have to be repeated
    append(path, "record1");
    assert.deepEqual(records(path), ["record1"]);
  });
});

Deno.test("a bag has one writer at a time", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.bag`;
    const busy = {
      name: "WriteError",
      code: "busy",
      message: /another writer/,
    };
    const writer = await BagWriter.open(path);
    await writer.write(text("record1"));
    await assert.rejects(BagWriter.open(path), busy);
    assert.throws(() => BagWriter.openSync(path), busy);
    await writer.close();
    append(path, "record2");
    BagWriter.openSync(path).abort();
    append(path, "record3");
    assert.deepEqual(records(path), ["record1", "record2", "record3"]);

    const options = { encoders: null };
    await using dataset = await DatasetWriter.open(
      `${dir}/d`,
      { k: "bytes" },
      options,
    );
    await assert.rejects(
      DatasetWriter.open(`${dir}/d`, { k: "bytes" }, options),
      busy,
    );
    await assert.rejects(BagWriter.open(`${dir}/d/k.bag`), busy);
    await dataset.close();
    (await BagWriter.open(`${dir}/d/k.bag`)).abort();
  });
});

Deno.test("readers see flushed records", async () => {
  await withTempDir(async (dir) => {
    for (const sync of [false, true]) {
      const path = `${dir}/${sync}.bag`;
      await using writer = await BagWriter.open(path);
      await writer.write(text("record1"));
      assert.deepEqual(records(path), []);
      await writer.flush({ sync });
      assert.deepEqual(records(path), ["record1"]);
      await writer.write(text("record2"));
      writer.abort();
      assert.deepEqual(records(path), ["record1"]);
    }
  });
});

const KILLED = fromFileUrl(
  new URL("../../../golden/granular3/killed_writer/data", import.meta.url),
);

Deno.test("a dataset whose writer was killed is continued with the same datapoints", async () => {
  const { spec, datapoints } = naiveDataset(KILLED, 3);
  const next = naiveBag(`${KILLED}/b.bag`, 3)[datapoints.length]!; // b is one ahead of a
  const end = naiveBag(`${KILLED}/a.bag`, 3).reduce(
    (sum, { length }) => sum + length,
    0,
  );
  const partial = new Uint8Array(
    fs.readFileSync(`${KILLED}/a.bag`).subarray(end),
  );
  await withTempDir(async (dir) => {
    const path = `${dir}/data`;
    const options = { encoders: null };
    fs.cpSync(KILLED, path, { recursive: true });
    await using writer = await DatasetWriter.open(path, spec, options);
    assert.equal(writer.length, datapoints.length);
    const a = partial.length > 0 ? partial : text("next");
    const added = [{ a, b: next }, { a: text("more"), b: text("more") }];
    const other = { a, b: text("other than it was") };
    const mismatch = {
      code: "mismatch",
      sample: datapoints.length,
      message: /b\.bag/,
    };
    await assert.rejects(writer.write(other), mismatch);
    const shorter = { a, b: next.subarray(0, -1) };
    await assert.rejects(writer.write(shorter), mismatch);
    for (const datapoint of added) await writer.write(datapoint);
    await writer.close();
    const expected = { spec, datapoints: [...datapoints, ...added] };
    assert.deepEqual(naiveDataset(path, 3), expected);

    // The files equal those of an uninterrupted writer.
    await using whole = await DatasetWriter.open(`${dir}/whole`, spec, options);
    for (const datapoint of expected.datapoints) await whole.write(datapoint);
    await whole.close();
    assert.deepEqual(filesBelow(path), filesBelow(`${dir}/whole`));
  });
});

Deno.test("a dataset is continued with the same spec only", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/data`;
    const options = { encoders: null };
    const open = (spec: Record<string, string>) =>
      DatasetWriter.open(path, spec, options);
    await using writer = await open({ b: "utf8", a: "int" });
    await writer.write({ a: text("1"), b: text("2") });
    await writer.close();
    const before = filesBelow(dir);
    for (
      const [spec, keys] of [
        [{ a: "int" }, "'b'"],
        [{ a: "int", b: "bytes" }, "'b'"],
        [{ a: "int", b: "utf8", c: "x" }, "'c'"],
      ] as const
    ) {
      const differs = {
        name: "WriteError",
        code: "spec-differs",
        message: new RegExp(keys),
      };
      await assert.rejects(open(spec as Record<string, string>), differs);
    }
    assert.deepEqual(filesBelow(dir), before);
    // The order of keys does not matter, as in Python's comparison of dicts.
    fs.writeFileSync(`${path}/spec.json`, '{"b":"utf8",\n "a":"int"}');
    (await open({ a: "int", b: "utf8" })).abort();
    fs.writeFileSync(`${path}/spec.json`, '{"b":');
    await assert.rejects(open({ a: "int", b: "utf8" }), {
      name: "FormatError",
      code: "bad-spec",
    });
  });
});

Deno.test("datasets of generations 1 and 2 cannot be continued", async () => {
  await withTempDir(async (dir) => {
    for (const generation of [1, 2] as const) {
      const path = `${dir}/${generation}`;
      const spec = { a: "bytes", b: "bytes[]" };
      await using writer = await DatasetWriter.open(path, spec, {
        encoders: null,
        generation,
      });
      await writer.write({ a: text("1"), b: [] });
      await writer.close();
      const before = filesBelow(path);
      await assert.rejects(DatasetWriter.open(path, spec, { encoders: null }), {
        name: "WriteError",
        code: "exists",
        message: /generation 1 or 2/,
      });
      assert.deepEqual(filesBelow(path), before);
    }
  });
});
