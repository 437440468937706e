import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { type NdArray, writeNpy } from "../../src/codecs/numpy/mod.ts";
import { DataError } from "../../src/data/data_error.ts";
import { readIndexFile, writeIndexFile } from "../../src/data/index_file.ts";
import { withTempDir } from "../support/paths.ts";

Deno.test("written indices are read back", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.txt`;
    const index = fc.oneof(fc.nat(20), fc.nat(2 ** 32), fc.maxSafeNat());
    const comment = fc.string({ unit: "binary" });
    await fc.assert(
      fc.asyncProperty(
        fc.array(index),
        fc.array(comment, { maxLength: 3 }),
        async (indices, comments) => {
          await writeIndexFile(path, indices, { comments });
          const lines = (await Deno.readTextFile(path)).split("\n");
          const own = lines.slice(comments.length);
          assert.deepEqual(own, [...indices.map(String), ""]);
          const length = Math.max(0, ...indices.map((index) => index + 1));
          const read = await readIndexFile(path, length);
          assert.deepEqual([...read], indices);
          assert.ok(read.buffer instanceof SharedArrayBuffer);
          assert.equal(read instanceof Uint32Array, length - 1 < 2 ** 32);
        },
      ),
      { numRuns: 40 },
    );
  });
});

Deno.test("a text of any size is read and written in pieces", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.txt`;
    const indices = Array.from({ length: 400_000 }, (_, i) => i * 7919 % 1e6);
    await writeIndexFile(path, indices.values());
    assert.ok((await Deno.stat(path)).size > 2 ** 21);
    const read = await readIndexFile(path, 1e6);
    assert.equal(read.length, indices.length);
    assert.ok(indices.every((index, i) => read[i] === index));
  });
});

Deno.test("texts of other programs are read: comments, empty lines, any line endings", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.txt`;
    for (
      const [text, expected] of [
        ["", []],
        ["\n\n# none\n", []],
        ["7", [7]],
        ["# 1\r\n0012\r\n\r\n3\r\n", [12, 3]],
        ["1\n#\n# é 4\n2\n", [1, 2]],
        ["0\n0\n", [0, 0]],
        ["\ufeff5\n6\n", [5, 6]],
        ["\ufeff# five\r\n5", [5]],
        ["\ufeff", []],
      ] as const
    ) {
      await Deno.writeTextFile(path, text);
      assert.deepEqual([...await readIndexFile(path, 13)], expected, text);
    }
  });
});

/** Whether an error gives a position in a file. */
function isBad(path: string, words: RegExp): (error: unknown) => boolean {
  return (error) =>
    error instanceof DataError && error.code === "bad-indices" &&
    error.path === path && words.test(error.message) &&
    error.message.startsWith(`Cannot read ${path}, `);
}

Deno.test("a file that is not an index of the dataset is rejected with its line", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.txt`;
    for (
      const [text, words] of [
        ["1\n# two\n10\n", /line 3: there is no sample 10: .* 0 to 9/],
        ["1\r2\n", /line 1: a lone carriage return/],
        ["4\n# two\r5\r6\r", /line 2: a lone carriage return/],
        [
          "1\n\ufeff2\n",
          /line 2: not an index file: expected one whole number per line/,
        ],
        [
          "1\n99999999999999999999999\n",
          /line 2: the number is larger than 2\^53/,
        ],
        [
          "-1\n",
          /line 1: not an index file: expected one whole number per line/,
        ],
        [
          "0\n1.5\n",
          /line 2: not an index file: expected one whole number per line/,
        ],
        [
          "1 2\n",
          /line 1: not an index file: expected one whole number per line/,
        ],
        [
          "1\n2 # two\n",
          /line 2: not an index file: expected one whole number per line/,
        ],
        [
          "\u00ef\u00bb\u00bf1\n",
          /line 1: not an index file: expected one whole number per line/,
        ],
        [
          "[1]\n",
          /line 1: not an index file: expected one whole number per line/,
        ],
      ] as const
    ) {
      await Deno.writeTextFile(path, text);
      await assert.rejects(readIndexFile(path, 10), isBad(path, words), text);
    }
    await Deno.writeTextFile(path, "0\n");
    await assert.rejects(readIndexFile(path, 0), isBad(path, /has no samples/));
    await assert.rejects(readIndexFile(`${dir}/nope`, 1), { code: "ENOENT" });
    await assert.rejects(readIndexFile(dir, 1), { code: "not-a-file" });
  });
});

Deno.test("arrays of NumPy are read, of any whole numbers in one dimension", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.npy`;
    const arrays: NdArray[] = [
      { dtype: "<i8", shape: [3], data: BigInt64Array.of(5n, 0n, 2n) },
      { dtype: "<u8", shape: [3], data: BigUint64Array.of(5n, 0n, 2n) },
      { dtype: "<i4", shape: [3], data: Int32Array.of(5, 0, 2) },
      { dtype: "<u4", shape: [3], data: Uint32Array.of(5, 0, 2) },
      { dtype: "<i2", shape: [3], data: Int16Array.of(5, 0, 2) },
      { dtype: "|u1", shape: [3], data: Uint8Array.of(5, 0, 2) },
    ];
    for (const array of arrays) {
      await Deno.writeFile(path, writeNpy(array));
      assert.deepEqual([...await readIndexFile(path, 6)], [5, 0, 2]);
      await assert.rejects(
        readIndexFile(path, 5),
        isBad(path, /element 0: there is no sample 5/),
      );
    }
    const refused: [NdArray, RegExp][] = [
      [{ dtype: "<i4", shape: [2], data: Int32Array.of(0, -1) }, /element 1/],
      [{ dtype: "<f8", shape: [1], data: Float64Array.of(1) }, /it is of <f8/],
      [{ dtype: "|b1", shape: [1], data: Uint8Array.of(1) }, /it is of \|b1/],
      [
        { dtype: "<i4", shape: [1, 1], data: Int32Array.of(0) },
        /in 2 dimensions/,
      ],
    ];
    for (const [array, words] of refused) {
      await Deno.writeFile(path, writeNpy(array));
      await assert.rejects(readIndexFile(path, 9), isBad(path, words));
    }
    const bytes = writeNpy(arrays[0]!);
    await Deno.writeFile(path, bytes.subarray(0, bytes.length - 1));
    await assert.rejects(readIndexFile(path, 9), isBad(path, /its array: /));
  });
});

Deno.test("a file appears when it is complete, or not at all", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.txt`;
    await writeIndexFile(path, [1]);
    for (const index of [-1, 0.5, NaN, 2 ** 53]) {
      await assert.rejects(writeIndexFile(path, [3, index]), RangeError);
    }
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(writeIndexFile(path, [2], { signal }), /enough/);
    await assert.rejects(readIndexFile(path, 2, { signal }), /enough/);
    assert.deepEqual([...await readIndexFile(path, 2)], [1]);
    const names = await Array.fromAsync(Deno.readDir(dir));
    assert.deepEqual(names.map(({ name }) => name), ["a.txt"]);
    await assert.rejects(writeIndexFile(`${dir}/no/a.txt`, []), {
      name: "WriteError",
    });
  });
});
