/**
 * Several shards with a damaged one: the index numbers its samples, each of which is an error; and truncated shards.
 */
import { openMds } from "../../../support/mds/open_mds.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import assert from "node:assert/strict";
import { checked } from "../../../support/checked.ts";
import { zstdCompressSync } from "node:zlib";
import { FormatError } from "../../../../src/base/errors.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../../src/io/storage/storage.ts";
import { open } from "../../../../src/open/open.ts";
import {
  datasetWith,
  type Files,
  SHARDS,
} from "../../../support/mds/damaged_dataset.ts";
import { entryOf, sampleOf, shardOf } from "../../../support/mds/make_mds.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

/** Replaces the second shard by a compressed file. */
function compress(
  files: Files,
  index: Record<string, unknown>[],
  compression: string,
  damage: (bytes: Uint8Array) => void,
): void {
  const bytes = new Uint8Array(zstdCompressSync(SHARDS[1]!));
  damage(bytes);
  delete files["d/1.mds"];
  const basename = `1.mds.${compression}`;
  files[`d/${basename}`] = bytes;
  const zip = { basename, bytes: bytes.length, hashes: {} };
  index[1] = { ...index[1], compression, "zip_data": zip };
}

/** Damage that makes all samples of the second shard unreadable: the error's code, and its reason. */
const LOST: Readonly<
  Record<string, {
    readonly change: Parameters<typeof datasetWith>[0];
    readonly code: string;
    readonly reason: RegExp;
    /** Whether the damage is detected by reading, and not by opening. */
    readonly isHidden?: boolean;
  }>
> = {
  missing: {
    change: (files) => delete files["d/1.mds"],
    code: "missing-shard",
    reason: /it is missing, and .*index.json names it. Download it/,
  },
  longer: {
    change: (files) => files["d/1.mds"] = new Uint8Array(SHARDS[1]!.length + 1),
    code: "bad-structure",
    reason: /bytes, and d\/index.json says \d+\. .*download both again/,
  },
  "cut before its first sample ends": {
    change: (files) => files["d/1.mds"] = files["d/1.mds"]!.slice(0, 30),
    code: "truncated-data",
    reason: /truncated: it has 30 bytes, /,
  },
  "with another number of samples": {
    change: (files) => files["d/1.mds"]![0] = 2,
    code: "bad-structure",
    reason: /says that it has 2 samples, and the index says 3/,
  },
  "with offsets that run backwards": {
    change: (files) => files["d/1.mds"]!.fill(0xff, 8, 12),
    code: "bad-offsets",
    reason: /sample 1 of .*: it would start at byte 4294967295/,
  },
  "compressed in a way that is not read": {
    change: (files, index) => compress(files, index, "lz4", () => {}),
    code: "unsupported",
    reason: /compression 'lz4' is unsupported/,
  },
  "compressed, and damaged": {
    change: (files, index) =>
      compress(files, index, "zstd", (bytes) => bytes.fill(0xee, 4)),
    code: "bad-structure",
    reason: /1.mds.zstd\): .*it is damaged/,
    isHidden: true,
  },
};

for (
  const [title, { change, code, reason, isHidden = false }] of Object.entries(
    LOST,
  )
) {
  Deno.test(`a shard of several is ${title}: the others are read, each by its index`, async () => {
    const files = datasetWith(change);
    const path = Object.keys(files).find((path) => /1\.mds/.test(path)) ??
      "d/1.mds";
    const local = new MemoryStorage(files);
    for (const storage of [local, slowStorage(4, local)]) {
      const warnings: string[] = [];
      const onWarning = (message: string) => void warnings.push(message);
      using reader = await openMds("d", { storage, onWarning });
      assert.equal(reader.length, 9);
      const sound = [0, 1, 2, 6, 7, 8];
      const samples = await reader.get([...sound].reverse());
      assert.deepEqual(samples.map(({ n }) => n).reverse(), sound);
      for (const [number, sample] of [3, 4, 5].entries()) {
        const named = (error: unknown) => {
          assert.ok(error instanceof FormatError);
          assert.deepEqual(
            [error.code, error.path, error.sample],
            [code, path, sample],
          );
          const where =
            `Cannot read sample ${sample} (number ${number} of ${path}): `;
          assert.ok(error.message.startsWith(where), error.message);
          assert.match(error.message, reason);
          return true;
        };
        await assert.rejects(reader.read(sample), named);
        await assert.rejects(reader.read([8, sample, 0]), named);
        using shared = await OpenedSamples.openShared(reader.share(), {
          storage,
        });
        await assert.rejects(shared.read(sample), named);
        using container = await open("d", { storage, onWarning() {} });
        const directory = `00000${sample}`;
        assert.deepEqual(await container.list(directory), ["n.json", "t.txt"]);
        for (const name of ["n.json", "t.txt"]) {
          await assert.rejects(container.read(`${directory}/${name}`), named);
          await assert.rejects(container.stat(`${directory}/${name}`), named);
        }
      }
      // Tables of remote shards are read on demand.
      const isTold = !isHidden &&
        (storage === local || !/number of samples|backwards/.test(title));
      using container = await open("d", { storage, onWarning() {} });
      assert.equal((await container.list("")).length, 9);
      const text = await container.read("000006/t.txt");
      assert.equal(new TextDecoder().decode(text), "text 6");
      assert.deepEqual(
        container.info.unreadable?.map(({ archive }) => archive),
        isTold ? [path] : undefined,
      );
      assert.equal(warnings.length, isTold ? 1 : 0);
      if (isTold) {
        assert.match(warnings[0]!, reason);
        assert.match(
          warnings[0]!,
          /Until then, samples 3 to 5 cannot be read, and all others keep their numbers$/,
        );
      }
      const { damages } = await checked("d", { storage });
      assert.deepEqual(
        damages.map((error) => [error.code, error.path]),
        [[code, path]],
      );
    }
  });
}

