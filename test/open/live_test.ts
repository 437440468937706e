/** Streams that are read while they are first decoded, with declared sizes that may be wrong. */
import assert from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { FormatError } from "../../src/base/errors.ts";
import type { Steps } from "../../src/io/concurrency/steps.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../src/io/storage/storage.ts";
import { check, open } from "../../src/open/open.ts";
import { openSync } from "../../src/open/mod.ts";
import { joined, mixedBytes, piped } from "../support/compress.ts";
import { needs } from "../support/programs/programs.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";

const CONTENT = mixedBytes(12_000_000, 9);
const FILES = Array.from({ length: 24 }, (_, i) => ({
  name: `f${String(i).padStart(2, "0")}`,
  data: CONTENT.subarray(500_000 * i, 500_000 * (i + 1)),
}));
const TAR = tarBytes(FILES);

/** Returns a storage in memory that counts the bytes read. */
function counting(path: string, bytes: Uint8Array) {
  const inner = new MemoryStorage({ [path]: bytes });
  const counted = { read: 0 };
  const storage: Storage = {
    *open(path): Steps<ByteSource> {
      const source = yield* inner.open(path);
      const read = (into: Uint8Array, offset: number) => {
        const got = source.readAtSync!(into, offset);
        counted.read += got;
        return got;
      };
      return {
        name: source.name,
        size: source.size,
        mtime: source.mtime,
        readAtSync: read,
        // Each read takes a turn of the event loop, so that reads interleave.
        readAt: async (into, offset) => {
          await Promise.resolve();
          return read(into, offset);
        },
        close: () => source.close(),
      };
    },
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
  };
  return { storage, counted };
}

async function assertSame(path: string, bytes: Uint8Array): Promise<number> {
  const { storage, counted } = counting(path, bytes);
  using shown = await open(path, { storage });
  const { read } = counted;
  for (const { name, data } of FILES) {
    assert.ok(Buffer.from(await shown.read(name)).equals(data), name);
  }
  using now = openSync(path, { storage });
  const [first] = FILES;
  assert.ok(Buffer.from(now.readSync(first!.name)).equals(first!.data));
  return read;
}

Deno.test("a stream of one member is decoded once to be opened", async () => {
  for (
    const [name, compress] of [["gz", gzipSync], ["zst", zstdWithSize]] as const
  ) {
    const bytes = await compress(TAR);
    const read = await assertSame(`x.tar.${name}`, bytes);
    assert.ok(read < 1.3 * bytes.length, `${name}: ${read} of ${bytes.length}`);
  }
});

/** Returns a frame that declares its size. */
function zstdWithSize(bytes: Uint8Array): Promise<Uint8Array> {
  return piped(bytes, "zstd", "-c", `--stream-size=${bytes.length}`);
}

Deno.test({
  name: "a wrong size of one member among several does not affect reads",
  ...needs("zstd"),
  fn: async () => {
    // The last member, or the first frame, is longer than the whole compressed file.
    const [start, end] = [TAR.subarray(0, 1024), TAR.subarray(1024)];
    const parts = [TAR.subarray(0, 9_000_000), TAR.subarray(9_000_000)];
    const cases: Record<string, Uint8Array> = {
      "x.tar.gz": joined(gzipSync(start), gzipSync(end)),
      "y.tar.gz": joined(...parts.map((part) => gzipSync(part))),
      "z.tar.gz": joined(gzipSync(TAR), gzipSync("")),
      "x.tar.zst": joined(...await Promise.all(parts.map(zstdWithSize))),
      "y.tar.zst": zstdCompressSync(TAR),
    };
    for (const [path, bytes] of Object.entries(cases)) {
      await assertSame(path, bytes);
      const { damaged } = await check(path, counting(path, bytes));
      assert.equal(damaged, 0);
    }
  },
});

Deno.test("a container that is read from its end, and an unknown format, are handled as well", async () => {
  const members = FILES.map(({ name, data }) => ({ name, data: data.slice() }));
  await assertSame("x.zip.gz", gzipSync(makeZip(members)));
  const { storage } = counting("x.gz", gzipSync(CONTENT));
  await assert.rejects(open("x.gz", { storage }), { code: "unknown-format" });
});

Deno.test("damage at any offset is rejected", async () => {
  const bytes = gzipSync(TAR);
  for (const at of [5000, bytes.length >> 1, bytes.length - 6]) {
    const damaged = Uint8Array.from(bytes);
    damaged[at]! ^= 0xff;
    for (const wrong of [damaged, bytes.subarray(0, at)]) {
      const { storage } = counting("x.tar.gz", wrong);
      await assert.rejects(open("x.tar.gz", { storage }), FormatError);
      assert.throws(() => openSync("x.tar.gz", { storage }), FormatError);
    }
  }
});
