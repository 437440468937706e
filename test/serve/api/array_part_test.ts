/** Parts of large arrays, which a page fetches one by one. */
import assert from "node:assert/strict";
import { writeNpy } from "../../../src/codecs/numpy/mod.ts";
import type { ArrayPart } from "../../../src/serve/api/value_messages.ts";
import { serveFolder } from "../../support/serve/served_folder.ts";

Deno.test("parts of an array join to its numbers, each 4 MiB at most", async () => {
  const bytes = Uint8Array.from({ length: 5 << 20 }, (_, i) => i * 7);
  const floats = Float32Array.from({ length: 1_500_000 }, (_, i) => i / 3);
  floats[7] = NaN;
  const large = Float64Array.of(1e300, -2, Infinity);
  await using folder = await serveFolder({
    "u1.npy": writeNpy({ data: bytes, shape: [5, 1 << 20] }),
    "f4.npy": writeNpy({ data: floats, shape: [1000, 1500] }),
    "f8.npy": writeNpy({ data: large }),
    "i8.npy": writeNpy({ data: BigInt64Array.of(3n, -4n) }),
    "b1.npy": writeNpy({ data: Uint8Array.of(1, 0), dtype: "|b1" }),
  });
  for (
    const [name, type, expected] of [
      ["u1.npy", "uint8", bytes],
      ["f4.npy", "float32", floats],
      ["f8.npy", "float64", large],
      ["i8.npy", "float32", Float32Array.of(3, -4)],
      ["b1.npy", "uint8", Uint8Array.of(1, 0)],
    ] as const
  ) {
    const joined: number[][] = [];
    let length = 0;
    while (length < expected.length) {
      const response = await folder.get(
        `api/value?path=${name}&first=${length}`,
      );
      assert.equal(response.status, 200);
      const part: ArrayPart = await response.json();
      assert.deepEqual([part.kind, part.start, part.type], [
        "array-part",
        length,
        type,
      ]);
      const { buffer } = Uint8Array.fromBase64(part.base64);
      assert.ok(buffer.byteLength <= 4 << 20);
      const ofType = {
        uint8: Uint8Array,
        float32: Float32Array,
        float64: Float64Array,
      };
      const numbers = [...new ofType[type](buffer)];
      assert.ok(numbers.length > 0);
      joined.push(numbers);
      length += numbers.length;
    }
    const all = joined.flat();
    assert.equal(all.length, expected.length);
    assert.ok(all.every((value, i) => Object.is(value, expected[i])), name);
  }
});

Deno.test("a part after the end, of texts, or of a value that is not an array is rejected", async () => {
  await using folder = await serveFolder({
    "a.npy": writeNpy({ data: Uint8Array.of(1, 2) }),
    "s.npy": writeNpy({ data: ["a", "b"], dtype: "<U1" }),
    "t.txt": "text",
  });
  for (
    const [query, why] of [
      ["a.npy&first=2", "element 2 is out of bounds: it has 2"],
      ["s.npy&first=0", "only arrays of numbers have parts, not <U1"],
      ["t.txt&first=0", "it is not an array"],
      ["a.npy&first=0&as=text", "it is not an array"],
      ["a.npy&first=-1", "first must be a whole number"],
      ["a.npy&first=x", "first must be a whole number"],
    ] as const
  ) {
    const response = await folder.get(`api/value?path=${query}`);
    assert.equal(response.status, 400, query);
    assert.ok((await response.json()).error.message.includes(why), query);
  }
});
