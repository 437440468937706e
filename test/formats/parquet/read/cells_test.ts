/** Pages are decoded once for concurrent requests of their rows, and cached up to a size limit. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import type { Steps } from "../../../../src/io/concurrency/steps.ts";
import type { ByteSource } from "../../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../../src/io/storage/storage.ts";
import { slowStorage } from "../../../support/slow_storage.ts";
import { largeFile } from "../../../support/parquet/make_parquet.ts";

const SIZE = 50_000;
const BYTES = largeFile({
  groups: 1,
  pages: 4,
  rows: 5,
  size: SIZE,
  isIndexed: true,
});

/** Returns a slow storage that counts reads of pages. */
function counting(): { readonly storage: Storage; pages: number } {
  const inner = slowStorage(5, new MemoryStorage({ "t.parquet": BYTES }));
  const counted = {
    pages: 0,
    storage: {
      list: (path: string) => inner.list(path),
      stat: (path: string) => inner.stat(path),
      *open(path: string): Steps<ByteSource> {
        const source = yield* inner.open(path);
        const { name, size, mtime } = source;
        return {
          name,
          size,
          mtime,
          readAt(into, offset, options) {
            if (into.length > 4 * SIZE && offset < size - 70_000) {
              counted.pages++;
            }
            return source.readAt(into, offset, options);
          },
          close: () => source.close(),
        };
      },
    },
  };
  return counted;
}

Deno.test("concurrent requests for rows of one page decode it once", async () => {
  const counted = counting();
  using reader = await openRows("t.parquet", counted);
  const rows = await Promise.all(
    [5, 6, 7, 8, 9].map((row) => reader.read(row)),
  );
  assert.deepEqual(
    rows.map(({ data }) => (data as Uint8Array)[0]),
    [5, 6, 7, 8, 9],
  );
  assert.equal(counted.pages, 1);
  const controller = new AbortController();
  const given = reader.read(0, { signal: controller.signal });
  const other = reader.read(1);
  controller.abort();
  await assert.rejects(given, { name: "AbortError" });
  assert.equal(((await other)["data"] as Uint8Array)[0], 1);
});

Deno.test("pages are cached up to the size limit, the last one always", async () => {
  const page = 5 * (SIZE + 4 + 16);
  for (const [pageCacheSize, again] of [[10 * page, 0], [0, 4]] as const) {
    const counted = counting();
    using reader = await openRows("t.parquet", {
      storage: counted.storage,
      pageCacheSize,
    });
    for (const row of [0, 1, 5, 10, 15]) await reader.read(row);
    assert.equal(counted.pages, 4, String(pageCacheSize));
    for (const row of [0, 5, 10, 15]) await reader.read(row);
    assert.equal(counted.pages, 4 + again, String(pageCacheSize));
  }
});
