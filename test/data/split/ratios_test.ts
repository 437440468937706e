import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { Ratios } from "../../../src/data/split/ratios.ts";

Deno.test("sizes are the ratios' shares, the rest to the largest remainders", () => {
  const cases: [ratios: string, count: number, sizes: number[]][] = [
    ["0.8,0.1,0.1", 100, [80, 10, 10]],
    ["0.8,0.1,0.1", 7, [5, 1, 1]], // 5.6, 0.7, 0.7
    ["0.8,0.1,0.1", 4, [3, 1, 0]], // 3.2, 0.4, 0.4: the first of two equal remainders
    ["0.8,0.1,0.1", 3, [3, 0, 0]], // 2.4, 0.3, 0.3
    ["0.5,0.5", 5, [3, 2]],
    ["0.1,0.2,0.7", 10, [1, 2, 7]],
    ["0.7,0.2,0.1", 0, [0, 0, 0]],
    ["1,1,1", 11, [4, 4, 3]],
    ["80,10,10", 1000, [800, 100, 100]],
    [".5, 0.25,0.250", 8, [4, 2, 2]],
    ["1", 9, [9]],
    ["0.333,0.333,0.334", 1000, [333, 333, 334]],
  ];
  for (const [text, count, sizes] of cases) {
    assert.deepEqual(Ratios.parse(text).sizes(count), sizes, text);
  }
});

Deno.test("rounding of ratios adds and loses no sample", () => {
  const tenths = "0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1"; // 0.9999999999999999 as doubles
  assert.deepEqual(Ratios.parse(tenths).sizes(10), new Array(10).fill(1));
  const count = Number.MAX_SAFE_INTEGER;
  const sizes = Ratios.parse("0.3,0.3,0.4").sizes(count);
  assert.equal(
    sizes.reduce((sum, size) => sum + BigInt(size), 0n),
    BigInt(count),
  );
});

Deno.test("sizes sum to the count, and none is off by one or more", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 8 }),
    fc.nat({ max: 1e9 }),
    (parts, count) => {
      const sizes = Ratios.parse(parts.join(",")).sizes(count);
      const whole = parts.reduce((sum, part) => sum + part, 0);
      assert.equal(sizes.reduce((sum, size) => sum + size, 0), count);
      sizes.forEach((size, i) => {
        assert.ok(Math.abs(size - count * parts[i]! / whole) < 1 + 1e-6);
      });
    },
  ));
});

Deno.test("invalid ratios are rejected", () => {
  const cases: [string, RegExp][] = [
    ["", /Ratios must be .*, not ''/],
    ["0.8,", /Ratios must be .*, not ''/],
    ["0.8,-0.2", /Ratios must be .*, not '-0\.2'/],
    ["a,b", /Ratios must be .*, not 'a'/],
    ["1e-1,0.9", /Ratios must be .*, not '1e-1'/],
    ["0.8,0.1,0.01", /must sum to 1, not 0\.91/],
    ["0.8,0.2,0.1", /must sum to 1, not 1\.1/],
    ["0.5,0.5,0", /must all be above 0/],
    ["0,0", /must all be above 0/],
    ["0.8 0.2", /Ratios must be .*, not '0\.8 0\.2'/],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => Ratios.parse(text), { name: "RangeError", message });
  }
});
