/** Several shards with damaged bags of some keys: datapoints keep their indices, and the other values are read. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../../src/open/data/mod.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { BagDataset } from "../../../src/formats/bags/data/bag_dataset.ts";
import {
  type Datapoint,
  DatasetReader,
  type Generation,
  ShardedDatasetReader,
} from "../../../src/formats/bags/mod.ts";
import { openDeferred } from "../../../src/formats/bags/tree/begin_container.ts";
import { check, open } from "../../../src/open/open.ts";
import { convert } from "../../../src/open/convert/convert.ts";
import { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { reopened } from "../../support/bags/bag_trees.ts";
import { type Records, writeDataset } from "../../support/bags/make_bag.ts";
import { withTempDir } from "../../support/paths.ts";

/** Variant of datasets. */
interface Form {
  readonly generation: Generation;
  /** Whether the dataset has references. */
  readonly hasRefs: boolean;
  /** Extensions of a bag's files. */
  readonly files: readonly string[];
}

const FORMS: Readonly<Record<string, Form>> = {
  "generation 1": { generation: 1, hasRefs: true, files: [".bag"] },
  "generation 2": { generation: 2, hasRefs: true, files: [".bag"] },
  "generation 2 without references": {
    generation: 2,
    hasRefs: false,
    files: [".bag"],
  },
  "generation 3": { generation: 3, hasRefs: false, files: [".bag", ".idx"] },
};

/** Datapoints of the second of three shards, which is damaged. */
const DAMAGED = [3, 4, 5];
const ALL = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const SOUND = ALL.filter((n) => !DAMAGED.includes(n));

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Returns datapoint `n`; lists exist only with references. */
function datapoint(n: number, { hasRefs }: Form): Records {
  return {
    a: bytes(n, n),
    b: bytes(100 + n),
    ...hasRefs ? { l: [bytes(n), bytes(n, 7)].slice(n % 3) } : {},
  };
}

function writeShards(dir: string, form: Form): void {
  const spec = { a: "bytes", b: "bytes", ...form.hasRefs && { l: "bytes[]" } };
  for (const shard of [0, 1, 2]) {
    const path = `${dir}/00000${shard}`;
    const numbers = [0, 1, 2].map((i) => 3 * shard + i);
    const datapoints = numbers.map((n) => datapoint(n, form));
    writeDataset(path, spec, datapoints, form.generation);
    if (!form.hasRefs) fs.rmSync(`${path}/refs.bag`, { force: true });
  }
}

/** Ways to damage a file so that its bag cannot be opened. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  missing: (path) => fs.rmSync(path),
  cut: (path) => fs.truncateSync(path, 5),
};

interface Case {
  readonly dir: string;
  readonly form: Form;
  /** Key whose bag is damaged. */
  readonly key: string;
}

/** Runs a test for every variant, key and kind of damage. */
function forEach(title: string, body: (of: Case) => Promise<void>): void {
  for (const [name, form] of Object.entries(FORMS)) {
    for (const key of form.hasRefs ? ["a", "l"] : ["a", "b"]) {
      for (const file of form.files) {
        for (const [damage, doDamage] of Object.entries(DAMAGES)) {
          // The index is a separate file, so that a truncated bag opens with its complete records.
          if (form.generation === 3 && damage === "cut") continue;
          Deno.test(`${name}, ${key}${file} ${damage}: ${title}`, async () => {
            await withTempDir(async (dir) => {
              writeShards(dir, form);
              doDamage(`${dir}/000001/${key}${file}`);
              await body({ dir, form, key });
            });
          });
        }
      }
    }
  }
}

/** Returns a datapoint as written by {@linkcode writeShards}, without one key. */
function expected(n: number, form: Form, without?: string): Datapoint {
  const all: Datapoint = { ...datapoint(n, form) };
  if (without !== undefined) delete all[without];
  return all;
}

/** Returns a check of the error about a value of a damaged key. */
function isOf({ dir, key }: Case, sample: number) {
  return (error: unknown) => {
    assert.ok(error instanceof FormatError, String(error));
    assert.equal(error.path, `${dir}/000001`);
    assert.equal(error.sample, sample);
    const start = `Cannot read '${key}' of datapoint ${
      sample - 3
    } of ${dir}/000001 (datapoint ${sample} of all shards): `;
    assert.ok(error.message.startsWith(start), error.message);
    assert.ok(error.message.includes(`${key}.bag`), error.message);
    return true;
  };
}

