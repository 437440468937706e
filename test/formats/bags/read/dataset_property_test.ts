/** Random datasets of any generation, compared with a reader that holds everything in memory. */
import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  BagReader,
  DatasetReader,
  type Mask,
  RecordMemory,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { byCodePoint } from "../../../../src/base/names.ts";
import {
  type Records,
  writeBag,
  writeDataset,
} from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

/** Records that are valid in every generation: the first is not empty. */
const records = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 12 })
  .map((all) =>
    all.map((bytes, i) => i === 0 ? Uint8Array.of(1, ...bytes) : bytes)
  );

const generation = fc.constantFrom<1 | 2 | 3>(1, 2, 3);
const position = fc.nat({ max: 14 });

Deno.test("any bag is read as it was written", async () => {
  await withTempDir(async (parent) => {
    let run = 0;
    await fc.assert(fc.asyncProperty(
      records,
      generation,
      fc.boolean(),
      fc.array(position),
      position,
      position,
      async (all, generation, cacheIndex, picks, start, count) => {
        const dir = `${parent}/${run++}`;
        const path = `${dir}/a.bag`;
        await Deno.mkdir(dir);
        writeBag(path, all, generation);
        using bag = BagReader.openSync(path, { cacheIndex });
        assert.deepEqual([bag.generation, bag.length], [
          generation,
          all.length,
        ]);
        let size = 0;
        for await (const { name } of Deno.readDir(dir)) {
          size += (await Deno.stat(`${dir}/${name}`)).size;
        }
        assert.equal(bag.size, size);
        const indices = picks.filter((i) => i < all.length);
        const batch = indices.map((i) => all[i]!);
        const memory = new RecordMemory();
        assert.deepEqual(bag.readSync(indices), batch);
        assert.deepEqual(await bag.read(indices, { memory }), batch);
        assert.deepEqual(indices.map((i) => bag.getSync(i)), batch);
        const range = all.slice(start, start + count);
        assert.deepEqual(bag.rangeSync(start, start + count), range);
        assert.deepEqual(
          await bag.range(start, start + count, { memory }),
          range,
        );
      },
    ));
  });
});

const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 });
const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter(
  (key) => !/[/\0]|^\.{1,2}$|^refs$/.test(key) && key.isWellFormed(),
).map((key) => key.normalize());

/** Sharded datasets: which keys are lists, and the content of each shard's datapoints. */
const datasets = fc.record({
  generation,
  keys: fc.uniqueArray(fc.record({ key, isList: fc.boolean() }), {
    selector: ({ key }) => key,
    minLength: 1,
    maxLength: 4,
  }),
}).chain(({ generation, keys }) => {
  keys.sort((a, b) => byCodePoint(a.key, b.key));
  const types = keys.map(({ key, isList }) => ({
    key,
    isList: isList && generation < 3,
  }));
  const values = types.map(({ isList }) =>
    isList ? fc.array(bytes, { maxLength: 4 }) : bytes
  );
  const datapoint = fc.tuple(...values).map((all): Records =>
    Object.fromEntries(all.map((value, i) => [types[i]!.key, value]))
  );
  return fc.record({
    generation: fc.constant(generation),
    spec: fc.constant(
      Object.fromEntries(
        types.map(({ key, isList }) => [key, isList ? "x[]" : "x"]),
      ),
    ),
    shards: fc.array(fc.array(datapoint, { maxLength: 5 }), {
      minLength: 1,
      maxLength: 4,
    }),
  });
});

const options = fc.record({
  cacheIndex: fc.boolean(),
  parallel: fc.boolean(),
  isCached: fc.boolean(),
});

Deno.test("any dataset is read as it was written", async () => {
  await withTempDir(async (dir) => {
    let run = 0;
    await fc.assert(fc.asyncProperty(
      datasets,
      options,
      fc.infiniteStream(position),
      async (
        { generation, spec, shards },
        { isCached, ...others },
        numbers,
      ) => {
        const path = `${dir}/${run++}`;
        shards.forEach((datapoints, i) =>
          writeDataset(`${path}/00000${i}`, spec, datapoints, generation)
        );
        const cacheKeys = isCached ? Object.keys(spec) : [];
        const all = shards.flat();
        const opened = { ...others, cacheKeys, decoders: null };
        using reader = await ShardedDatasetReader.open(path, opened);
        assert.equal(reader.length, all.length);
        for (const [i, datapoint] of all.entries()) {
          const { mask, expected } = masked(datapoint, numbers);
          assert.deepEqual(reader.getSync(i, mask), expected);
          assert.deepEqual(await reader.get(i, mask), expected);
          const sizes = Object.entries(datapoint).map(([key, value]) => [
            key,
            value instanceof Uint8Array ? true : value.length,
          ]);
          assert.deepEqual(
            await reader.available(i),
            Object.fromEntries(sizes),
          );
        }
        const start = numbers.next().value;
        const stop = start + numbers.next().value;
        const part = all.slice(start, stop);
        assert.deepEqual(
          await reader.range(start, stop),
          Object.fromEntries(
            Object.keys(spec).map((key) => [key, part.map((of) => of[key])]),
          ),
        );
        const picks = Array.from({ length: 9 }, () => numbers.next().value)
          .filter((i) => i < all.length);
        const batch = picks.map((i) => all[i]);
        const memory = new RecordMemory();
        assert.deepEqual(reader.readSync(picks), batch);
        assert.deepEqual(await reader.read(picks), batch);
        assert.deepEqual(
          await reader.read(picks, undefined, { memory }),
          batch,
        );
        using first = DatasetReader.openSync(`${path}/000000`, opened);
        assert.deepEqual(
          shards[0]!.map((_, i) => first.getSync(i)),
          shards[0],
        );
        const backwards = [...shards[0]!.keys()].toReversed();
        assert.deepEqual(
          await first.read(backwards),
          shards[0]!.toReversed(),
        );
      },
    ));
  });
});

/** Returns a mask, and the content expected with it. */
function masked(
  datapoint: Records,
  numbers: Iterator<number>,
): { mask: Mask; expected: Record<string, unknown> } {
  const mask: Record<string, boolean | { start: number; stop: number }> = {};
  const expected: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(datapoint)) {
    const choice = numbers.next().value % 4;
    if (choice === 0) continue;
    if (choice === 1) mask[key] = false;
    else if (choice === 2 || value instanceof Uint8Array) {
      mask[key] = true;
      expected[key] = value;
    } else {
      const start = numbers.next().value % 5;
      const stop = start + numbers.next().value % 5;
      mask[key] = { start, stop };
      expected[key] = value.slice(start, stop);
    }
  }
  return { mask, expected };
}
