import assert from "node:assert/strict";
import { PageCache, PagedFile } from "../../src/tree/paged_file.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { ENTRY, readEntry } from "../../src/tree/limits/limit_entries.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import { withTempDir } from "../support/paths.ts";

Deno.test("pages of the ten-millionth file are distinguished, like those of the first", async () => {
  await withTempDir((dir) => {
    const count = 64 * 512; // 64 pages
    const entries = BigUint64Array.from({ length: count }, (_, i) => BigInt(i));
    Deno.writeFileSync(`${dir}/a`, new Uint8Array(entries.buffer));
    const source = runSync(FileSource.open(`${dir}/a`));
    try {
      const cache = new PageCache(16);
      for (const files of [0, 10_000_000]) {
        for (let i = 0; i < files; i++) cache.newFile();
        const [one, other] = [0, 8].map((at) =>
          new PagedFile(source, at, cache)
        );
        for (let round = 0; round < 2; round++) {
          for (let i = 0; i < count - 1; i += 511) {
            assert.equal(entryOf(one!, i), i);
            assert.equal(entryOf(other!, i), i + 1);
          }
        }
      }
    } finally {
      source.close();
    }
  });
});

const entry = new Uint8Array(ENTRY);

function entryOf(file: PagedFile, index: number): number {
  file.copy(entry, index * ENTRY, ENTRY);
  return readEntry(entry, 0);
}
