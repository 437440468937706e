/** CRC-32C by either package, and where it is compared like any other checksum. */
import assert from "node:assert/strict";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { readSlices } from "../../../src/io/read/read_slices.ts";
import { crc32Of } from "../../../src/io/read/crc32_of.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { combineCrc32 } from "../../../src/io/sums/combine_crc32.ts";
import {
  bareSum,
  CRC32C,
  emptySum,
  sumLike,
} from "../../../src/io/sums/content_sum.ts";
import { crc32cOf, loadCrc32c, loadWasm } from "../../../src/io/sums/crc32c.ts";
import { REPOSITORY } from "../../support/paths.ts";

/** RFC 3720, appendix B.4, and the check value of the catalogue of CRC algorithms. */
const KNOWN: readonly (readonly [Uint8Array, number])[] = [
  [new Uint8Array(32), 0x8a9136aa],
  [new Uint8Array(32).fill(0xff), 0x62a8ab43],
  [Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
  [Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
  [new TextEncoder().encode("123456789"), 0xe3069283],
  [new Uint8Array(0), 0],
];

const LONG = Uint8Array.from({ length: 70_000 }, (_, i) => i * i >> 3);

Deno.test("both packages take the sums of the standard, in one go and in pieces", async () => {
  await loadCrc32c();
  for (const take of [crc32cOf, await loadWasm()]) {
    for (const [bytes, sum] of KNOWN) {
      assert.equal(take(bytes, 0), sum);
      const half = bytes.length >> 1;
      const first = take(bytes.subarray(0, half), 0);
      assert.equal(take(bytes.subarray(half), first), sum);
    }
  }
  const wasm = await loadWasm();
  assert.equal(wasm(LONG, 0), crc32cOf(LONG));
  assert.equal(
    wasm(LONG.subarray(20_000), wasm(LONG.subarray(0, 20_000), 0)),
    crc32cOf(LONG),
  );
});

Deno.test("one number says of which kind a sum is", async () => {
  await loadCrc32c();
  for (const [bytes, sum] of KNOWN) {
    const expected = CRC32C + sum;
    assert.equal(sumLike(expected)(bytes), expected);
    assert.equal(bareSum(expected), sum);
    assert.equal(sumLike(crc32Of(bytes))(bytes), crc32Of(bytes));
  }
  assert.equal(sumLike(CRC32C)(new Uint8Array(0)), emptySum(CRC32C));
  assert.equal(sumLike(-1)(LONG), crc32Of(LONG));
});

Deno.test("sums of two runs are joined, of each kind", async () => {
  await loadCrc32c();
  const [first, second] = [LONG.subarray(0, 12_345), LONG.subarray(12_345)];
  for (const like of [0, CRC32C]) {
    const sum = sumLike(like);
    assert.equal(
      combineCrc32(sum(first), sum(second), second.length),
      sum(LONG),
    );
  }
});

Deno.test("slices of one batch are summed each by its kind", async () => {
  await loadCrc32c();
  const sources = [new MemorySource(LONG)];
  const ranges = [[0, 100], [100, 0], [200, 300], [510, 40_000], [60_000, 0]];
  const slices = ranges.map(([offset, length], i) => ({
    source: 0,
    offset: offset!,
    length: length!,
    crc32: i % 2 === 0 ? CRC32C : 0,
  }));
  for (const run of [runSync, runAsync]) {
    const sums: number[] = [];
    await run(readSlices(sources, slices, (i, sum) => void (sums[i] = sum)));
    const expected = slices.map(({ offset, length, crc32 }) =>
      sumLike(crc32)(LONG.subarray(offset, offset + length))
    );
    assert.deepEqual(sums, expected);
  }
});

Deno.test("without permissions it is taken all the same, and none is asked for", async () => {
  const module = `${REPOSITORY}src/io/sums/crc32c.ts`;
  const code = `const { crc32cOf, loadCrc32c } = await import(${
    JSON.stringify(module)
  });
    await loadCrc32c();
    console.log(crc32cOf(new TextEncoder().encode("123456789")));`;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--config",
      `${REPOSITORY}deno.json`,
      "--deny-ffi",
      "--no-prompt",
      code,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder();
  assert.equal(text.decode(stdout), `${0xe3069283}\n`, text.decode(stderr));
});
