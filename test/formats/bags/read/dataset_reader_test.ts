/** Guarantees of a dataset reader beyond the values themselves. */
import assert from "node:assert/strict";
import { FormatError, RecordfsError } from "../../../../src/base/errors.ts";
import {
  DatasetReader,
  type Decoders,
  type Generation,
  type Mask,
  RecordMemory,
} from "../../../../src/formats/bags/mod.ts";
import { decoders } from "../../../support/bags/bag_decoders.ts";
import {
  packReferences,
  type Records,
  writeBag,
  writeDataset,
} from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

const text = (value: string) => new TextEncoder().encode(value);
const spec = { n: "int", words: "utf8[]" };
const datapoints: Records[] = Array.from({ length: 5 }, (_, i) => ({
  n: Uint8Array.of(i),
  words: Array.from({ length: i }, (_, k) => text(`w${i}.${k}`)),
}));
const words = (i: number) => Array.from({ length: i }, (_, k) => `w${i}.${k}`);

/** Runs `body` with datasets of generations 1 and 2. */
async function withLists(
  body: (dir: string, generation: Generation) => Promise<void> | void,
): Promise<void> {
  for (const generation of [1, 2] as const) {
    await withTempDir(async (dir) => {
      writeDataset(dir, spec, datapoints, generation);
      await body(dir, generation);
    });
  }
}

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RecordfsError, String(error));
    assert.equal(error.code, code);
    return true;
  };
}

Deno.test("a mask selects keys, and values of lists", async () => {
  await withLists(async (dir) => {
    using reader = DatasetReader.openSync(dir, { decoders });
    const answers: [Mask | undefined, unknown][] = [
      [undefined, { n: 4, words: words(4) }],
      [[], {}],
      [{}, {}],
      [["words"], { words: words(4) }],
      [["words", "n", "words"], { n: 4, words: words(4) }],
      [{ n: true, words: false }, { n: 4 }],
      [{ words: true }, { words: words(4) }],
      [{ words: { start: 1, stop: 3 } }, { words: ["w4.1", "w4.2"] }],
      [{ words: { start: 3, stop: 99 } }, { words: ["w4.3"] }],
      [{ words: { start: 3, stop: Infinity } }, { words: ["w4.3"] }],
      [{ words: { start: 2, stop: 2 } }, { words: [] }],
      [{ words: { start: 7, stop: 9 } }, { words: [] }],
    ];
    for (const [mask, expected] of answers) {
      assert.deepEqual(reader.getSync(4, mask), expected);
      assert.deepEqual(await reader.get(4, mask), expected);
      const range = await reader.range(4, 5, mask);
      const ofOne = Object.fromEntries(
        Object.entries(range).map(([key, [value]]) => [key, value]),
      );
      assert.deepEqual(ofOne, expected);
    }
  });
});

Deno.test("a mask with missing keys or values is rejected", async () => {
  await withLists(async (dir) => {
    using reader = DatasetReader.openSync(dir, { decoders });
    const unknown = hasCode("unknown-key");
    assert.throws(() => reader.getSync(0, ["nope"]), unknown);
    assert.throws(() => reader.getSync(0, { toString: true }), unknown);
    await assert.rejects(reader.get(0, { nope: false }), unknown);
    await assert.rejects(reader.range(0, 1, ["nope"]), unknown);
    const range = { start: 0, stop: 1 };
    assert.throws(() => reader.getSync(0, { n: range }), TypeError);
    assert.throws(
      () => reader.getSync(0, { words: 1 as unknown as boolean }),
      TypeError,
    );
    for (const [start, stop] of [[-1, 2], [2, 1], [0.5, 2], [0, NaN]]) {
      const mask = { words: { start: start!, stop: stop! } };
      assert.throws(() => reader.getSync(0, mask), RangeError);
      assert.throws(() => reader.rangeSync(start!, stop!), RangeError);
    }
    assert.throws(
      () => DatasetReader.openSync(dir, { decoders, cacheKeys: ["nope"] }),
      unknown,
    );
  });
});

Deno.test("a range of datapoints is clipped, and may be empty", async () => {
  await withLists((dir) => {
    using reader = DatasetReader.openSync(dir, { decoders });
    assert.deepEqual(reader.rangeSync(3, 99), {
      n: [3, 4],
      words: [words(3), words(4)],
    });
    assert.deepEqual(reader.rangeSync(2, 2), { n: [], words: [] });
    assert.deepEqual(reader.rangeSync(9, 12, ["n"]), { n: [] });
    const mask = { words: { start: 1, stop: 2 } };
    assert.deepEqual(reader.rangeSync(0, 4, mask), {
      words: [[], [], ["w2.1"], ["w3.1"]],
    });
  });
});

