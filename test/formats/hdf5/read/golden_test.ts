/** Files that h5py wrote, against what h5py reads of them. */
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import type { NdArray } from "../../../../src/codecs/numpy/mod.ts";
import { open, openSamples } from "../../../../mod.ts";
import {
  arrayIn,
  hdf5Case,
  hdf5Cases,
} from "../../../support/hdf5/hdf5_golden.ts";

const quiet = { onWarning() {} };

for (const { name, path, files, links = {}, unreadable = {} } of hdf5Cases()) {
  Deno.test(`${name}: files have the values that h5py reads`, async () => {
    using fs = await open(path, quiet);
    const shown: Record<string, unknown> = {};
    for await (const entry of fs.walk("")) {
      if (!entry.isFile || entry.path in unreadable) continue;
      const bytes = await fs.read(entry.path);
      const text = new TextDecoder().decode(bytes);
      shown[entry.path] = entry.path.includes(".npy")
        ? arrayIn(bytes)
        : entry.path.endsWith(".txt")
        ? { text }
        : { json: JSON.parse(text.replace(/\b\d{17,}\b/, '"$&"')) };
    }
    if (Object.keys(files).length > 0) {
      assert.deepEqual(sorted(shown), sorted(files));
    }
    for (const [link, target] of Object.entries(links)) {
      const { ino } = await fs.stat(link);
      assert.equal(ino, (await fs.stat(target)).ino, link);
    }
  });
}

function sorted(files: object): [string, unknown][] {
  return Object.entries(files).sort(([a], [b]) => a < b ? -1 : 1);
}

/** A value of a row as `expect.json` has it. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}`;
  if (value instanceof Uint8Array) return { hex: value.toHex() };
  const { dtype, shape, data } = (value ?? {}) as Partial<NdArray>;
  if (dtype === undefined) {
    return typeof value === "object" && value !== null ? { ...value } : value;
  }
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return { dtype, shape, crc32: crc32(bytes) };
}

for (const { name, path, rows } of hdf5Cases()) {
  if (rows === undefined) continue;
  Deno.test(`${name}: rows have the values that h5py reads, in any order`, async () => {
    using samples = await openSamples(path, quiet);
    const fields = Object.keys(rows).sort();
    const [first] = fields;
    const count = rows[first!]!.length;
    assert.equal(samples.length, count);
    const order = Array.from({ length: count }, (_, i) => i * 7 % count);
    for (const [i, row] of (await samples.get([...order, 0, 0])).entries()) {
      const index = order[i] ?? 0;
      assert.deepEqual(Object.keys(row).sort(), fields);
      for (const field of fields) {
        const value = plain((row as Record<string, unknown>)[field]);
        assert.deepEqual(value, rows[field]![index], `${field} ${index}`);
      }
    }
  });
}

Deno.test("links, and groups that are shown already, are skipped by name where they lead nowhere new", async () => {
  const { path, skipped } = hdf5Case("groups");
  const warnings: string[] = [];
  using fs = await open(path, { onWarning: (text) => warnings.push(text) });
  const names = fs.info.skipped?.map(({ name }) => name).sort();
  assert.deepEqual(names, skipped);
  assert.equal(warnings.length, skipped!.length);
});

Deno.test("any part of an array is what the whole has there", async () => {
  using fs = await open(hdf5Case("layouts").path, quiet);
  for (const name of ["chunked.npy", "shuffled.npy", "tail.npy"]) {
    const whole = await fs.read(name);
    for (let i = 0; i < 40; i++) {
      const start = (i * 7919) % whole.length;
      const end = Math.min(whole.length, start + 1 + (i * i * 131) % 300_000);
      const part = await fs.readRange(name, start, end - start);
      assert.deepEqual(part, whole.subarray(start, end), `${name} ${start}`);
    }
  }
});