const quiet = { onWarning() {} };

forEach("readers keep the numbers, and read the other values", async (of) => {
  const { dir, form, key } = of;
  for (const options of [{}, { cacheIndex: false, parallel: true }]) {
    const warnings: string[] = [];
    using reader = await ShardedDatasetReader.open(dir, {
      ...options,
      decoders: null,
      onWarning: (message) => warnings.push(message),
    });
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0]!, RegExp(`000001.*\\b${key}\\.(bag|idx)`));
    assert.match(warnings[0]!, /Values of its key in this shard cannot be/);
    assert.deepEqual([reader.shards, reader.length], [3, 9]);
    const others = reader.keys.filter((name) => name !== key);
    for (const n of ALL) {
      const rest = expected(n, form, key);
      assert.deepEqual(reader.getSync(n, others), rest);
      assert.deepEqual(await reader.get(n, others), rest);
      assert.equal(
        Object.keys(await reader.available(n)).length,
        2 + +form.hasRefs,
      );
      if (SOUND.includes(n)) {
        assert.deepEqual(reader.getSync(n), expected(n, form));
        assert.deepEqual(await reader.get(n), expected(n, form));
        continue;
      }
      for (const mask of [undefined, [key], { [key]: true }]) {
        assert.throws(() => reader.getSync(n, mask), isOf(of, n));
        await assert.rejects(reader.get(n, mask), isOf(of, n));
        await assert.rejects(reader.read([0, n, 8], mask), isOf(of, n));
        assert.throws(() => reader.readSync([n], mask), isOf(of, n));
        await assert.rejects(reader.range(n, 9, mask), isOf(of, n));
      }
      assert.throws(() => reader.unsafeView(n), isOf(of, n));
    }
    const whole = SOUND.map((n) => expected(n, form));
    assert.deepEqual(await reader.read(SOUND), whole);
    assert.deepEqual(
      await reader.read(ALL, others),
      ALL.map((n) => expected(n, form, key)),
    );
    const [name = ""] = others;
    assert.deepEqual(
      (await reader.range(0, 9, others))[name],
      ALL.map((n) => expected(n, form)[name]),
    );
    assert.deepEqual(
      reader.rangeSync(6, 9)[key],
      [6, 7, 8].map((n) => expected(n, form)[key]),
    );
    await assert.rejects(reader.range(0, 9), isOf(of, 3));
  }
});

forEach(
  "trees list the values of the key, and reading them fails",
  async (of) => {
    const { dir, form, key } = of;
    const warnings: string[] = [];
    using container = await open(dir, {
      decoded: true,
      onWarning: (message) => warnings.push(message),
    });
    assert.equal(warnings.length, 1);
    const { unreadable = [], facts, parts, ...info } = container.info;
    assert.deepEqual(unreadable.map(({ archive, name }) => [archive, name]), [
      [`${dir}/000001/${key}.bag`, ""],
    ]);
    assert.equal(unreadable[0]!.message, warnings[0]);
    assert.equal(facts!["unreadable"], 1);
    assert.deepEqual([facts!["datapoints"], facts!["shards"]], [9, 3]);
    assert.deepEqual(parts.map(({ samples }) => samples), [3, 3, 3]);
    const walked = await Array.fromAsync(container.walk());
    const files = walked.filter(({ isFile }) => isFile);
    assert.equal(info.files, files.length);
    assert.equal(info.directories, walked.length - files.length);
    assert.equal(container.tree.nodeCount, walked.length + 1);

    const served = await openDeferred(dir, quiet);
    const thread = reopened(served.tree);
    using seen = new VirtualFs(
      dir,
      { tree: thread, info: served.info },
      true,
    );
    const before = seen.readSync("000001/000000/" + (key === "b" ? "a" : "b"));
    assert.equal(before.length, key === "b" ? 2 : 1);
    await served.complete();
    assert.equal(served.info.facts!["unreadable"], 1);

    using again = new VirtualFs(
      dir,
      { tree: reopened(container.tree), info: container.info },
      true,
    );
    for (const fs of [container, seen, again]) {
      for (const n of DAMAGED) {
        const folder = `000001/00000${n - 3}`;
        assert.deepEqual(
          fs.listSync(folder).sort(),
          Object.keys(expected(n, form)).sort(),
        );
        const path = `${folder}/${key}`;
        const isError = (error: unknown) => {
          assert.equal((error as FormatError).member, path);
          return isOf(of, n)(error);
        };
        await assert.rejects(fs.read(path), isError);
        assert.throws(() => fs.readSync(path), isError);
        assert.throws(() => fs.statSync(path), isError);
        for (const [name, value] of Object.entries(expected(n, form, key))) {
          if (Array.isArray(value)) {
            const paths = value.map((_, i) => `${folder}/${name}/00000${i}`);
            assert.deepEqual(await fs.read(paths), value);
          } else assert.deepEqual(await fs.read(`${folder}/${name}`), value);
        }
      }
      assert.deepEqual(fs.readSync("000002/000001/a"), bytes(7, 7));
    }
    served.tree.close();
  },
);

