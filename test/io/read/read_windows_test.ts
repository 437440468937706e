import assert from "node:assert/strict";
import fc from "fast-check";
import { ReadWindows } from "../../../src/io/read/read_windows.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";

const WINDOW = 1 << 20;

const contents = [3 * WINDOW + 5, 10, WINDOW].map((length, k) =>
  new Uint8Array(length).map((_, i) => (i >> 8) * 31 + i + k)
);
const storage = new MemoryStorage(
  Object.fromEntries(contents.map((bytes, k) => [`s${k}`, bytes])),
);
const sources: ByteSource[] = contents.map((_, k) =>
  runSync(storage.open(`s${k}`))
);

/** Reads a range through windows, whichever they are. */
async function range(
  windows: ReadWindows,
  source: ByteSource,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const all = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const bytes = windows.peek(source, offset + done, length - done);
    if (bytes.length === 0) {
      await windows.move(source, offset + done);
      continue;
    }
    all.set(bytes, done);
    done += bytes.length;
  }
  return all;
}

Deno.test("ranges in any order are those of their sources", async () => {
  const ranges = fc.tuple(fc.nat(2), fc.nat(), fc.nat()).map(([k, a, b]) => {
    const { length } = contents[k]!;
    const offset = a % length;
    return { k, offset, length: b % (length - offset + 1) };
  });
  const property = fc.asyncProperty(
    fc.array(ranges, { maxLength: 12 }),
    async (list) => {
      const windows = new ReadWindows(undefined);
      for (const { k, offset, length } of list) {
        const bytes = await range(windows, sources[k]!, offset, length);
        const expected = contents[k]!.subarray(offset, offset + length);
        assert.ok(bytes.every((byte, i) => byte === expected[i]));
      }
      await windows.end();
    },
  );
  await fc.assert(property, { numRuns: 25, seed: 1 });
});

Deno.test("a source that ends early is an error when it is come to, not before", async () => {
  const [long] = sources;
  const cut: ByteSource = {
    ...long!,
    name: "cut",
    size: 3 * WINDOW,
    readAt: (into, offset) =>
      Promise.resolve(offset < WINDOW ? into.byteLength : 0),
  };
  const windows = new ReadWindows(undefined);
  await windows.move(cut, 0);
  assert.equal(windows.peek(cut, 0, 10).length, 10);
  await assert.rejects(windows.move(cut, WINDOW), { code: "out-of-bounds" });
  assert.equal(windows.peek(cut, WINDOW, 10).length, 0);
  await windows.end();
});
