import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { FormatError } from "../../../src/base/errors.ts";
import { goldenCases } from "../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";

function crc32OfZeros(length: number): number {
  const zeros = new Uint8Array(Math.min(length, 1 << 20));
  let crc = 0;
  for (let done = 0; done < length; done += zeros.length) {
    crc = crc32(zeros.subarray(0, length - done), crc);
  }
  return crc;
}

async function damageOf(path: string) {
  const { damages: damage, samples } = await checked(path);
  return { damage, samples };
}

for (const golden of goldenCases("ffrecord")) {
  Deno.test(`check of ${golden.name}`, async () => {
    if (golden.valid) {
      const { damage, samples } = await damageOf(golden.path);
      assert.deepEqual(damage, []);
      assert.equal(samples, golden.content.n);
    } else if (golden.expected.outcome === "partial") {
      const { damage } = await damageOf(golden.path);
      const bad = golden.content.samples.filter(({ error }) =>
        error !== undefined
      );
      assert.deepEqual(
        damage.map(({ sample }) => sample),
        bad.map(({ index }) => index),
      );
    } else if (golden.kind === "ffr") {
      await assert.rejects(damageOf(golden.path), FormatError);
    } else if (
      golden.expected.class === "not-packed" ||
      golden.name === "ffrecord/hostile_deep"
    ) {
      assert.deepEqual((await damageOf(golden.path)).damage, []); // undamaged as plain samples
    } else {
      const { damage } = await damageOf(golden.path);
      assert.deepEqual(damage.map(({ code }) => code as string), [
        golden.expected.class,
      ]);
    }
  });
}

Deno.test("samples larger than the window are checked, including the last byte of each", async () => {
  await withTempDir(async (dir) => {
    const sizes = [10, 9_000_000, 0, 5_000_000, 3, 4 << 20, 100];
    const samples = sizes.map((size, i) => new Uint8Array(size).fill(i + 1));
    const bytes = ffrBytes(samples);
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(path, bytes);
    assert.deepEqual((await damageOf(path)).damage, []);
    let end = 12 + 12 * sizes.length;
    for (const [i, size] of sizes.entries()) {
      end += size;
      if (size === 0) continue;
      const damaged = bytes.slice();
      damaged[end - 1]! ^= 1;
      fs.writeFileSync(path, damaged);
      assert.deepEqual(
        (await damageOf(path)).damage.map(({ sample }) => sample),
        [i],
      );
    }
  });
});

Deno.test("damage found by several threads is reported in order, in a shared sample once", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    const long = 150 * 2 ** 20 + 17;
    const sizes = [5, long, ...Array(60).fill(3_000_000), 0, long, 9];
    // Zeros, which take no space on disk.
    const header = new DataView(new ArrayBuffer(12 + 12 * sizes.length));
    header.setBigInt64(4, BigInt(sizes.length), true);
    const starts: number[] = [];
    let end = header.byteLength;
    for (const [i, size] of sizes.entries()) {
      const at = 12 + 4 * sizes.length + 8 * i;
      starts.push(end);
      header.setUint32(12 + 4 * i, crc32OfZeros(size), true);
      header.setBigInt64(at, BigInt(end), true);
      end += size;
    }
    fs.writeFileSync(path, header);
    fs.truncateSync(path, end);
    assert.deepEqual((await damageOf(path)).damage, []);
    const file = fs.openSync(path, "r+");
    const one = Uint8Array.of(1);
    const bad = [0, 1, 2, 20, 21, 61, 63, 64];
    for (const sample of bad) {
      const last = starts[sample]! + sizes[sample]! - 1;
      fs.writeSync(file, one, 0, 1, last);
      if (sizes[sample] === long) fs.writeSync(file, one, 0, 1, starts[sample]);
    }
    fs.closeSync(file);
    const { damage, samples } = await damageOf(path);
    assert.equal(samples, sizes.length);
    assert.deepEqual(damage.map(({ sample }) => sample), bad);
    assert.ok(damage.every(({ code }) => code === "sample-checksum"));
  });
});

Deno.test("a small file with overlapping samples is not checked for hours", async () => {
  await withTempDir(async (dir) => {
    // Alternating offsets: every other sample is nearly the whole file.
    const count = 4000;
    const bytes = ffrBytes(
      Array.from({ length: count }, () => new Uint8Array(1000)),
    );
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 0, true); // no metadata checksum
    for (let i = 0; i < count; i++) {
      const offset = i % 2 === 0 ? 12 + 12 * count : bytes.length;
      view.setBigInt64(12 + 4 * count + 8 * i, BigInt(offset), true);
    }
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(path, bytes);
    const { damage } = await damageOf(path);
    assert.equal(damage.length, count);
    assert.ok(
      damage.filter(({ message }) => /overlap/.test(message)).length >
        count / 3,
    );
  });
});

Deno.test("check rejects what open rejects, also for a forced format", async () => {
  await withTempDir(async (dir) => {
    const codes = async (location: string, format?: string) =>
      (await checked(location, { format })).codes;
    fs.writeFileSync(`${dir}/0.ffr`, ffrBytes([new Uint8Array(3)]));
    assert.deepEqual(await codes(`${dir}/0.ffr`), []);
    assert.deepEqual(await codes(`${dir}/0.ffr`, "ffrecord-packed"), [
      "not-packed",
    ]);
    fs.writeFileSync(
      `${dir}/1.ffr`,
      ffrBytes(packedSamples({ a: new Uint8Array(1) })),
    );
    assert.deepEqual(await codes(dir), ["bad-structure"]);
    assert.deepEqual(await codes(dir, "ffrecord-samples"), []);
  });
});

Deno.test("damage of a packed folder in several files names the file", () =>
  withTempDir(async (dir) => {
    const text = (content: string) => new TextEncoder().encode(content);
    const samples = packedSamples({
      a: text("one"),
      "b$&.txt": text("second"),
    });
    const path = `${dir}/sample 0`;
    fs.mkdirSync(path);
    fs.writeFileSync(`${path}/0.ffr`, ffrBytes(samples.slice(0, 1)));
    const bytes = ffrBytes(samples.slice(1));
    bytes[new TextDecoder("latin1").decode(bytes).indexOf("second")]! ^= 1;
    fs.writeFileSync(`${path}/1.ffr`, bytes);
    const { damage } = await damageOf(path);
    assert.deepEqual(
      damage.map(({ member, sample }) => [member, sample]),
      [["b$&.txt", 1]],
    );
    assert.ok(
      damage[0]!.message.startsWith(
        `Cannot read 'b$&.txt' (sample 0) of ${path}/1.ffr: checksum mismatch: `,
      ),
      damage[0]!.message,
    );
  }));