Deno.test("references are followed as written, also if datapoints share records", async () => {
  await withTempDir(async (dir) => {
    writeDataset(dir, spec, [{ n: Uint8Array.of(0), words: [] }], 2);
    const values = words(6).map(text);
    writeBag(`${dir}/words.bag`, values, 2);
    writeBag(`${dir}/n.bag`, [1, 2, 3].map((n) => Uint8Array.of(n)), 2);
    const references = [[2, [3, 3]], [0, [0, 4]], [2, []], [2, [2, 0]], [1, [
      3,
      3,
    ]]];
    writeBag(`${dir}/refs.bag`, references.map(packReferences), 2);
    const all = words(6);
    const expected = {
      n: [3, 1, 3, 3, 2],
      words: [all.slice(3), all.slice(0, 4), [], [], all.slice(3)],
    };
    for (const cacheIndex of [true, false]) {
      using reader = DatasetReader.openSync(dir, { decoders, cacheIndex });
      const memory = new RecordMemory();
      assert.deepEqual(await reader.range(0, 5), expected);
      assert.deepEqual(reader.rangeSync(0, 5, undefined, { memory }), expected);
      for (const [i, n] of expected.n.entries()) {
        assert.deepEqual(reader.getSync(i), { n, words: expected.words[i] });
      }
    }
  });
});

Deno.test("only the requested bytes are read", async () => {
  await withTempDir((dir) => {
    const many = words(9).map(text);
    writeDataset(dir, spec, [{ n: Uint8Array.of(1), words: many }], 1);
    // Unread bytes may be damaged: the file ends in the middle of the list.
    using reader = DatasetReader.openSync(dir, { decoders });
    Deno.truncateSync(`${dir}/words.bag`, 8);
    const mask = { words: { start: 0, stop: 2 } };
    assert.deepEqual(reader.getSync(0, mask), { words: ["w9.0", "w9.1"] });
    assert.deepEqual(reader.getSync(0, ["n"]), { n: 1 });
    assert.throws(
      () => reader.getSync(0),
      /words\.bag at byte 0: it ended \d+ bytes early/,
    );
  });
});

Deno.test("cached keys no longer need their files", async () => {
  await withLists(async (dir) => {
    const cacheKeys = ["n", "words", "refs"];
    for (const cacheIndex of [true, false]) {
      using reader = DatasetReader.openSync(dir, {
        decoders,
        cacheIndex,
        cacheKeys,
      });
      using some = DatasetReader.openSync(dir, { decoders, cacheKeys: ["n"] });
      const files = ["n", "words", "refs"].map((key) => `${dir}/${key}.bag`);
      const contents = files.map((file) => Deno.readFileSync(file));
      // Removes the records, but not the indexes.
      files.forEach((file, i) => {
        const zeros = contents[i]!.slice().fill(255, 0, 5);
        Deno.writeFileSync(file, zeros);
      });
      assert.deepEqual(reader.getSync(3), { n: 3, words: words(3) });
      assert.deepEqual(await reader.get(3), { n: 3, words: words(3) });
      assert.throws(() => some.getSync(0), FormatError);
      files.forEach((file, i) => Deno.writeFileSync(file, contents[i]!));
    }
  });
});

Deno.test("a decoder gets the type's arguments, or none if its whole word is known", async () => {
  await withTempDir((dir) => {
    const types = { a: "own(3,x)[]", b: "own(3,x)", c: "own", d: "toString" };
    const value = Uint8Array.of(1, 2);
    const { a, ...others } = types;
    const datapoint = Object.fromEntries(
      Object.keys(others).map((key) => [key, value]),
    );
    writeDataset(
      dir,
      { a, ...others },
      [{ a: [value, value], ...datapoint }],
      1,
    );
    const told: unknown[] = [];
    const own = (...args: unknown[]) => told.push(args.slice(1));
    using reader = DatasetReader.openSync(dir, { decoders: { own } });
    const { d } = reader.getSync(0);
    assert.deepEqual(d, value); // methods of Object.prototype are not decoders
    assert.deepEqual(told, [["3", "x"], ["3", "x"], ["3", "x"], []]);
    told.length = 0;
    const byWord: Decoders = { "own(3,x)": own };
    using whole = DatasetReader.openSync(dir, { decoders: byWord });
    assert.deepEqual(whole.getSync(0).c, value);
    assert.deepEqual(told, [[], [], []]);
  });
});

Deno.test("an error of a decoder names the file, the datapoint and the key", async () => {
  await withLists(async (dir) => {
    const cause = new Error("it is odd");
    const failing: Decoders = {
      utf8: () => {
        throw cause;
      },
      int: () => Promise.reject(cause),
    };
    using reader = DatasetReader.openSync(dir, { decoders: failing });
    for (const [key, type] of [["n", "int"], ["words", "utf8"]] as const) {
      const isBad = (error: unknown) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.equal(error.code, "bad-value");
        assert.equal(error.cause, cause);
        assert.equal(
          error.message,
          `Cannot decode '${key}' of datapoint 2 of ${dir}/${key}.bag as ${type}: it is odd`,
        );
        return true;
      };
      await assert.rejects(reader.get(2, [key]), isBad);
      await assert.rejects(reader.range(2, 3, [key]), isBad);
    }
  });
});

