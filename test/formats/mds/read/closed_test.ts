/** Datasets that are closed before or while their shards are opened. */
import { openMds } from "../../../support/mds/open_mds.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import assert from "node:assert/strict";
import type { Steps } from "../../../../src/io/concurrency/steps.ts";
import type { ByteSource } from "../../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../../src/io/storage/storage.ts";
import { open } from "../../../../src/open/open.ts";
import { datasetWith } from "../../../support/mds/damaged_dataset.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

/** Storage in memory that counts its open files. */
class CountedStorage implements Storage {
  readonly #inner = new MemoryStorage(datasetWith(() => {}));
  readonly list = (path: string) => this.#inner.list(path);
  readonly stat = (path: string) => this.#inner.stat(path);
  openCount = 0;

  *open(path: string): Steps<ByteSource> {
    const source = yield* this.#inner.open(path);
    this.openCount++;
    const close = () => void this.openCount--;
    const { name, size, mtime } = source;
    const readAt: ByteSource["readAt"] = (into, offset) =>
      source.readAt(into, offset);
    return { name, size, mtime, readAt, close };
  }
}

Deno.test("no shard is opened once a dataset is closed, and none that was being opened remains open", async () => {
  const counted = new CountedStorage();
  const reader = await openMds("d", { storage: counted });
  const { openCount } = counted;
  assert.equal(openCount, 3);
  const slow = slowStorage(7, counted);
  const shared = await OpenedSamples.openShared(reader.share(), {
    storage: slow,
  });
  const reading = shared.read([0, 4, 8]);
  shared.close();
  await assert.rejects(reading, { code: "closed" });
  assert.equal(counted.openCount, openCount);
  await assert.rejects(shared.read(8), { code: "closed" });
  const container = await open("d", { storage: counted });
  await container.read("000003/t.txt");
  container.close();
  await assert.rejects(container.read("000006/t.txt"), { code: "closed" });
  reader.close();
  await assert.rejects(reader.read(0), { code: "closed" });
  assert.equal(counted.openCount, 0);
});
