import assert from "node:assert/strict";
import { Random, Sfc32 } from "../../../src/data/random/random.ts";
import { chiSquare, LIMIT } from "./statistics.ts";

function draw(random: Random, count: number): number[] {
  return Array.from({ length: count }, () => random.uint32());
}

Deno.test("sfc32 returns the numbers of PractRand", () => {
  // From the tests of Rust's `rand_sfc`, which were generated with PractRand itself.
  const generator = new Sfc32(0, 2, 1);
  const expected = [
    ...[0x03b80bb8, 0xa87dbc7e, 0x1787178c, 0x4c7b7234],
    ...[0xc65dade2, 0x2c692349, 0xf52c2153, 0xdf098072],
    ...[0x9d49b03c, 0x9562381a, 0xc9b41738, 0x64b75e54],
    ...[0x36ce9b32, 0xf106947e, 0x0afc726b, 0x549bbc87],
  ];
  assert.deepEqual(expected.map(() => generator.next()), expected);
  // From the documentation of Rust's `sfc_prng`.
  assert.equal(new Sfc32(0, 0, 0).next(), 0xfb52c520);
});

// The expected values are from a second implementation, in Python.
Deno.test("keys always give the same numbers", () => {
  const promised: [number[], number[]][] = [
    [[], [0xe2f28b66, 0xe17fc55e, 0x6c9f826b, 0x24826e04]],
    [[0], [0x5a20e99e, 0xc1b95dd7, 0xdd7afc9a, 0x40921076]],
    [[1], [0xed879eee, 0x3377b79d, 0x4000f47e, 0xbcb218e3]],
    [[1, 0], [0xff0cc7a3, 0xca1dcb13, 0xd49cb449, 0x3eea238e]],
    [[42, 0, 17], [0x663733c0, 0x8e861516, 0x585ec4c3, 0xa4b21c89]],
    [[-1, 2 ** 53 - 1], [0x76de419a, 0x635f5711, 0x69f7103b, 0x0ef58459]],
  ];
  for (const [keys, numbers] of promised) {
    assert.deepEqual(draw(new Random(...keys), 4), numbers, `${keys}`);
  }
  const whole = new Random(7);
  assert.deepEqual(
    [6, 1000, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1].map((n) => whole.int(n)),
    [1, 123, 1926544385, 769999844, 6979854361321972],
  );
  const real = new Random(7);
  assert.deepEqual([real.float(), real.float()], [
    0.22889389932544013,
    0.4485585708191333,
  ]);
});

Deno.test("different keys share no numbers", () => {
  const keys = [
    [],
    [0],
    [0, 0],
    [0, 0, 0],
    [1],
    [1, 0],
    [0, 1],
    [-1],
    [
      2 ** 32,
    ],
    [-(2 ** 32)],
    [2 ** 53 - 1],
    [2 ** 53 - 2],
  ];
  // A number shared by two keys would appear twice, whatever its position.
  const all = keys.flatMap((some) => draw(new Random(...some), 50));
  assert.equal(new Set(all).size, all.length);
});

Deno.test("each bit of a key changes half of the bits", () => {
  for (let place = 0; place < 3; place++) {
    for (let bit = 0; bit < 52; bit++) {
      let changed = 0;
      for (let i = 0; i < 64; i++) {
        const keys = [i * 1000003, i, i * 7];
        const others = keys.with(place, keys[place]! + 2 ** bit);
        let bits = new Random(...keys).uint32() ^
          new Random(...others).uint32();
        for (; bits !== 0; bits &= bits - 1) changed++;
      }
      // Of 2,048 bits 1,024 are expected; the standard deviation is 22.6.
      assert.ok(Math.abs(changed - 1024) < 5 * 22.6, `${place} ${bit}`);
    }
  }
});

Deno.test("whole numbers below a limit are equally likely", () => {
  for (const below of [2, 3, 6, 7, 64, 100, 1000]) {
    const random = new Random(1, below);
    const counts = new Float64Array(below);
    for (let i = 0; i < 200 * below; i++) counts[random.int(below)]! += 1;
    assert.ok(Math.abs(chiSquare(counts)) < LIMIT, `${below}`);
  }
  for (const below of [3 * 2 ** 30, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]) {
    const random = new Random(2, below);
    const counts = new Float64Array(64);
    for (let i = 0; i < 20_000; i++) {
      const drawn = random.int(below);
      assert.ok(Number.isSafeInteger(drawn) && drawn >= 0 && drawn < below);
      counts[Math.floor(drawn / below * 64)]! += 1;
    }
    assert.ok(Math.abs(chiSquare(counts)) < LIMIT, `${below}`);
  }
  assert.equal(new Random(1).int(1), 0);
});

Deno.test("real numbers fill [0, 1) down to their last bit", () => {
  const random = new Random(3);
  const counts = new Float64Array(64);
  let odd = 0;
  for (let i = 0; i < 20_000; i++) {
    const number = random.float();
    assert.ok(number >= 0 && number < 1);
    counts[Math.floor(number * 64)]! += 1;
    odd += number * 2 ** 53 % 2;
  }
  assert.ok(Math.abs(chiSquare(counts)) < LIMIT);
  assert.ok(Math.abs(odd - 10_000) < 5 * Math.sqrt(5000));
});

Deno.test("anything but a whole number is rejected", () => {
  for (const key of [0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => new Random(1, key), {
      name: "RangeError",
      message: `The seeds of random numbers must be whole numbers, not ${key}`,
    });
  }
  for (const below of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => new Random(1).int(below), {
      name: "RangeError",
      message:
        `The bound of a random number must be a whole number from 1 on, not ${below}`,
    });
  }
});
