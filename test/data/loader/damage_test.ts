/** Loaders throw at damaged samples or skip them, and skip the same ones however they load. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../../src/open/data/mod.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import { FFRecordDataset } from "../../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { TFRecordWriter } from "../../../src/formats/tfrecord/mod.ts";
import { HostileDataset } from "../support/hostile_dataset.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { serving } from "../../support/remote/serving.ts";

/** Samples of two bytes, both the sample's index. */
const SAMPLES = Array.from({ length: 40 }, (_, i) => Uint8Array.of(i, i));

/** Samples that are changed without updating their checksums; 8 to 11 are a whole batch. */
const BAD = [3, 8, 9, 10, 11, 26];

/** Writes the samples, with the second byte of the bad ones changed. */
async function writeDamaged(path: string): Promise<void> {
  if (path.endsWith(".ffr")) fs.writeFileSync(path, ffrBytes(SAMPLES));
  else {
    await using writer = await TFRecordWriter.open(path);
    for (const sample of SAMPLES) await writer.write(sample);
    await writer.close();
  }
  const bytes = fs.readFileSync(path);
  for (const bad of BAD) {
    const at = bytes.indexOf(
      Uint8Array.of(bad, bad),
      path.endsWith(".ffr") ? 12 * 40 : 0,
    );
    bytes[at + 1]! ^= 0x40;
  }
  fs.writeFileSync(path, bytes);
}

const FORMATS: Readonly<
  Record<string, (path: string) => Promise<Dataset<Uint8Array>>>
> = {
  ffr: (path) => FFRecordDataset.open(path),
  tfrecord: (path) =>
    openDataset(path, {
      process: {
        module: import.meta.resolve("../../support/contents.ts"),
        name: "processContents",
      },
    }),
};

for (const [format, open] of Object.entries(FORMATS)) {
  for (const numWorkers of [0, 2]) {
    Deno.test(`damaged samples of ${format} are skipped, counted and reported: ${numWorkers} workers`, async () => {
      await withTempDir(async (dir) => {
        const path = `${dir}/data.${format}`;
        await writeDamaged(path);
        using dataset = await open(path);
        for (const shuffle of [false, true]) {
          const warnings: string[] = [];
          const options = { batchSize: 4, numWorkers, shuffle, seed: 5 };
          await using loader = new DataLoader(dataset, {
            ...options,
            collate: false,
            onDamage: "skip",
            onWarning: (message) => warnings.push(message),
          });
          const batches: number[][] = [];
          for await (const batch of loader) {
            batches.push((batch as Uint8Array[]).map(([first]) => first!));
          }
          assert.equal(loader.skipped, BAD.length);
          assert.deepEqual([loader.epoch, loader.step], [1, 0]);
          // The batches are those of an undamaged file, without the bad samples.
          const order = await orderOf(options);
          const expected = order.map((batch) =>
            batch.filter((sample) => !BAD.includes(sample))
          );
          assert.deepEqual(
            batches,
            expected.filter(({ length }) => length > 0),
          );
          assert.equal(warnings.length, BAD.length);
          for (const warning of warnings) {
            assert.match(
              warning,
              /^Sample \d+ is skipped, since it is damaged: .*checksum/,
            );
          }
        }
      });
    });
  }
}

/** Returns the batches that a loader of undamaged samples makes. */
async function orderOf(
  options: { batchSize: number; shuffle: boolean; seed: number },
): Promise<number[][]> {
  await using loader = new DataLoader(
    new HostileDataset("throw", -1) as Dataset<unknown>,
    { ...options, numWorkers: 0, collate: false },
  );
  const order: number[][] = [];
  for await (const batch of loader) order.push(batch as number[]);
  return order;
}

Deno.test("by default, a loader throws at the first damaged sample", async () => {
  await withTempDir(async (dir) => {
    await writeDamaged(`${dir}/data.ffr`);
    using dataset = await FFRecordDataset.open(`${dir}/data.ffr`);
    await using loader = new DataLoader(dataset, {
      batchSize: 2,
      collate: false,
    });
    await assert.rejects(async () => {
      for await (const _ of loader);
    }, { code: "sample-failed", step: 1, sample: 3 });
    assert.equal(loader.skipped, 0);
    assert.throws(
      () => new DataLoader(dataset, { onDamage: "ignore" as "skip" }),
      /^TypeError: onDamage must be .*, not ignore/,
    );
  });
});

Deno.test("a state saved after skipped samples leads to the next batch", async () => {
  await withTempDir(async (dir) => {
    await writeDamaged(`${dir}/data.ffr`);
    using dataset = await FFRecordDataset.open(`${dir}/data.ffr`);
    const options = {
      batchSize: 4,
      collate: false,
      onDamage: "skip",
      onWarning() {},
    } as const;
    await using loader = new DataLoader(dataset, options);
    let state = loader.save();
    for await (const batch of loader) {
      state = loader.save();
      if ((batch as Uint8Array[])[0]![0] === 12) break; // after the batch without samples
    }
    await using other = new DataLoader(dataset, options);
    other.load(JSON.parse(JSON.stringify(state)));
    for await (const batch of other) {
      assert.equal((batch as Uint8Array[])[0]![0], 16);
      break;
    }
  });
});

Deno.test("an error in user code is not damage, and is not skipped", async () => {
  const dataset = new HostileDataset("throw-text", 10);
  await using loader = new DataLoader<unknown>(dataset, {
    batchSize: 4,
    onDamage: "skip",
    onWarning: assert.fail,
  });
  await assert.rejects(async () => {
    for await (const _ of loader);
  }, { code: "sample-failed", sample: 10 });
});

Deno.test("a file that is replaced while it is loaded is not damage, and ends the loop", () =>
  serving(async ({ dir, server, remote }) => {
    const samples = Array.from(
      { length: 40 },
      (_, i) => new Uint8Array(50_000).fill(i),
    );
    const path = `${dir}/data.ffr`;
    fs.writeFileSync(path, ffrBytes(samples));
    const url = `${server.url}/data.ffr`;
    using dataset = await FFRecordDataset.open(url, { remote });
    fs.writeFileSync(path, ffrBytes(samples.toReversed()));
    await using loader = new DataLoader(dataset, {
      batchSize: 4,
      sampler: [39, 38, 37, 36, 35, 34],
      onDamage: "skip",
      onWarning: assert.fail,
    });
    await assert.rejects(async () => {
      for await (const _ of loader) assert.fail("all were replaced");
    }, { code: "sample-failed", message: /was replaced or changed/ });
    assert.equal(loader.skipped, 0);
  }));

Deno.test("of many damaged samples ten are named, and the others counted", async () => {
  await withTempDir(async (dir) => {
    const samples = Array.from({ length: 30 }, (_, i) => Uint8Array.of(i, i));
    const bytes = ffrBytes(samples);
    bytes.fill(0xee, bytes.length - 60);
    fs.writeFileSync(`${dir}/data.ffr`, bytes);
    using dataset = await FFRecordDataset.open(`${dir}/data.ffr`);
    const warnings: string[] = [];
    await using loader = new DataLoader(dataset, {
      batchSize: 4,
      onDamage: "skip",
      onWarning: (message) => warnings.push(message),
    });
    for await (const _ of loader) assert.fail("there is no sound sample");
    assert.equal(loader.skipped, 30);
    assert.equal(warnings.length, 11);
    assert.match(warnings[10]!, /^Epoch 0 skipped 30 damaged samples/);
  });
});
