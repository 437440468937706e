/** Parsing of references: every MessagePack encoding of an integer, and invalid ones. */
import assert from "node:assert/strict";
import { FormatError } from "../../../../src/base/errors.ts";
import { References } from "../../../../src/formats/bags/dataset/references.ts";
import { parseType } from "../../../../src/formats/bags/dataset/spec.ts";

const types = { a: "int", b: "utf8[]" };
const keys = Object.entries(types).map(([key, type]) => ({
  key,
  type: parseType(type, true),
}));

/** Parses `hex` as references of the keys a (one record) and b (a list). */
function parse(hex: string, length = 2 ** 52): (number | number[])[] {
  const references = new References({
    path: "d/refs.bag",
    keys,
    lengths: [length, length],
  });
  references.parse(7, Uint8Array.fromHex(hex.replaceAll(" ", "")));
  return [
    references.first[0]!,
    [references.first[1]!, references.count[1]!],
  ];
}

Deno.test("integers of every size are valid references", () => {
  const forms: [string, number][] = [
    ["05", 5],
    ["7f", 127],
    ["cc ff", 255],
    ["cd 0100", 256],
    ["ce ffffffff", 2 ** 32 - 1],
    ["cf 0000000100000002", 2 ** 32 + 2],
    ["d0 05", 5],
    ["d1 0100", 256],
    ["d2 00010000", 65536],
    ["d3 0000000100000002", 2 ** 32 + 2],
  ];
  for (const [hex, value] of forms) {
    assert.deepEqual(parse(`92 ${hex} 92 ${hex} 03`), [value, [value, 3]]);
    assert.deepEqual(parse(`dc0002 ${hex} dc0002 01 ${hex}`), [
      value,
      [1, value],
    ]);
    assert.deepEqual(parse(`dd00000002 ${hex} dd00000000`), [value, [0, 0]]);
  }
});

Deno.test("one object is filled with the references of successive datapoints", () => {
  const references = new References({ path: "r", keys, lengths: [9, 9] });
  references.parse(0, Uint8Array.of(0x92, 3, 0x92, 4, 5));
  references.parse(1, Uint8Array.of(0x92, 1, 0x90));
  assert.deepEqual([...references.first], [1, 0]);
  assert.deepEqual([...references.count], [1, 0]);
});

Deno.test("invalid references are rejected by name", () => {
  const faults: [string, RegExp][] = [
    ["", /not msgpack: truncated/],
    ["c1", /not msgpack/],
    ["92 05", /not msgpack: truncated/],
    ["92 cf 0000", /not msgpack: truncated/],
    ["92 c1 90", /not msgpack/],
    ["80", /must be an array/],
    ["a0", /must be an array/],
    ["05", /must be an array/],
    ["91 05", /wrong number of references: 1 for 2 keys/],
    ["dd ffffffff", /wrong number of references: 4294967295 for 2 keys/],
    ["92 05 90 00", /1 bytes after the references/],
    ["92 90 90", /wrong kind: 'a' takes one index/],
    ["92 c3 90", /wrong kind/],
    ["92 cb 3ff0000000000000 90", /wrong kind/],
    ["92 05 05", /wrong kind: 'b' takes a list's/],
    ["92 05 91 05", /wrong kind/],
    ["92 05 93 05 05 05", /wrong kind/],
    ["92 05 92 05 a0", /wrong kind/],
    ["92 09 90", /out of range: record 9 of 'a', whose bag has 9/],
    ["92 ff 90", /out of range: record -1/],
    ["92 d0 80 90", /out of range: record -128/],
    ["92 d1 ff00 90", /out of range: record -256/],
    ["92 d2 ffffffff 90", /out of range: record -1/],
    ["92 d3 ffffffffffffffff 90", /out of range: record -1/],
    ["92 cf ffffffffffffffff 90", /out of range/],
    ["92 05 92 08 02", /out of range: 2 records from 8 of 'b'/],
    ["92 05 92 05 ff", /out of range/],
    ["92 05 92 ff 02", /out of range/],
    ["92 05 92 cf ffffffffffffffff cf ffffffffffffffff", /out of range/],
  ];
  for (const [hex, message] of faults) {
    assert.throws(() => parse(hex, 9), (error: unknown) => {
      assert.ok(error instanceof FormatError, hex);
      assert.equal(error.code, "bad-reference");
      assert.equal(error.sample, 7);
      assert.match(error.message, /^Cannot read datapoint 7 of d\/refs\.bag: /);
      assert.match(error.message, message, hex);
      return true;
    });
  }
});

Deno.test("a list may end where its bag does", () => {
  assert.deepEqual(parse("92 08 92 07 02", 9), [8, [7, 2]]);
  assert.deepEqual(parse("92 00 92 09 00", 9), [0, [9, 0]]);
});
