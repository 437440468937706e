/** Valid and damaged MessagePack, according to the format's description. */
import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  MsgpackError,
  MsgpackExt,
  MsgpackTimestamp,
  readMsgpack,
} from "../../../src/codecs/msgpack/mod.ts";
import { hex } from "../../support/programs/python.ts";

/** Valid bytes and their values, from the format's description. */
const SOUND: [string, unknown][] = [
  ["00", 0],
  ["7f", 127],
  ["ff", -1],
  ["e0", -32],
  ["c0", null],
  ["c2", false],
  ["c3", true],
  ["cc ff", 255],
  ["cd ffff", 65535],
  ["ce ffffffff", 4294967295],
  ["cf 0000000000000001", 1],
  ["cf 001fffffffffffff", 2 ** 53 - 1],
  ["cf 0020000000000000", 2n ** 53n],
  ["cf ffffffffffffffff", 2n ** 64n - 1n],
  ["d0 80", -128],
  ["d1 8000", -32768],
  ["d2 80000000", -(2 ** 31)],
  ["d3 ffe0000000000001", -(2 ** 53) + 1],
  ["d3 ffe0000000000000", -(2n ** 53n)],
  ["d3 8000000000000000", -(2n ** 63n)],
  ["d3 7fffffffffffffff", 2n ** 63n - 1n],
  ["ca 3fc00000", 1.5],
  ["ca 7f800000", Infinity],
  ["cb 3ff8000000000000", 1.5],
  ["cb 8000000000000000", -0],
  ["cb 7ff8000000000000", NaN],
  ["a0", ""],
  ["a3 c3a961", "éa"],
  ["d9 01 61", "a"],
  ["da 0001 61", "a"],
  ["db 00000001 61", "a"],
  ["a3 efbbbf", "\ufeff"],
  ["c4 02 00ff", Uint8Array.of(0, 255)],
  ["c5 0001 07", Uint8Array.of(7)],
  ["c6 00000000", Uint8Array.of()],
  ["90", []],
  ["92 01 91 c0", [1, [null]]],
  ["dc 0001 05", [5]],
  ["dd 00000001 05", [5]],
  ["80", {}],
  ["81 a1 61 01", { a: 1 }],
  ["de 0001 a1 61 01", { a: 1 }],
  ["df 00000001 a1 61 01", { a: 1 }],
  ["82 a1 61 01 a1 61 02", { a: 2 }],
  ["82 a1 30 01 a1 31 02", { 0: 1, 1: 2 }],
  ["82 a1 31 01 a1 30 02", new Map([["1", 1], ["0", 2]])],
  ["82 a1 61 01 a1 30 02", new Map<string, number>([["a", 1], ["0", 2]])],
  ["82 01 a1 61 02 c0", new Map<number, unknown>([[1, "a"], [2, null]])],
  ["81 c4 01 61 01", new Map([[Uint8Array.of(0x61), 1]])],
  ["d4 05 07", new MsgpackExt(5, Uint8Array.of(7))],
  ["c7 00 7f", new MsgpackExt(127, Uint8Array.of())],
  ["c8 0001 80 07", new MsgpackExt(-128, Uint8Array.of(7))],
  ["c9 00000001 05 07", new MsgpackExt(5, Uint8Array.of(7))],
  ["d5 72 0102", new MsgpackExt(0x72, Uint8Array.of(1, 2))],
  ["d6 ff 00000001", new MsgpackTimestamp(1, 0)],
  ["d7 ff 00000014 00000001", new MsgpackTimestamp(1, 5)],
  ["d7 ff 00000003 ffffffff", new MsgpackTimestamp(2 ** 34 - 1, 0)],
  ["c7 0c ff 00000005 ffffffffffffffff", new MsgpackTimestamp(-1, 5)],
  [
    "c7 0c ff 00000000 7fffffffffffffff",
    new MsgpackTimestamp(2n ** 63n - 1n, 0),
  ],
];

for (const [digits, value] of SOUND) {
  Deno.test(`${digits} is read`, () => {
    assert.deepStrictEqual(readMsgpack(hex(digits)), value);
  });
}

Deno.test("the key __proto__ is an ordinary key", () => {
  const read = readMsgpack(hex("81 a9 5f5f70726f746f5f5f 91 01"));
  assert.deepEqual(Object.entries(read as object), [["__proto__", [1]]]);
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
});