Deno.test("if the only shard is damaged, or all are, the error is that of the first", async () => {
  for (const { change, code, reason } of Object.values(LOST)) {
    const files = datasetWith((files, index) => {
      change(files, index);
      index.splice(0, 1);
      index.splice(1, 1);
    });
    await assert.rejects(async () => {
      using reader = await openMds("d", {
        storage: new MemoryStorage(files),
        onWarning: assert.fail,
      });
      await reader.read(0);
    }, { code, message: reason });
  }
  const files = datasetWith((files) => {
    delete files["d/0.mds"];
    files["d/1.mds"]!.fill(0xff);
    delete files["d/2.mds"];
  });
  const storage = new MemoryStorage(files);
  const options = { storage, onWarning: assert.fail };
  const expected = {
    code: "missing-shard",
    message: /0.mds: it is missing, and .* names it/,
  };
  await assert.rejects(openMds("d", options), expected);
  await assert.rejects(open("d", options), expected);
});

Deno.test("of a shard truncated at its end, the complete samples are read", async () => {
  const table = new Uint32Array(new Uint8Array(SHARDS[1]!).buffer, 0, 5);
  const [, first, second, third, end] = table;
  for (
    const [size, whole] of [
      [second!, 1],
      [third! - 1, 1],
      [third!, 2],
      [end! - 1, 2],
    ] as const
  ) {
    const files = datasetWith((files) =>
      files["d/1.mds"] = files["d/1.mds"]!.slice(0, size)
    );
    const local = new MemoryStorage(files);
    for (const storage of [local, slowStorage(5, local)]) {
      // As part of the dataset, and alone, without an index.
      for (
        const [path, before, after] of [["d", 3, 3], ["d/1.mds", 0, 0]] as const
      ) {
        const warnings: string[] = [];
        const onWarning = (message: string) => void warnings.push(message);
        using reader = await openMds(path, { storage, onWarning });
        using container = await open(path, { storage, onWarning });
        assert.equal(reader.length, before + 3 + after);
        assert.match(warnings[0]!, /1\.mds: truncated: it has \d+ bytes, /);
        assert.deepEqual(warnings, [warnings[0], warnings[0]]);
        assert.equal(container.info.unreadable?.length, 1);
        for (const number of [0, 1, 2]) {
          const sample = before + number;
          const file = `${sample}`.padStart(6, "0") + "/t.txt";
          if (number < whole) {
            assert.equal((await reader.get(sample))["n"], 3 + number);
            await container.read(file);
            continue;
          }
          const expected = {
            code: "truncated-data",
            path: "d/1.mds",
            sample,
            message: /Cannot read .*: truncated/,
          };
          await assert.rejects(reader.read(sample), expected);
          await assert.rejects(container.read(file), expected);
        }
        if (after > 0) assert.equal((await reader.get(6))["n"], 6);
        const { codes, samples } = await checked(path, { storage });
        assert.deepEqual(codes, ["truncated-data"]);
        assert.equal(samples, before + whole + after);
      }
    }
  }
  // No sample is complete.
  const storage = new MemoryStorage({
    "1.mds": new Uint8Array(SHARDS[1]!).slice(0, second! - 1),
  });
  assert.ok(second! > first!);
  await assert.rejects(openMds("1.mds", { storage }), {
    code: "truncated-data",
  });
});

Deno.test("check counts a shard with a wrong hash once, and each of its damaged samples", async () => {
  const hashes = { sha1: "0" };
  const broken = shardOf([
    sampleOf(3, "x", 7),
    sampleOf(4, "y"),
    sampleOf(5, "z", 9),
  ]);
  const files = datasetWith((files, index) => {
    files["d/0.mds"]![4]! = 1; // in its table
    files["d/1.mds"] = new Uint8Array(broken);
    files["d/2.mds"] = files["d/2.mds"]!.slice(0, -1);
    index[1] = entryOf("1.mds", broken.length, 3);
    for (const [i, one] of index.entries()) {
      const raw = one["raw_data"] as Record<string, unknown>;
      index[i] = { ...one, "raw_data": { ...raw, hashes } };
    }
  });
  // If tables are read on demand, the hash is checked first.
  const local = new MemoryStorage(files);
  for (const storage of [local, slowStorage(6, local)]) {
    const { damages } = await checked("d", { storage });
    assert.deepEqual(damages.map(({ path, sample }) => [path, sample]), [
      ["d/0.mds", undefined],
      ["d/1.mds", undefined],
      ["d/1.mds", 3],
      ["d/1.mds", 5],
      ["d/2.mds", undefined],
    ]);
  }
});

Deno.test("a compressed shard that cannot be decoded is read once, not for each of its samples", async () => {
  const { change } = LOST["compressed, and damaged"]!;
  const inner = new MemoryStorage(datasetWith(change));
  let reads = 0;
  const storage: Storage = {
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
    *open(path) {
      const source = yield* inner.open(path);
      const { name, size, mtime } = source;
      return {
        name,
        size,
        mtime,
        readAt(into, offset) {
          if (path.endsWith(".zstd")) reads++;
          return source.readAt(into, offset);
        },
        close: () => source.close(),
      };
    },
  };
  using reader = await openMds("d", { storage });
  reads = 0;
  for (const sample of [3, 4, 5, 3]) {
    await assert.rejects(reader.read(sample), { sample });
  }
  assert.equal(reads, 1);
});
