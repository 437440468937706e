/** Integers in bytes, by the rules of each generation. */
import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  decodersOf,
  encodersOf,
  intDecoder,
  intEncoder,
  ValueError,
} from "../../../../src/formats/bags/types/mod.ts";
import type { IntOptions } from "../../../../src/formats/bags/types/int.ts";
import { needs } from "../../../support/programs/programs.ts";
import { hex, pythonLines } from "../../../support/programs/python.ts";

type Encode = (value: number | bigint, ...args: string[]) => Uint8Array;

/** Value, its bytes in generation 1, and those in later generations. */
const ROWS: [number | bigint, string, string][] = [
  [0, "", "00"],
  [1, "01", "01"],
  [127, "7f", "7f"],
  [128, "8000", "8000"],
  [255, "ff00", "ff00"],
  [256, "0001", "0001"],
  [32767, "ff7f", "ff7f"],
  [32768, "008000", "008000"],
  [2 ** 53 - 1, "ffffffffffff1f", "ffffffffffff1f"],
  [2n ** 53n, "00000000000020", "00000000000020"],
  [2n ** 56n, "0000000000000001", "0000000000000001"],
  [2n ** 64n - 1n, "ffffffffffffffff00", "ffffffffffffffff00"],
  [2n ** 127n - 1n, "ff".repeat(15) + "7f", "ff".repeat(15) + "7f"],
];

for (const [value, first, later] of ROWS) {
  Deno.test(`int ${value} has the bytes '${first}', and '${later}' from generation 2`, () => {
    for (const generation of [1, 2, 3] as const) {
      const bytes = hex(generation === 1 ? first : later);
      const encode = encodersOf(generation).int as Encode;
      assert.deepEqual(encode(value), bytes);
      assert.strictEqual(decodersOf(generation).int!(bytes), value);
    }
  });
}

Deno.test("from generation 2 the top bit is a sign", () => {
  for (const generation of [2, 3] as const) {
    const encode = encodersOf(generation).int as Encode;
    const decode = decodersOf(generation).int!;
    for (
      const [value, digits] of [
        [-1, "ff"],
        [-128, "80"],
        [-129, "7fff"],
        [-32768, "0080"],
        [-(2n ** 63n), "0000000000000080"],
      ] as const
    ) {
      assert.deepEqual(encode(value), hex(digits));
      assert.strictEqual(decode(hex(digits)), value);
    }
  }
  assert.strictEqual(decodersOf(1).int!(hex("ff")), 255);
  assert.throws(() => (encodersOf(1).int as Encode)(-1), RangeError);
});

Deno.test("arguments give size and byte order", () => {
  const encode = encodersOf(1).int as Encode;
  const decode = decodersOf(1).int!;
  assert.deepEqual(encode(258, "4"), hex("02010000"));
  assert.deepEqual(encode(258, "4", "big"), hex("00000102"));
  assert.deepEqual(encode(258, "4", "little"), hex("02010000"));
  assert.deepEqual(encode(0, "0"), hex(""));
  assert.deepEqual(
    encode(1n << 152n, "20", "big"),
    hex("01" + "00".repeat(19)),
  );
  assert.equal(decode(hex("00000102"), "4", "big"), 258);
  assert.equal(decode(hex("01" + "00".repeat(19)), "20", "big"), 1n << 152n);
  assert.throws(
    () => encode(256, "1"),
    /256 does not fit in 1 bytes, unsigned/,
  );
});

Deno.test("invalid arguments are rejected, when reading and writing", () => {
  const wrong = [["x"], [""], ["-1"], ["1.5"], ["65536"], ["99999999999"]];
  wrong.push(["4", "middle"], ["4", "big", "more"], ["0x4"], ["1e2"]);
  for (const args of wrong) {
    for (
      const call of [
        () => (encodersOf(1).int as Encode)(1, ...args),
        () => decodersOf(1).int!(hex("01"), ...args),
      ]
    ) {
      assert.throws(call, (error) => {
        assert.ok(error instanceof ValueError, `${args}: ${error}`);
        assert.equal(error.code, "bad-arguments");
        return true;
      });
    }
  }
  assert.throws(
    () => decodersOf(2).i64!(hex("00".repeat(4)), "4"),
    /takes none/,
  );
});

Deno.test("integers that no reader accepts without a size are rejected", () => {
  for (const generation of [1, 2, 3] as const) {
    const encode = encodersOf(generation).int as Encode;
    for (const value of [2n ** 127n, 2n ** 128n, 2n ** 40_000_000n]) {
      assert.throws(() => encode(value), (error) => {
        assert.ok(error instanceof RangeError);
        assert.match(
          error.message,
          /takes \d+ bytes, and readers take up to 16/,
        );
        assert.ok(error.message.length < 300);
        return true;
      });
    }
  }
  const encode = encodersOf(1).int as Encode;
  assert.equal(encode(2n ** 127n, "16").toHex(), "00".repeat(15) + "80");
});

Deno.test("bytes that are not an integer of that size are damage", () => {
  for (
    const [decode, digits, args] of [
      [decodersOf(1).int!, "00".repeat(17), []],
      [decodersOf(3).int!, "00".repeat(17), []],
      [decodersOf(1).int!, "0000", ["4"]],
      [decodersOf(1).int!, "000000", ["2"]],
      [decodersOf(3).i64!, "00".repeat(7), []],
      [decodersOf(3).u64!, "", []],
    ] as const
  ) {
    assert.throws(() => decode(hex(digits), ...args), (error) => {
      assert.ok(error instanceof ValueError && error.code === "bad-value");
      assert.match(
        error.message,
        /Not a valid '(int|i64|u64)': it has \d+ bytes/,
      );
      return true;
    });
  }
});

