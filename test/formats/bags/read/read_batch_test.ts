/** Behaviour of batches of datapoints beyond their values, which the property tests compare. */
import assert from "node:assert/strict";
import {
  FormatError,
  IndexError,
  RecordfsError,
} from "../../../../src/base/errors.ts";
import {
  DatasetReader,
  type Decoders,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { decoders } from "../../../support/bags/bag_decoders.ts";
import { type Records, writeDataset } from "../../../support/bags/make_bag.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

const LISTS = `${REPOSITORY}test/golden/granular2/lists/data`;
const SHARDED = `${REPOSITORY}test/golden/granular3/sharded/data`;

Deno.test("a batch reads what a mask selects, from shards in any order", async () => {
  using reader = await ShardedDatasetReader.open(SHARDED, { decoders });
  const indices = [reader.length - 1, 0, reader.length - 1, 3];
  const key = reader.keys[0]!;
  for (const mask of [undefined, [key], { [key]: true }, []]) {
    const expected = indices.map((i) => reader.getSync(i, mask));
    assert.deepEqual(await reader.read(indices, mask), expected);
    assert.deepEqual(reader.readSync(new Set(indices), mask), [
      expected[0],
      expected[1],
      expected[3],
    ]);
  }
  assert.deepEqual(await reader.read([]), []);
  assert.deepEqual(await reader.read([], undefined, { memory: EMPTY }), []);
});

const EMPTY = { take: (length: number) => new Uint8Array(length) };

Deno.test("a batch allocates its memory in one piece, and its values do not overlap", async () => {
  using reader = await DatasetReader.open(LISTS, { decoders: null });
  const takes: Uint8Array<ArrayBuffer>[] = [];
  const memory = {
    take(length: number) {
      takes.push(new Uint8Array(length).fill(255));
      return takes.at(-1)!;
    },
  };
  const batch = await reader.read([1, 0, 1], undefined, { memory });
  assert.equal(takes.length, 1);
  const seen: [number, number][] = [];
  for (const datapoint of batch) {
    for (const value of Object.values(datapoint).flat()) {
      const bytes = value as Uint8Array;
      assert.equal(bytes.buffer, takes[0]!.buffer);
      seen.push([bytes.byteOffset, bytes.byteOffset + bytes.length]);
    }
  }
  seen.sort(([a], [b]) => a - b);
  seen.slice(1).forEach(([start], i) => assert.ok(start >= seen[i]![1]));
  assert.deepEqual(batch, [1, 0, 1].map((i) => reader.getSync(i)));
});

Deno.test("asynchronous decoders run concurrently, and all have ended when one has failed", async () => {
  await withTempDir(async (dir) => {
    const datapoints = Array.from({ length: 6 }, (_, i): Records => ({
      n: Uint8Array.of(i + 1),
      words: [Uint8Array.of(i), Uint8Array.of(9)],
    }));
    writeDataset(dir, { n: "int", words: "utf8[]" }, datapoints, 2);
    let waiting = 0;
    let most = 0;
    const together = Promise.withResolvers<void>();
    const slow = async (bytes: Uint8Array) => {
      most = Math.max(most, ++waiting);
      if (waiting === 2) together.resolve();
      await together.promise;
      await new Promise((resolve) => setTimeout(resolve, bytes[0]!));
      waiting--;
      if (bytes[0] === 2) throw new Error("two is odd");
      return bytes[0];
    };
    const waited: Decoders = { int: slow, utf8: ([first]) => first };
    using reader = await DatasetReader.open(dir, { decoders: waited });
    assert.deepEqual(await reader.read([3, 0]), [
      { n: 4, words: [3, 9] },
      { n: 1, words: [0, 9] },
    ]);
    assert.equal(most, 2);
    await assert.rejects(reader.read([0, 1, 5]), {
      message:
        `Cannot decode 'n' of datapoint 1 of ${dir}/n.bag as int: two is odd`,
      sample: 1,
    });
    assert.equal(waiting, 0);
    assert.throws(
      () => reader.readSync([0]),
      /is asynchronous: use the asynchronous method/,
    );
    assert.deepEqual(reader.readSync([5], ["words"]), [{ words: [5, 9] }]);
    using lists = await DatasetReader.open(dir, {
      decoders: { utf8: slow, int: ([n]) => n },
    });
    assert.deepEqual(await lists.read([1]), [{ n: 2, words: [1, 9] }]);
    await assert.rejects(lists.read([0, 2]), FormatError);
  });
});

Deno.test("a batch with missing indices or keys is rejected", async () => {
  using sharded = await ShardedDatasetReader.open(SHARDED, { decoders: null });
  using reader = await DatasetReader.open(LISTS, { decoders: null });
  for (const one of [sharded, reader]) {
    for (const index of [one.length, -1, 0.5, NaN]) {
      await assert.rejects(
        one.read([0, index]),
        (error) =>
          error instanceof IndexError && Object.is(error.index, index) &&
          error.message.includes(one.path),
      );
    }
    for (const indices of [[0], []]) {
      await assert.rejects(
        one.read(indices, ["nope"]),
        (error) =>
          error instanceof RecordfsError && error.code === "unknown-key",
      );
    }
    const memory = { take: () => new Uint8Array(1) };
    await assert.rejects(one.read([0], undefined, { memory }), {
      name: "TypeError",
      message: /gave 1 bytes, not the \d+ that it was asked for/,
    });
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(one.read([0], undefined, { signal }), /enough/);
    one.close();
    await assert.rejects(one.read([0]), { code: "closed" });
    await assert.rejects(one.read([]), { code: "closed" });
  }
});
