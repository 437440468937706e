/** Decoded views next to values. */
import assert from "node:assert/strict";
import { readNpy } from "../../../../src/codecs/numpy/mod.ts";
import { writeMsgpack } from "../../../../src/codecs/msgpack/mod.ts";
import { FormatError } from "../../../../src/base/errors.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { bagCases, datasetCase } from "../../../support/bags/bag_golden.ts";
import {
  assertConsistent,
  numberName,
} from "../../../support/bags/bag_trees.ts";
import { writeDataset } from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const utf8 = (value: string) => new TextEncoder().encode(value);

for (const name of ["granular/types", "granular2/types", "granular3/types"]) {
  Deno.test(`${name}: whole numbers and arrays are shown as written`, () => {
    const { path, content } = datasetCase(name);
    using fs = openSync(path, { decoded: true });
    let [numbers, arrays] = [0, 0];
    const { spec, datapoints = [] } = content!;
    for (const [i, datapoint] of datapoints.entries()) {
      for (const [key, type] of Object.entries(spec)) {
        const file = `${numberName(i)}/${key}`;
        if (type === "int") {
          const value = datapoint[key] as number | { $int: string };
          const shown = text(fs.readSync(`${file}.json`));
          const digits = typeof value === "number" ? value : value.$int;
          assert.equal(shown, `${digits}\n`);
          numbers++;
        } else if (type === "array") {
          const { $array } = datapoint[key] as {
            $array: { dtype: string; shape: number[] };
          };
          const shown = readNpy(fs.readSync(`${file}.npy`));
          assert.equal(shown.dtype.slice(1), $array.dtype.slice(1));
          assert.deepEqual(shown.shape, $array.shape);
          arrays++;
        }
      }
    }
    if (datapoints.length > 0) assert.ok(numbers > 0 && arrays > 0);
    assertConsistent(fs);
    const walked = [...fs.walkSync()].length;
    assert.equal(fs.tree.nodeCount, walked + 1);
  });
}

Deno.test("elements of lists have views, and keys take precedence over views of the same name", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, {
      a: "utf8[]",
      b: "msgpack",
      "b.json": "bytes",
      c: "array(float32,2)",
      d: "own",
    }, [{
      a: [utf8("x"), utf8("yz")],
      b: writeMsgpack({ k: [1, null] }),
      "b.json": utf8("key"),
      c: new Uint8Array(Float32Array.of(1, 2).buffer),
      d: utf8("raw"),
    }], 1);
    using fs = openSync(dir, { decoded: true });
    assert.deepEqual(fs.listSync("000000"), [
      "a",
      "b",
      "b.json",
      "c",
      "c.npy",
      "d",
    ]);
    assert.deepEqual(fs.listSync("000000/a"), [
      "000000",
      "000000.txt",
      "000001",
      "000001.txt",
    ]);
    assert.equal(text(fs.readSync("000000/a/000001.txt")), "yz");
    assert.equal(text(fs.readSync("000000/b.json")), "key");
    const { data } = readNpy(fs.readSync("000000/c.npy"));
    assert.deepEqual(data, Float32Array.of(1, 2));
    assertConsistent(fs);
    using plain = openSync(dir);
    assert.deepEqual(plain.listSync("000000"), ["a", "b", "b.json", "c", "d"]);
    for (const { path } of plain.walkSync()) {
      assert.equal(plain.statSync(path).ino, fs.statSync(path).ino);
    }
  });
});

Deno.test("a value that does not decode is named, and the raw one is shown", async () => {
  await withTempDir((dir) => {
    const good = writeMsgpack([1]);
    writeDataset(dir, { v: "msgpack" }, [
      { v: good },
      { v: good.slice(0, -1) },
      { v: new Uint8Array(100_000).fill(0x91) },
    ], 3);
    using fs = openSync(dir, { decoded: true });
    assert.equal(text(fs.readSync("000000/v.json")), "[1]\n");
    for (const record of [1, 2]) {
      const directory = numberName(record);
      assert.deepEqual(fs.listSync(directory), ["v", "v.json"]);
      assert.ok(fs.readSync(`${directory}/v`).length > 0);
      const view = `${directory}/v.json`;
      for (const ask of [() => fs.statSync(view), () => fs.readSync(view)]) {
        assert.throws(ask, (error) => {
          assert.ok(error instanceof FormatError);
          assert.equal(error.code, "bad-value");
          assert.match(
            error.message,
            new RegExp(`show record ${record} of .*v\\.bag decoded:`),
          );
          return true;
        });
      }
    }
  });
});

Deno.test("a single bag has no types, and so no views", () => {
  const { path, content } = bagCases.find(({ name }) => name === "bag/many")!;
  using fs = openSync(path, { decoded: true });
  assert.equal(fs.listSync().length, content!.length);
});

Deno.test("a value that would fill the memory with objects has no view, only its bytes", async () => {
  await withTempDir((dir) => {
    const count = 16 * 1024 * 1024;
    const maps = new Uint8Array(5 + count).fill(0x80); // empty maps
    maps.set([0xdd, count >>> 24, count >>> 16, count >>> 8, count]);
    writeDataset(dir, { a: "msgpack", b: "utf8" }, [
      { a: maps, b: utf8("x") },
    ], 3);
    using fs = openSync(dir, { decoded: true });
    assert.throws(
      () => fs.readSync("000000/a.json"),
      (error: unknown) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.match(
          error.message,
          /record 0 of .*a\.bag decoded: .*Read the value itself/,
        );
        return true;
      },
    );
    assert.equal(fs.statSync("000000/a").size, maps.length);
    assert.equal(text(fs.readSync("000000/b.txt")), "x");
  });
});