Deno.test("bytes share the memory of their input", () => {
  const packed = hex("92 c4 02 0102 c4 01 03");
  const [first, second] = readMsgpack(packed) as Uint8Array[];
  assert.equal(first!.buffer, packed.buffer);
  assert.deepEqual([first!.byteOffset, second!.byteOffset], [3, 7]);
});

Deno.test("a view into a larger buffer is read from where it starts", () => {
  const packed = hex("ffff 92 cd 0102 a1 61 ffff").subarray(2, 8);
  assert.deepEqual(readMsgpack(packed), [258, "a"]);
});

Deno.test("memory that threads share is read", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set(hex("91 a1 61").subarray(0, 3));
  assert.deepEqual(readMsgpack(shared), ["a"]);
});

/** Damaged bytes, the offset of the error, and its message. */
const DAMAGED: [string, number, RegExp][] = [
  ["", 0, /truncated: 1 more bytes/],
  ["c1", 0, /byte 0xc1/],
  ["91 c1", 1, /byte 0xc1/],
  ["01 01", 1, /1 bytes follow/],
  ["92 01", 1, /truncated: 2 more bytes are needed at the least/],
  ["91 92 01 81 c0", 4, /truncated: 2 more/],
  ["cd 01", 1, /truncated: 2 more bytes are needed, and 1/],
  ["cb 00000000", 1, /truncated/],
  ["a3 6161", 1, /truncated: 3 more/],
  ["c6 ffffffff 00", 5, /truncated: 4294967295 more/],
  ["db ffffffff 00", 5, /truncated: 4294967295 more/],
  ["c9 ffffffff 05 00", 6, /truncated: 4294967295 more/],
  ["dd ffffffff 01", 5, /truncated: 4294967295 more/],
  ["df ffffffff 01 01", 5, /truncated: 8589934590 more/],
  ["a2 ff41", 1, /not UTF-8/],
  ["a2 c080", 1, /not UTF-8/],
  ["a3 eda080", 1, /not UTF-8/],
  ["d5 ff 0000", 2, /timestamp has 2 bytes/],
  ["d7 ff ffffffffffffffff", 1, /timestamp is out of range/],
  ["c7 0c ff ffffffff 0000000000000000", 2, /timestamp is out of range/],
];

for (const [digits, offset, words] of DAMAGED) {
  Deno.test(`'${digits}' is rejected`, () =>
    assertRefused(hex(digits), offset, words));
}

function assertRefused(bytes: Uint8Array, offset: number, words: RegExp): void {
  assert.throws(() => readMsgpack(bytes), (error) => {
    assert.ok(error instanceof MsgpackError, `${error}`);
    assert.equal(error.code, "bad-msgpack");
    assert.equal(error.offset, offset);
    assert.match(error.message, words);
    return true;
  });
}

for (const [kind, head] of [["lists", "91"], ["maps", "81 c0"]] as const) {
  Deno.test(`${kind} nest as deep as in Python, and no deeper`, () => {
    const packed = (depth: number) => hex(head.repeat(depth) + "c0");
    let depth = 0;
    let value = readMsgpack(packed(1024));
    while (value !== null) {
      value = value instanceof Map ? value.get(null)! : (value as [null])[0];
      depth++;
    }
    assert.equal(depth, 1024);
    for (const deep of [1025, 100_000]) {
      const offset = 1025 * hex(head).length - hex(head).length + 1;
      assertRefused(packed(deep), offset, /more than 1024 levels deep/);
    }
  });
}

Deno.test("claimed lengths reserve no memory", () => {
  // 1,000 nested lists each claim one item for each remaining byte: reserved, that would be 80 GB.
  const claims = hex("dd 00989680".repeat(1000));
  const packed = new Uint8Array(claims.length + 10_000_000).fill(0xc0);
  packed.set(claims);
  assertRefused(packed, packed.length, /truncated/);
});

Deno.test("any bytes are a value, or rejected by name", () => {
  const anyBytes = fc.uint8Array({ maxLength: 200 });
  let [read, refused] = [0, 0];
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      try {
        readMsgpack(bytes);
        read++;
      } catch (error) {
        assert.ok(error instanceof MsgpackError, `${error}`);
        assert.ok(error.offset >= 0 && error.offset <= bytes.length);
        refused++;
      }
    }),
    { numRuns: 5000 },
  );
  assert.ok(read > 0 && refused > 0);
});
