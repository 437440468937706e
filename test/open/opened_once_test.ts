/** A container of one file is opened once: the file that identifies the format is the one that the format reads. */
import assert from "node:assert/strict";
import type { Steps } from "../../src/io/concurrency/steps.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import type { FileFacts, Storage } from "../../src/io/storage/storage.ts";
import { open } from "../../src/open/open.ts";
import { openSync } from "../../src/open/open_sync.ts";
import { REPOSITORY } from "../support/paths.ts";

const GOLDEN = `${REPOSITORY}test/golden/`;

const CONTAINERS = [
  "ffrecord/packed_tree/sample_10.ffr",
  "ffrecord/plain_many/sample_92.ffr",
  "tar/webdataset/pairs.tar",
  "zip/python/t.zip",
  "parquet/plain_v1/plain_v1.parquet",
  "tfrecord/examples/pictures.tfrecord",
];

/** Counts opened files, and those still open. */
class CountingStorage implements Storage {
  readonly #files: MemoryStorage;
  opened = 0;
  unclosed = 0;

  constructor(files: MemoryStorage) {
    this.#files = files;
  }

  *open(path: string): Steps<ByteSource> {
    const source = yield* this.#files.open(path);
    this.opened++;
    this.unclosed++;
    const close = source.close.bind(source);
    let isOpen = true;
    source.close = () => {
      if (isOpen) this.unclosed--;
      isOpen = false;
      close();
    };
    return source;
  }

  list(path: string): Steps<readonly string[] | undefined> {
    return this.#files.list(path);
  }

  stat(path: string): Steps<FileFacts | undefined> {
    return this.#files.stat(path);
  }
}

for (const path of CONTAINERS) {
  Deno.test(`${path} is opened once, and closed once`, async () => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const bytes = await Deno.readFile(GOLDEN + path);
    const files = new MemoryStorage({ [name]: bytes });
    for (const isSync of [false, true]) {
      const storage = new CountingStorage(files);
      const options = { storage, onWarning() {} };
      const container = isSync
        ? openSync(name, options)
        : await open(name, options);
      assert.deepEqual([storage.opened, storage.unclosed], [1, 1]);
      container.close();
      assert.equal(storage.unclosed, 0);
    }
  });
}

Deno.test("a file that is not a container, or is damaged, is closed", async () => {
  for (const text of ["nothing", "PK\x05\x06 and no more", "\x8e\x9e"]) {
    const files = new MemoryStorage({ x: new TextEncoder().encode(text) });
    const storage = new CountingStorage(files);
    await assert.rejects(open("x", { storage }));
    assert.equal(storage.unclosed, 0);
  }
});

Deno.test("two containers opened at the same time do not share a file", async () => {
  const [path] = CONTAINERS;
  const bytes = await Deno.readFile(GOLDEN + path);
  const storage = new CountingStorage(new MemoryStorage({ x: bytes }));
  const [one, other] = await Promise.all(
    [1, 2].map(() => open("x", { storage })),
  );
  one!.close();
  assert.ok((await other!.read("...")).length > 0);
  other!.close();
  assert.equal(storage.unclosed, 0);
});
