/**
 * Readers, packed folders and listings of golden files in storages other than the disk; the contract suite covers
 * trees and datasets.
 */
import assert from "node:assert/strict";
import {
  FFRecordReader,
  PackedFolder,
} from "../../../src/formats/ffrecord/mod.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { listRecords } from "../../../src/formats/ffrecord/read/record_listing.ts";
import { LOCAL_DISK, type Storage } from "../../../src/io/storage/storage.ts";
import {
  inMemory,
  outcome,
  outcomeSync,
  refused,
} from "../../support/far_away.ts";
import { goldenCase, goldenCases } from "../../support/golden.ts";
import { LONG } from "../../support/long.ts";
import { slowStorage } from "../../support/slow_storage.ts";

/** Number of files read one by one. */
const SINGLE = 10;
/** Number of entries whose paths are compared: with deep nesting, all paths would take gigabytes. */
const ENTRIES = LONG ? 500 : 150;

interface Options {
  readonly storage: Storage;
  readonly checkData: boolean;
  readonly onWarning: (message: string) => void;
}

/** Ways to use a container; each result is compared with that from disk. */
const USES: Record<string, (path: string, options: Options) => unknown> = {
  reader: readSamples,
  folder: readFolder,
  listing: async (path, options) => {
    const listing = await runAsync(listRecords(path, options));
    const damaged = listing.damaged.map(refused);
    const all = await runAsync(listing.page(0, listing.length));
    const records = all.map(({ damage, ...record }) => ({
      ...record,
      damage: damage && refused(damage),
    }));
    const files = listing.files.map(({ path, size }) => ({ path, size }));
    return { files, damaged, records };
  },
};

for (const golden of goldenCases("ffrecord")) {
  Deno.test(`any storage yields the same as the disk: ${golden.name}`, async () => {
    for (const checkData of [true, false]) {
      const local = await useAll(golden.path, LOCAL_DISK, checkData);
      const slow = slowStorage(golden.path.length);
      assert.deepEqual(await useAll(golden.path, slow, checkData), local);
      const memory = inMemory(golden.path);
      assert.deepEqual(await useAll(golden.path, memory, checkData), local);
    }
    useNow(golden.path, inMemory(golden.path));
    refuseNow(golden.path);
  });
}

async function useAll(path: string, storage: Storage, checkData: boolean) {
  const results: Record<string, unknown> = {};
  for (const [name, use] of Object.entries(USES)) {
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    const options = { storage, checkData, onWarning };
    const result = await outcome(() => use(path, options));
    results[name] = { result, warnings };
  }
  return results;
}

async function readSamples(path: string, options: Options): Promise<unknown> {
  using reader = await FFRecordReader.open(path, options);
  const all = Array.from({ length: reader.length }, (_, i) => i);
  const some = all.slice(0, SINGLE);
  return {
    paths: reader.paths,
    offsets: reader.offsets,
    checksums: reader.checksums,
    single: await each([...some, -1, all.length], (i) => reader.readOne(i)),
    batch: await outcome(() => reader.read([...some.toReversed(), ...some])),
    all: await outcome(() => reader.read(all)),
    validate: await outcome(() => reader.validate()),
    shared: await outcome(async () => {
      const seed = structuredClone(reader.share());
      using other = await FFRecordReader.openShared(seed, options);
      return await other.read(some);
    }),
  };
}

async function readFolder(path: string, options: Options): Promise<unknown> {
  using folder = await PackedFolder.open(path, options);
  const files = folder.list("", { recursive: true, dirs: false })
    .slice(0, ENTRIES);
  return {
    listed: folder.list("", { recursive: true }).slice(0, ENTRIES),
    single: await each(files.slice(0, SINGLE), (path) => folder.read(path)),
    all: await outcome(() => folder.read(files)),
    missing: await outcome(() => folder.read("no such file")),
  };
}

async function each<T>(
  items: readonly T[],
  call: (item: T) => unknown,
): Promise<unknown[]> {
  return await Promise.all(items.map((item) => outcome(() => call(item))));
}

/** Asserts that synchronous reads from memory equal those from disk. */
function useNow(path: string, memory: Storage): void {
  const use = (storage: Storage) => {
    const options = { storage, onWarning() {} };
    return {
      samples: outcomeSync(() => {
        using reader = FFRecordReader.openSync(path, options);
        const all = Array.from({ length: reader.length }, (_, i) => i);
        return all.map((i) => outcomeSync(() => reader.readOneSync(i)));
      }),
      folder: outcomeSync(() => {
        using folder = PackedFolder.openSync(path, options);
        const files = folder.list("", { recursive: true, dirs: false })
          .slice(0, ENTRIES);
        return [files, outcomeSync(() => folder.readSync(files))];
      }),
    };
  };
  assert.deepEqual(use(memory), use(LOCAL_DISK));
}

function refuseNow(path: string): void {
  const options = { storage: slowStorage(2), onWarning() {} };
  for (
    const openNow of [
      () => FFRecordReader.openSync(path, options),
      () => PackedFolder.openSync(path, options),
    ]
  ) {
    assert.throws(openNow, { name: "RecordfsError", code: "must-wait" });
  }
}

Deno.test("views are rejected if there is no file to map", async () => {
  const { path } = goldenCase("ffrecord/packed_tree");
  for (const storage of [slowStorage(4), inMemory(path)]) {
    using reader = await FFRecordReader.open(path, { storage });
    using folder = await PackedFolder.open(path, { storage });
    const last = reader.length - 1;
    for (
      const view of [
        () => reader.unsafeView(last),
        () => reader.unsafeViews([last, last]),
        () => folder.unsafeView("..."),
      ]
    ) {
      assert.throws(view, {
        code: "unsupported",
        message: /it is not a local file\. Call read\(\) instead/,
      });
    }
  }
});