for (const numWorkers of [0, 2]) {
  forEach(`a loader with ${numWorkers} workers skips them`, async (of) => {
    const { dir, form } = of;
    using dataset = await BagDataset.open(dir, { decoders: null, ...quiet });
    assert.deepEqual(dataset.shardLengths, [3, 3, 3]);
    const warnings: string[] = [];
    await using loader = new DataLoader(dataset as Dataset<unknown>, {
      batchSize: 2,
      numWorkers,
      collate: false,
      onDamage: "skip",
      onWarning: (message) => warnings.push(message),
    });
    const read: Datapoint[] = [];
    for await (const batch of loader) read.push(...batch as Datapoint[]);
    assert.deepEqual(read, SOUND.map((n) => expected(n, form)));
    assert.equal(loader.skipped, 3);
    for (const [i, warning] of warnings.entries()) {
      assert.match(warning, RegExp(`^Sample ${3 + i} is skipped, .*000001`));
    }
  });
}

forEach(
  "check counts the bag once, and convert skips the datapoints",
  async (of) => {
    const { dir, form, key } = of;
    const damages: FormatError[] = [];
    const report = await check(dir, {
      onDamage: (error) => damages.push(error),
      ...quiet,
    });
    assert.deepEqual([report.samples, report.damaged], [9, 1]);
    assert.ok(damages[0]!.path!.includes(`${dir}/000001/${key}.`));
    await withTempDir(async (to) => {
      for (const target of ["bags", "folder", "mds"] as const) {
        const options = { to: target, ...quiet };
        await assert.rejects(convert(dir, `${to}/${target}`, options), {
          code: "would-lose",
        });
        assert.deepEqual(fs.readdirSync(to), []);
      }
      const options = { lossy: true, ...quiet };
      const made = await convert(dir, `${to}/bags`, {
        to: "bags",
        generation: form.generation,
        ...options,
      });
      assert.deepEqual([made.count, made.leftOut], [6, 3]);
      using reader = ShardedDatasetReader.openSync(`${to}/bags`, {
        decoders: null,
      });
      assert.deepEqual(
        await reader.read([0, 1, 2, 3, 4, 5]),
        SOUND.map((n) => expected(n, form)),
      );
      await convert(dir, `${to}/folder`, { to: "folder", ...options });
      const others = Object.keys(expected(3, form, key)).sort();
      assert.deepEqual(fs.readdirSync(`${to}/folder/000001/000000`), others);
    });
  },
);

forEach(
  "a shard alone, and one that is the only one, are rejected",
  async ({ dir }) => {
    const shard = `${dir}/000001`;
    await assert.rejects(DatasetReader.open(shard), FormatError);
    await assert.rejects(ShardedDatasetReader.open(shard), FormatError);
    await assert.rejects(BagDataset.open(shard), FormatError);
    await assert.rejects(open(shard), FormatError);
    fs.rmSync(`${dir}/000000`, { recursive: true });
    fs.rmSync(`${dir}/000002`, { recursive: true });
    fs.renameSync(shard, `${dir}/000000`);
    await assert.rejects(ShardedDatasetReader.open(dir), FormatError);
    await assert.rejects(open(dir), FormatError);
    await assert.rejects(openDeferred(dir, quiet), FormatError);
  },
);
