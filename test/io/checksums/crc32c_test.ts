/** CRC-32C by either package, and wherever it is verified like other checksums. */
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { readSlices } from "../../../src/io/read/read_slices.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { combineCrc32 } from "../../../src/io/checksums/combine_crc32.ts";
import {
  type ChecksumKind,
  checksumOf,
} from "../../../src/io/checksums/checksum.ts";
import {
  crc32cOf,
  loadCrc32c,
  loadWasm,
} from "../../../src/io/checksums/crc32c.ts";
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

Deno.test("both packages compute the standard's checksums, at once and in pieces", async () => {
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

const KINDS: readonly ChecksumKind[] = ["crc32", "crc32c"];

Deno.test("a kind of checksum describes its computation", async () => {
  await loadCrc32c();
  for (const [bytes, sum] of KNOWN) {
    assert.equal(checksumOf("crc32c")(bytes), sum);
    assert.equal(checksumOf("crc32")(bytes), crc32(bytes));
  }
  for (const kind of KINDS) {
    assert.equal(checksumOf(kind)(new Uint8Array(0)), 0);
  }
});

Deno.test("checksums of two runs are combined, of each kind", async () => {
  await loadCrc32c();
  const [first, second] = [LONG.subarray(0, 12_345), LONG.subarray(12_345)];
  for (const kind of KINDS) {
    const sum = checksumOf(kind);
    assert.equal(
      combineCrc32(kind, sum(first), sum(second), second.length),
      sum(LONG),
    );
  }
});

Deno.test("slices of one batch are checksummed each by its kind", async () => {
  await loadCrc32c();
  const sources = [new MemorySource(LONG)];
  const ranges = [[0, 100], [100, 0], [200, 300], [510, 40_000], [60_000, 0]];
  const slices = ranges.map(([offset, length], i) => ({
    source: 0,
    offset: offset!,
    length: length!,
    checksumKind: [...KINDS, undefined][i % 3],
  }));
  for (const run of [runSync, runAsync]) {
    const sums: number[] = [];
    await run(readSlices(sources, slices, (i, sum) => void (sums[i] = sum)));
    for (const [i, { offset, length, checksumKind }] of slices.entries()) {
      const expected = checksumKind &&
        checksumOf(checksumKind)(LONG.subarray(offset, offset + length));
      assert.equal(sums[i], expected);
    }
  }
});

Deno.test("without permissions it is computed as well, and no permission is requested", async () => {
  const module = `${REPOSITORY}src/io/checksums/crc32c.ts`;
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
