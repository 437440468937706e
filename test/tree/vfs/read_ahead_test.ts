import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { PathError } from "../../../src/base/errors.ts";
import { readAhead } from "../../../src/tree/vfs/read_ahead.ts";
import { open } from "../../../src/open/open.ts";
import { type WalkEntry } from "../../../src/tree/vfs/walk.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";

/** Makes a container of files of these sizes; each byte encodes the file and its offset. */
function container(sizes: readonly number[]): Uint8Array {
  const tree = sizes.map((size, i) =>
    [String(i).padStart(6, "0"), contentOf(i, size)] as const
  );
  return ffrBytes(packedSamples(Object.fromEntries(tree)));
}

function contentOf(i: number, size: number): Uint8Array {
  return new Uint8Array(size).map((_, at) => at * 31 + i * 7);
}

/** Collects everything read ahead, copied before the next item is requested. */
async function readAll(
  bytes: Uint8Array | Blob,
): Promise<{ name: string; content?: Uint8Array }[]> {
  using fs = await open(bytes);
  const read: { name: string; content?: Uint8Array }[] = [];
  for await (const batch of readAhead(fs, fs.walk())) {
    const contents = await batch.contents;
    if (batch.isLarge) assert.equal(batch.entries.length, 1);
    for (const [i, { name }] of batch.entries.entries()) {
      read.push(
        batch.isLarge ? { name } : { name, content: contents[i]!.slice() },
      );
    }
  }
  return read;
}

const SIZES = [
  ...Array.from({ length: 600 }, (_, i) => i % 50), // more than one batch of entries
  ...[700_000, 500_000, 5_000_000, 0, 10, 1 << 20, (1 << 20) + 1, 1],
];

for (const kind of ["memory", "a Blob"] as const) {
  Deno.test(`files are prefetched, in order, from ${kind}`, async () => {
    const bytes = container(SIZES);
    const read = await readAll(
      kind === "memory" ? bytes : new Blob([bytes as BlobPart]),
    );
    assert.equal(read.length, SIZES.length);
    for (const [i, { name, content }] of read.entries()) {
      assert.equal(name, String(i).padStart(6, "0"));
      const expected = SIZES[i]! > 1 << 20
        ? undefined
        : contentOf(i, SIZES[i]!);
      assert.deepEqual(content, expected, name);
    }
  });
}

Deno.test("entries that a walk returned before it failed are read", async () => {
  using fs = await open(container([1, 2, 3]));
  const entries = await Array.fromAsync(fs.walk());
  async function* failing(): AsyncGenerator<WalkEntry> {
    yield* entries;
    await Promise.resolve();
    throw new PathError("not-found", "x", "y");
  }
  const read: string[] = [];
  await assert.rejects(async () => {
    for await (const batch of readAhead(fs, failing())) {
      read.push(...batch.entries.map(({ name }) => name));
    }
  }, PathError);
  assert.deepEqual(read, entries.map(({ name }) => name));
});

Deno.test("a damaged file fails only its batch", async () => {
  const bytes = container([10, 5_000_000, 10]);
  const damaged = bytes.slice();
  const first = Buffer.from(damaged.buffer).indexOf(contentOf(0, 10));
  damaged[first]! ^= 1;
  using fs = await open(damaged);
  const outcomes: string[] = [];
  for await (const { entries, contents } of readAhead(fs, fs.walk())) {
    const outcome = await contents.then(() => "read", ({ code }) => code);
    outcomes.push(`${entries.map(({ name }) => name)}: ${outcome}`);
  }
  assert.deepEqual(outcomes, [
    "000000: sample-checksum",
    "000001: read",
    "000002: read",
  ]);
});
