/** Datasets, loaders and labels of every format. */
import assert from "node:assert/strict";
import { IndexError, RecordfsError } from "../../../src/base/errors.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import type { Process } from "../../../src/data/datasets/process.ts";
import { RECIPE } from "../../../src/data/recipe.ts";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import {
  BatchMemory,
  DataLoader,
  type LoaderOptions,
  Subset,
} from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { readLabels } from "../../../src/open/data/read_labels.ts";
import { open } from "../../../src/open/open.ts";
import { succeed } from "../../cli/run_cli.ts";
import portableStorage from "../../data/support/portable_storage.ts";
import { inMemory, outcome } from "../../support/far_away.ts";
import { FULL } from "../../support/long.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import fc from "../../support/random.ts";
import { resumedPass } from "../../support/resumed_pass.ts";
import { slowStorage } from "../../support/slow_storage.ts";
import { COUNT, type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

const ORDER = [2, 0, 1, 1];

/** Largest golden dataset that is loaded, in samples. */
const MOST = 400;

type Options = Partial<
  Pick<LoaderOptions<unknown, unknown>, "numWorkers" | "rank" | "worldSize">
>;

/** Returns a loader of all samples, shuffled. */
function loaderOf(dataset: Dataset<unknown>, options: Options = {}) {
  return new DataLoader<unknown, unknown[]>(dataset, {
    ...{ batchSize: 1, shuffle: true, seed: 5, collate: false, ...options },
  });
}

/** Loads all samples of a dataset, and closes it. */
async function loaded(
  { keyOf }: FormatCase,
  dataset: Dataset<unknown>,
  options?: Options,
) {
  using _ = dataset;
  await using loader = loaderOf(dataset, options);
  return (await Array.fromAsync(loader)).flat().map(keyOf);
}

/** Opens a golden dataset; returns `undefined` if its samples belong to another class of the format. */
async function openIfOne(
  opening: () => Promise<Dataset<unknown>>,
): Promise<Dataset<unknown> | undefined> {
  try {
    return await opening();
  } catch (error) {
    assert.ok(error instanceof RecordfsError, String(error));
    return undefined;
  }
}

for (const [title, format] of CASES) {
  const { keys, keyOf } = format;

  Deno.test(`${title}: a batch equals its samples, in any order; a missing index is an IndexError`, () =>
    withSmall(format, async (path, dir) => {
      for (const storage of [undefined, slowStorage(3)]) {
        const dataset = await format.openDataset(path, { storage });
        assert.equal(dataset.length, COUNT);
        const batch = await dataset.get(ORDER);
        assert.deepEqual(batch.map(keyOf), ORDER.map((i) => keys[i]));
        for (const [at, index] of ORDER.entries()) {
          assert.deepEqual(await dataset.get([index]), [batch[at]]);
        }
        const memory = new BatchMemory();
        assert.deepEqual(await dataset.get(ORDER, { memory }), batch);
        assert.deepEqual(await dataset.get([]), []);
        for (const index of [COUNT, -1, 0.5, NaN]) {
          await assert.rejects(
            async () => await dataset.get([0, index]),
            (error) =>
              error instanceof IndexError && Object.is(error.index, index) &&
              error.message.includes(path),
          );
          assert.equal(dataset.fileOf(index), undefined);
        }
        assert.ok(dataset.fileOf(0)?.startsWith(path), dataset.fileOf(0));
        assert.ok(dataset.prefetch([...ORDER, -1, 99]) >= 0);
        assert.deepEqual(await dataset.get(ORDER), batch);
        const signal = AbortSignal.abort(new Error("enough"));
        await assert.rejects(
          async () => await dataset.get([0], { signal }),
          /enough/,
        );
        await assert.rejects(
          format.openDataset(path, { storage, signal }),
          /enough/,
        );
        dataset.close();
        assert.equal(descriptorsBelowNow(dir), 0);
        await assert.rejects(
          async () => await dataset.get([0]),
          ({ code, cause }) =>
            code === "closed" || (cause as RecordfsError)?.code === "closed",
        );
        assert.deepEqual(batch.map(keyOf), ORDER.map((i) => keys[i]));
      }
    }));

  Deno.test(`${title}: openDataset has the samples`, () =>
    withSmall(format, async (path) => {
      using dataset = await openDataset(path);
      using stored = await openDataset(path, { decode: false });
      assert.equal(dataset.length, COUNT);
      assert.equal(stored.length, COUNT);
      for (const one of [dataset, stored]) {
        const batch = await one.get(ORDER);
        const single = await Promise.all(
          ORDER.map(async (i) => (await one.get([i]))[0]),
        );
        assert.deepEqual(batch, single);
        assert.notDeepEqual(batch[0], batch[1]);
      }
    }));

  Deno.test(`${title}: its files are a dataset, in the order of a walk`, () =>
    withSmall(format, async (small) => {
      const sound = format.goldens.find(({ isSound }) => isSound);
      for (const path of [small, sound?.path ?? small]) {
        const options = { format: format.name, onWarning() {} };
        using shown = await open(path, options);
        using dataset = await openDataset(path, {
          ...{ ...options, files: "*", decode: false },
        });
        const files = [...shown.walkSync()].filter(({ isFile }) => isFile);
        assert.equal(dataset.length, files.length);
        const indices = [...files.keys()].toReversed();
        const expected = shown.readSync(files.toReversed());
        for (const given of [{}, { memory: new BatchMemory() }]) {
          const batch = await dataset.get(indices, given);
          assert.deepEqual(
            batch,
            files.map(({ path }, i) => ({ path, content: expected.at(-1 - i) }))
              .toReversed(),
          );
        }
        for (const [i, { path: name }] of files.entries()) {
          assert.equal(dataset.fileOf(i), `${path}/${name}`);
        }
        assert.equal(dataset.fileOf(files.length), undefined);
      }
    }));

  Deno.test(`${title}: an index file of equally many other samples is rejected`, () =>
    withSmall(format, async (path, dir) => {
      await succeed(["split", path, "--ratios", "1,2", "--out", dir]);
      const index = `${dir}/val.txt`;
      using dataset = await format.openDataset(path, {});
      assert.equal((await Subset.fromFile(dataset, index)).length, 2);
      const text = await Deno.readTextFile(index);
      const other = text.replace(/names=\w+/, `names=${"0".repeat(32)}`);
      await Deno.writeTextFile(index, other);
      await assert.rejects(Subset.fromFile(dataset, index), {
        code: "bad-indices",
        message: /an index file of other samples/,
      });
    }));

  if (format.takesProcess ?? true) {
    Deno.test(`${title}: samples are exactly what 'process' makes of a batch`, () =>
      withSmall(format, async (path) => {
        const openIt = (process: Process<unknown, unknown>) =>
          format.openDataset(path, { process });
        const told: unknown[] = [];
        using made = await openIt((samples, indices, options) => {
          told.push([indices, options]);
          return samples.map((sample) => [keyOf(sample)]);
        });
        const options = { seed: 3, epoch: 4 };
        const batch = await made.get(ORDER, options);
        assert.deepEqual(batch, ORDER.map((i) => [keys[i]]));
        assert.deepEqual(told, [[ORDER, options]]);
        assert.throws(() => made[RECIPE](), {
          name: "DataError",
          code: "not-portable",
          message: /^The option 'process'/,
        });
        for (const given of [[], [1, 2, 3], undefined, "ab", { length: 2 }]) {
          using wrong = await openIt(() => given as unknown[]);
          await assert.rejects(async () => await wrong.get([1, 2]), {
            name: "DataError",
            code: "bad-batch",
            sample: 1,
            path: wrong.fileOf(1),
            message:
              /make a batch of 2 samples: .* It must return one for each index/,
          });
        }
        const odd = new Error("odd");
        using throwing = await openIt(() => Promise.reject(odd));
        await assert.rejects(async () => await throwing.get([0]), odd);
        const called = Promise.withResolvers<void>();
        using hanging = await openIt(() => {
          called.resolve();
          return new Promise(() => {});
        });
        const controller = new AbortController();
        const waiting = hanging.get([0], { signal: controller.signal });
        await called.promise;
        controller.abort(odd);
        await assert.rejects(async () => await waiting, odd);
      }));
  }

  Deno.test(`${title}: a loader returns each sample once, in ranks and threads, and continues where it stopped`, () =>
    withSmall(format, async (path) => {
      const openIt = () => format.openDataset(path, {});
      using dataset = await openIt();
      const all = await resumedPass(
        () => loaderOf(dataset),
        (batch) => batch.map(keyOf),
        () => loaderOf(dataset, { numWorkers: FULL ? 2 : 0 }),
      );
      const sorted = (all: readonly unknown[]) =>
        all.map((key) => JSON.stringify(key)).sort();
      assert.deepEqual(sorted(all), sorted(keys));
      const ranks: unknown[] = [];
      for (const rank of [0, 1, 2]) {
        const part = { rank, worldSize: COUNT };
        ranks.push(...await loaded(format, await openIt(), part));
      }
      assert.deepEqual(sorted(ranks), sorted(keys));
      // Threads find the files by the storage's recipe.
      const storage = portableStorage();
      const portable = await format.openDataset(`far:${path}`, { storage });
      const threads = { numWorkers: 2 };
      assert.deepEqual(await loaded(format, portable, threads), all);
    }));

  Deno.test(`${title}: threads are rejected if they could not find the files`, () =>
    withSmall(format, async (path) => {
      const expected = await loaded(format, await format.openDataset(path, {}));
      for (const storage of [slowStorage(5), inMemory(path)]) {
        const far = () => format.openDataset(path, { storage });
        await assert.rejects(loaded(format, await far(), { numWorkers: 1 }), {
          name: "DataError",
          code: "not-portable",
          message:
            /in the loader's worker threads: it lies in a storage that they cannot open/,
        });
        assert.deepEqual(await loaded(format, await far()), expected);
      }
    }));

  Deno.test(`${title}: the label of each sample is read, and a missing one rejected`, () =>
    withSmall(format, async (path) => {
      using shown = await open(path);
      assert.equal(countSamples(shown.info).length, COUNT);
      if (format.labels !== undefined) {
        const { key, values } = format.labels;
        const labels = await readLabels(shown, key);
        assert.equal(labels.length, COUNT);
        assert.deepEqual(
          values.map((_, i) => labels.names[labels.at(i)]),
          values,
        );
      }
      const refused = { name: "RecordfsError", code: "no-label" };
      await assert.rejects(readLabels(shown, "none"), refused);
    }));
}

for (const [title, format] of CASES) {
  const sound = format.goldens.filter(({ isSound }) => isSound);
  if (sound.length === 0) continue;
  Deno.test(`${title}: in golden datasets, any batch equals its samples one by one`, async () => {
    for (const { path } of FULL ? sound : sound.slice(0, 4)) {
      using dataset = await openIfOne(() =>
        format.openDataset(path, { onWarning() {} })
      );
      if (dataset === undefined || dataset.length === 0) continue;
      const indices = fc.array(fc.nat(Math.min(dataset.length, 300) - 1), {
        maxLength: 20,
      });
      await fc.assert(
        fc.asyncProperty(indices, async (indices) => {
          const single = await Promise.all(
            indices.map((i) => outcome(() => dataset.get([i]))),
          );
          const batch = await outcome(() => dataset.get(indices));
          const isWhole = single.every(Array.isArray);
          if (isWhole) assert.deepEqual(batch, single.flat(), path);
          else assert.ok(!Array.isArray(batch), path);
        }),
        { numRuns: 10 },
      );
    }
  });

  // Threads start slowly, so a quick run uses them only with several files.
  const threaded = FULL
    ? sound
    : sound.filter(({ path }) => /shards|parts_dump/.test(path)).slice(0, 1);
  if (threaded.length === 0) continue;
  Deno.test(`${title}: in golden datasets, threads load the same samples as without threads`, async () => {
    for (const { path } of threaded) {
      const openIt = () => format.openDataset(path, { onWarning() {} });
      const load = async (numWorkers: number) => {
        using dataset = await openIt();
        if (dataset.length > MOST) return;
        await using loader = new DataLoader<unknown, unknown[]>(dataset, {
          ...{
            batchSize: 4,
            shuffle: true,
            seed: 7,
            collate: false,
            numWorkers,
          },
        });
        return await Array.fromAsync(loader);
      };
      assert.deepEqual(
        await outcome(() => load(2)),
        await outcome(() => load(0)),
        path,
      );
    }
  });
}
