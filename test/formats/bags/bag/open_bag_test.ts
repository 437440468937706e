/** Detection of bags and of their generation. */
import assert from "node:assert/strict";
import { FormatError } from "../../../../src/base/errors.ts";
import { openBag } from "../../../../src/formats/bags/bag/open_bag.ts";
import { indexPath } from "../../../../src/formats/bags/bag/bag.ts";
import {
  type BagOptions,
  BagReader,
  DatasetReader,
  type Generation,
} from "../../../../src/formats/bags/mod.ts";
import { runAsync, runSync } from "../../../../src/io/concurrency/steps.ts";
import { openSync } from "../../../../src/open/mod.ts";
import {
  u64s,
  writeBag,
  writeDataset,
} from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

const bytes = (length: number) => new Uint8Array(length).fill(7);

Deno.test("the index is next to a bag of generation 3", () => {
  assert.equal(indexPath("a/b.c/text.bag"), "a/b.c/text.idx");
  assert.equal(indexPath("a.b/text"), "a.b/text.idx");
});

Deno.test("the generation is detected by the content", async () => {
  await withTempDir(async (dir) => {
    for (const generation of [1, 2, 3] as const) {
      const path = `${dir}/${generation}.bag`;
      writeBag(path, [bytes(3), bytes(0), bytes(5)], generation);
      const bag = await runAsync(openBag(path));
      assert.equal(bag.generation, generation);
      assert.equal(bag.length, 3);
      bag.close();
    }
  });
});

Deno.test("empty files and empty indexes are empty bags", async () => {
  await withTempDir((dir) => {
    const lengths = ([1, 2, 3] as const).map((generation) => {
      const path = `${dir}/${generation}.bag`;
      writeBag(path, [], generation);
      const bag = runSync(openBag(path));
      bag.close();
      return [bag.generation, bag.length];
    });
    assert.deepEqual(lengths, [[1, 0], [2, 0], [3, 0]]);
  });
});

Deno.test("a forced generation overrides the content", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    // With an empty first record, which its own writer rejects, a bag of generation 2 looks like generation 1.
    writeBag(path, [bytes(0), bytes(4)], 2);
    const read = (options: BagOptions) => {
      using bag = BagReader.openSync(path, options);
      return bag.rangeSync(0, 9).map(({ length }) => length);
    };
    assert.deepEqual(read({}), [4]);
    assert.deepEqual(read({ generation: 1 }), [4]);
    assert.deepEqual(read({ generation: 2 }), [0, 4]);
    assert.throws(() => read({ generation: 3 }), /a\.idx is missing/);
    writeBag(path, [bytes(1), bytes(4)], 2);
    assert.throws(() => read({ generation: 1 }), /first limit must be 0/);
  });
});

Deno.test("bytes after the last entry of a live writer's index are ignored", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    writeBag(path, [bytes(3), bytes(5)], 3);
    Deno.writeFileSync(path, bytes(100), { append: true });
    using bag = BagReader.openSync(path);
    assert.deepEqual([bag.length, bag.size], [2, 8 + 16]);
    // Records appended while it is open are neither visible nor harmful.
    writeBag(path, [bytes(3), bytes(5), bytes(7)], 3);
    assert.deepEqual(bag.rangeSync(0, 9), [bytes(3), bytes(5)]);
  });
});

Deno.test("record bytes are not mistaken for an index", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    const refused = (content: Uint8Array) => {
      Deno.writeFileSync(path, content);
      assert.throws(() => BagReader.openSync(path), (error: unknown) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.equal(error.code, "truncated");
        return true;
      });
    };
    // Only the last of 4000 entries is lost, so that the one before it looks like the end of the index.
    const ends = Array.from({ length: 4001 }, (_, i) => 8 * i);
    const whole = new Uint8Array([...bytes(32_000), ...u64s(ends)]);
    Deno.writeFileSync(path, whole);
    BagReader.openSync(path).close();
    refused(whole.subarray(0, -8));
    refused(whole.subarray(0, -4000));
    refused(whole.subarray(0, 16_000));
  });
});

Deno.test("a bag of generation 3 whose index is lost names the missing index, whatever its bytes", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    const contents = [
      bytes(3),
      bytes(50), // read as a trailer, it points past the end
      Uint8Array.of(...bytes(50), ...u64s([3])), // not a multiple of 8 before the end
      Uint8Array.of(...bytes(48), ...u64s([8])), // record bytes in place of entries
    ];
    for (const content of contents) {
      Deno.writeFileSync(path, content);
      assert.throws(
        () => BagReader.openSync(path),
        /a\.idx next to it \(no index: neither a trailer nor an \.idx file\)/,
      );
    }
  });
});

