/** Range of each number encoding, and how its numbers are stored. */
import assert from "node:assert/strict";
import { encodeValue } from "../../../../src/formats/mds/encodings/encode.ts";
import { encodingOf } from "../../../../src/formats/mds/encodings/encoding.ts";
import { scalarOf } from "../../../../src/tree/field_shards/values.ts";

const WHOLE: Record<string, number> = {
  int: -64,
  int8: -8,
  int16: -16,
  int32: -32,
  int64: -64,
  uint8: 8,
  uint16: 16,
  uint32: 32,
  uint64: 64,
};

Deno.test("whole numbers are stored up to the limits of their range, lowest byte first", () => {
  for (const [word, signedBits] of Object.entries(WHOLE)) {
    const encoding = encodingOf(word)!;
    const bits = Math.abs(signedBits);
    const [least, most] = signedBits < 0
      ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
      : [0n, 2n ** BigInt(bits) - 1n];
    assert.equal(encoding.size, bits / 8, word);
    for (const number of [least, least + 1n, 0n, 100n, most - 1n, most]) {
      const bytes = encodeValue(encoding, number);
      const expected = Array.from(
        { length: bits / 8 },
        (_, i) => Number(BigInt.asUintN(bits, number) >> BigInt(8 * i) & 0xffn),
      );
      assert.deepEqual([...bytes], expected, `${word} ${number}`);
      assert.equal(BigInt(scalarOf(encoding, bytes)), number, word);
    }
    for (const number of [least - 1n, most + 1n, 2n ** 64n, -(2n ** 65n)]) {
      assert.throws(() => encodeValue(encoding, number), {
        name: "RangeError",
        message: `${number} is out of the range of '${word}'`,
      });
    }
    assert.throws(() => encodeValue(encoding, 1.5), TypeError);
  }
});

Deno.test("floats have the bytes of IEEE 754", () => {
  const stored = {
    float16: [0, 0x3e],
    float32: [0, 0, 0xc0, 0x3f],
    float64: [0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
  };
  for (const [word, expected] of Object.entries(stored)) {
    const encoding = encodingOf(word)!;
    const bytes = encodeValue(encoding, 1.5);
    assert.deepEqual([...bytes], expected, word);
    assert.equal(scalarOf(encoding, bytes), 1.5);
    assert.throws(() => encodeValue(encoding, 1n), TypeError);
  }
});