Deno.test("only exact whole numbers are accepted", () => {
  for (const value of [1.5, NaN, Infinity, 2 ** 53, "1", null, true]) {
    assert.throws(
      () => (encodersOf(3).int as Encode)(value as number),
      /A value of type 'int' must be a whole number, and a bigint beyond 2\^53/,
    );
  }
  assert.throws(() => (encodersOf(3).u64 as Encode)(-1), RangeError);
  assert.throws(() => (encodersOf(3).u64 as Encode)(2n ** 64n), RangeError);
  assert.throws(() => (encodersOf(3).i64 as Encode)(2n ** 63n), RangeError);
});

const options = fc.record<IntOptions>({
  size: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
  signed: fc.boolean(),
  endian: fc.constantFrom("little", "big"),
  least: fc.constantFrom(0, 1),
  keepsTopBitClear: fc.boolean(),
});
const numbers = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -300, max: 300 }),
  fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }),
);

Deno.test("integers that fit are restored; others are rejected", () => {
  fc.assert(fc.property(options, numbers, (how, value) => {
    const { size = Infinity, signed } = how;
    const bits = 8n * BigInt(Math.min(size, 16));
    const [low, high] = signed
      ? bits === 0n ? [0n, 0n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
      : [0n, 2n ** bits - 1n];
    if (value < low || value > high) {
      assert.throws(() => intEncoder(how)(value), RangeError);
      return;
    }
    const bytes = intEncoder(how)(value);
    const read = intDecoder(how)(bytes);
    assert.equal(BigInt(read), BigInt(value));
    assert.equal(typeof read === "number", Number.isSafeInteger(Number(value)));
    if (size !== Infinity) assert.equal(bytes.length, size);
    if (size !== Infinity || !how.keepsTopBitClear || value < 0) return;
    // A reader that treats the top bit as a sign returns the same value.
    assert.equal(intDecoder({ ...how, signed: true })(bytes), read);
  }));
});

/** Returns the bytes that the originals produce: bags' formats.py, and granular's from 0.20; null if they fail. */
const ORIGINALS = `
import json, sys, numpy as np
def first(v):
    return v.to_bytes(int(np.ceil(np.log2(1 + v) / 8)), 'little').hex()
def later(v):
    return v.to_bytes(max(1, int(np.ceil(np.log2(1 + v) / 8))), 'little', signed=True).hex()
def attempt(f, v):
    try: return f(v)
    except (OverflowError, ValueError, TypeError, AttributeError): return None
np.seterr(all='ignore')
for line in sys.stdin: print(json.dumps([attempt(first, int(line)), attempt(later, int(line))]))
`;

Deno.test({
  name:
    "Python writes the same bytes, except where it fails or where generation 1 would set the top bit (needs numpy)",
  ...needs("numpy"),
  async fn() {
    const values = fc.sample(
      fc.oneof(
        fc.maxSafeInteger().map(BigInt),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.tuple(fc.nat({ max: 63 }), fc.integer({ min: -1, max: 1 }))
          .map(([power, more]) => 2n ** BigInt(power) + BigInt(more)),
      ),
      2000,
    );
    const lines = await pythonLines(
      ORIGINALS,
      values.map((value) => `${value}\n`).join(""),
    );
    let [both, failed, cleared] = [0, 0, 0];
    for (const [i, value] of values.entries()) {
      const theirs = lines[i] as [string | null, string | null];
      for (const [k, digits] of theirs.entries()) {
        if (digits === null) {
          failed++;
          continue;
        }
        const encode = encodersOf(k === 0 ? 1 : 2).int as Encode;
        // The deliberate difference from bags and granular up to 0.17.0: see below.
        const hasTopBit = k === 0 && /[89a-f].$/.test(digits);
        const expected = hasTopBit ? `${digits}00` : digits;
        assert.equal(encode(value).toHex(), expected, `${value}`);
        if (hasTopBit) cleared++;
        both++;
      }
    }
    assert.ok(both > 1000 && failed > 100, `${both}, ${failed}`);
    assert.ok(cleared > 100, `${cleared}`);
  },
});

/**
 * Decodes `int` as each reader of generation 1 does: bags to granular 0.10.2, 0.10.3 to 0.17.0, 0.17.1 to 0.21.2.
 */
const READERS = `
import json, sys
def oldest(b): return int.from_bytes(b, 'little')
def bounded(b):
    assert len(b) <= 16
    return int.from_bytes(b, 'little')
def signed(b):
    assert len(b) <= 16
    return int.from_bytes(b, 'little', signed=True)
for line in sys.stdin:
    b = bytes.fromhex(line)
    print(json.dumps([str(f(b)) for f in (oldest, bounded, signed)]))
`;

Deno.test({
  name:
    "every reader of generation 1 reads the written numbers (needs python3)",
  ...needs("python3"),
  async fn() {
    const values = fc.sample(
      fc.oneof(
        fc.bigInt({ min: 0n, max: 2n ** 127n - 1n }),
        fc.tuple(fc.nat({ max: 126 }), fc.integer({ min: -1, max: 1 }))
          .map(([power, more]) => 2n ** BigInt(power) + BigInt(more)),
      ),
      1000,
    );
    const encode = encodersOf(1).int as Encode;
    const lines = await pythonLines(
      READERS,
      values.map((value) => `${encode(value).toHex()}\n`).join(""),
    );
    for (const [i, value] of values.entries()) {
      assert.deepEqual(lines[i], Array(3).fill(`${value}`));
    }
  },
});