Deno.test("an .idx that is not a bag's own is ignored, with a warning", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    const records = [bytes(30), bytes(7)];
    const warnings: string[] = [];
    const open = () =>
      BagReader.openSync(path, { onWarning: (text) => warnings.push(text) });
    const strays = [
      new TextEncoder().encode("0 30\n30 37\n"), // written by another tool
      u64s([30, 37, 1000]), // belongs to a longer bag
      u64s([37, 30]),
    ];
    for (const generation of [1, 2] as const) {
      writeBag(path, records, generation);
      for (const stray of strays) {
        Deno.writeFileSync(`${dir}/a.idx`, stray);
        using bag = open();
        assert.equal(bag.generation, generation);
        assert.deepEqual(bag.rangeSync(0, 9), records);
        assert.match(warnings.splice(0).join(), /a\.idx is ignored/);
      }
      // For the same records: the bag was converted in place.
      Deno.writeFileSync(`${dir}/a.idx`, u64s([30, 37]));
      using bag = open();
      assert.deepEqual(bag.rangeSync(0, 9), records);
    }
    assert.deepEqual(warnings, []);
    // In generation 3 it is the index, even if damaged.
    for (const stray of strays) {
      writeBag(path, records, 3);
      Deno.writeFileSync(`${dir}/a.idx`, stray);
      using bag = open();
      assert.equal(bag.generation, 3);
    }
  });
});

Deno.test("the keys of a dataset with references have their indexes in their bags", async () => {
  await withTempDir((dir) => {
    const datapoints = [{ a: bytes(5) }, { a: bytes(6) }];
    for (const generation of [1, 2] as const) {
      const path = `${dir}/${generation}`;
      writeDataset(path, { a: "bytes" }, datapoints, generation);
      Deno.writeFileSync(`${path}/a.idx`, u64s([3, 4])); // as if the records were shorter
      using reader = DatasetReader.openSync(path, { decoders: null });
      assert.deepEqual(reader.getSync(1), datapoints[1]);
      using tree = openSync(path);
      assert.deepEqual(tree.readSync("000001/a"), datapoints[1]!.a);
    }
  });
});

Deno.test("each end offset of a bag is checked on use", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/a.bag`;
    const good = [10, 20, 30, 40, 50];
    const faults = (ends: readonly (number | bigint)[]) => {
      Deno.writeFileSync(path, bytes(50));
      Deno.writeFileSync(`${dir}/a.idx`, u64s(ends));
      return [true, false].map((cacheIndex) => {
        using bag = BagReader.openSync(path, { cacheIndex });
        return good.flatMap((_, i) => {
          try {
            bag.getSync(i);
            return [];
          } catch (error) {
            assert.equal((error as FormatError).code, "bad-index");
            return [i];
          }
        });
      });
    };
    const both = (records: number[]) => [records, records];
    assert.deepEqual(faults(good), both([]));
    assert.deepEqual(faults([10, 20, 5, 40, 50]), both([2, 3]));
    assert.deepEqual(faults([10, 20, 0, 40, 50]), both([2, 3]));
    assert.deepEqual(faults([10, 20, 51, 40, 50]), both([2, 3]));
    assert.deepEqual(faults([10, 20, 2n ** 64n - 1n, 40, 50]), both([2, 3]));
    assert.deepEqual(faults([10, 20, 2n ** 53n + 1n, 40, 50]), both([2, 3]));
    assert.deepEqual(faults([99, 20, 30, 40, 50]), both([0, 1]));
    assert.deepEqual(faults([10, 20, 30, 40, 51]), both([4]));
  });
});

Deno.test("a bag that was truncated or replaced while it is open is an error", async () => {
  await withTempDir(async (dir) => {
    for (const generation of [1, 2, 3] satisfies Generation[]) {
      for (const cacheIndex of [true, false]) {
        const path = `${dir}/${generation}.bag`;
        writeBag(path, [bytes(3000), bytes(5000)], generation);
        using bag = BagReader.openSync(path, { cacheIndex });
        await Deno.truncate(path, 4000);
        assert.throws(
          () => bag.getSync(1),
          /ended \d+ bytes early|was truncated after it was opened/,
        );
        await assert.rejects(bag.get(1), FormatError);
        await assert.rejects(bag.read([0, 1]), FormatError);
      }
    }
  });
});

Deno.test("a file that is not a bag is rejected by name", async () => {
  await withTempDir((dir) => {
    assert.throws(() => BagReader.openSync(dir), /not a regular file/);
    assert.throws(() => BagReader.openSync(`${dir}/no.bag`), /no such file/);
  });
});