Deno.test("a decoder that returns a promise is awaited, or rejected", async () => {
  await withLists(async (dir) => {
    const slow: Decoders = {
      ...decoders,
      utf8: async (bytes) => {
        await Promise.resolve();
        return bytes.length;
      },
    };
    using reader = DatasetReader.openSync(dir, { decoders: slow });
    assert.deepEqual(await reader.get(2), { n: 2, words: [4, 4] });
    assert.deepEqual((await reader.range(1, 3)).words, [[4], [4, 4]]);
    const isRefusal = {
      name: "TypeError",
      message: /decoder of 'words' \(utf8\)/,
    };
    assert.throws(() => reader.getSync(2), isRefusal);
    assert.throws(() => reader.rangeSync(1, 3), isRefusal);
    assert.deepEqual(reader.getSync(2, ["n"]), { n: 2 });
  });
});

Deno.test("a decoder may read from the reader it decodes for", async () => {
  await withLists(async (dir) => {
    const nested: Decoders = {
      int: ([n]) => n! > 0 ? [n, reader.getSync(n! - 1, ["n"])] : n,
      utf8: (bytes) => [bytes.length, reader.getSync(0, { words: true })],
    };
    using reader = DatasetReader.openSync(dir, { decoders: nested });
    const expected = {
      n: [2, { n: [1, { n: 0 }] }],
      words: [[4, { words: [] }], [4, { words: [] }]],
    };
    assert.deepEqual(reader.getSync(2), expected);
    assert.deepEqual(reader.getSync(2, ["words", "n"]), expected);
    assert.deepEqual(await reader.get(2), expected);
    assert.deepEqual((await reader.range(2, 3)).words, [expected.words]);
  });
});

Deno.test("any file name is a valid key, and its value an own property", async () => {
  await withTempDir(async (dir) => {
    const keys = ["1", "__proto__", "constructor", "ключ"];
    const types = Object.fromEntries(keys.map((key) => [key, "int"]));
    const value = (i: number) =>
      Object.fromEntries(keys.map((key, k) => [key, Uint8Array.of(i, k)]));
    for (const generation of [1, 3] as const) {
      const path = `${dir}/${generation}`;
      writeDataset(path, types, [value(0), value(1)], generation);
      using reader = await DatasetReader.open(path, { decoders: null });
      assert.deepEqual(reader.spec, types);
      assert.deepEqual(reader.getSync(1), value(1));
      assert.deepEqual(await reader.get(1), value(1));
      const range = await reader.range(0, 2);
      assert.deepEqual(Object.keys(range), keys);
      for (const [k, key] of keys.entries()) {
        const values = [Uint8Array.of(0, k), Uint8Array.of(1, k)];
        assert.deepEqual(range[key], values);
      }
      assert.deepEqual(Object.keys(reader.availableSync(0)), keys);
    }
  });
});

Deno.test("memory holds all values of a datapoint, and is reused", async () => {
  await withLists(async (dir) => {
    using reader = DatasetReader.openSync(dir, { decoders: null });
    const memory = new RecordMemory();
    for (const i of [4, 0, 3, 1, 2, 4]) {
      const own = reader.getSync(i);
      assert.deepEqual(reader.getSync(i, undefined, { memory }), own);
      assert.deepEqual(await reader.get(i, undefined, { memory }), own);
      const range = await reader.range(0, i, undefined, { memory });
      assert.deepEqual(range, reader.rangeSync(0, i));
    }
    const { size } = memory;
    const { n: first } = reader.getSync(1, ["n"], { memory });
    const { n: second } = reader.getSync(2, ["n"], { memory });
    assert.equal((first as Uint8Array).buffer, (second as Uint8Array).buffer);
    assert.deepEqual(first, second); // the first was overwritten
    assert.equal(memory.size, size);
  });
});

Deno.test("concurrent reads do not mix", async () => {
  await withLists(async (dir) => {
    for (const parallel of [true, false]) {
      using reader = await DatasetReader.open(dir, {
        decoders,
        parallel,
        cacheIndex: false,
      });
      const order = Array.from({ length: 60 }, (_, i) => i * 7 % 5);
      const masks: (Mask | undefined)[] = [undefined, ["n"], {
        words: { start: 1, stop: 3 },
      }];
      const read = await Promise.all(
        order.map((i, k) => reader.get(i, masks[k % 3])),
      );
      const expected = order.map((i, k) => reader.getSync(i, masks[k % 3]));
      assert.deepEqual(read, expected);
    }
  });
});

Deno.test("a closed reader throws, and a signal aborts", async () => {
  await withLists(async (dir) => {
    const reader = await DatasetReader.open(dir, {
      decoders,
      cacheKeys: ["n", "words", "refs"],
    });
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(reader.get(1, undefined, { signal }), /enough/);
    await assert.rejects(reader.range(1, 2, undefined, { signal }), /enough/);
    await assert.rejects(reader.available(1, { signal }), /enough/);
    await assert.rejects(
      DatasetReader.open(dir, { decoders, signal }),
      /enough/,
    );
    reader.close();
    const closed = hasCode("closed");
    assert.throws(() => reader.getSync(1), closed);
    await assert.rejects(reader.get(1), closed);
    assert.throws(() => reader.rangeSync(0, 1), closed);
    assert.throws(() => reader.availableSync(0), closed);
    reader.close(); // closing twice is harmless
  });
});
