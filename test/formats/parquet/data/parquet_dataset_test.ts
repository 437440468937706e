/** Rows as samples: in batches, by ranks and threads, and again where it stopped; columns, labels, conversions. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../mod.ts";
import {
  DataLoader,
  ParquetDataset,
  type ParquetRow,
} from "../../../../src/data/mod.ts";
import { countSamples } from "../../../../src/data/split/counted_samples.ts";
import { readLabels } from "../../../../src/data/split/read_labels.ts";
import { formatNamed, loadFormat } from "../../../../src/formats/registry.ts";
import { ParquetReader } from "../../../../src/formats/parquet/mod.ts";
import { open } from "../../../../src/vfs/mod.ts";
import { resumedPass } from "../../../support/resumed_pass.ts";
import {
  filesIn,
  parquetCase,
  rowsOf,
} from "../../../support/parquet/parquet_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

const SHARDS = parquetCase("shards");
const IDS = [0, 1, 2].flatMap((file) =>
  Array.from({ length: 20 + file }, (_, i) => 100 * file + i)
);

Deno.test("samples are rows over all files, in any order, also of a storage that answers late", async () => {
  const expected = rowsOf(SHARDS);
  for (const storage of [undefined, slowStorage(3)]) {
    using dataset = await ParquetDataset.open(SHARDS.path, { storage });
    assert.equal(dataset.length, 63);
    const order = [62, 0, 20, 20, 41, 3];
    const rows = await dataset.get(order);
    for (const [i, row] of order.entries()) {
      assert.deepEqual(Object.values(rows[i]!), expected[row]);
    }
    assert.equal(dataset.fileOf(20), dataset.paths[1]);
    assert.equal(dataset.fileOf(63), undefined);
    await assert.rejects(dataset.get([63]), { name: "IndexError" });
  }
});

Deno.test("only the columns that are chosen are read", async () => {
  const columns = ["score", "id"];
  using dataset = await ParquetDataset.open(SHARDS.path, { columns });
  assert.deepEqual(dataset.columns, columns);
  const [row] = await dataset.get([21]);
  assert.deepEqual({ ...row }, { score: 1 / 8, id: 101n });
  const none = ParquetDataset.open(SHARDS.path, { columns: ["none"] });
  await assert.rejects(none, { code: "no-column" });
});

Deno.test("what 'process' makes of rows are samples", async () => {
  using dataset = await ParquetDataset.open(SHARDS.path, {
    process: (rows) => rows.map(({ id }) => Number(id)),
  });
  assert.deepEqual(await dataset.get([62, 0]), [221, 0]);
});

Deno.test("the loader gives each row once, by ranks and threads, and goes on where it stopped", async () => {
  using dataset = await ParquetDataset.open(SHARDS.path);
  const seen: number[] = [];
  for (const rank of [0, 1]) {
    for (const numWorkers of [0, 1]) {
      const options = {
        batchSize: 8,
        shuffle: true,
        seed: 5,
        rank,
        worldSize: 2,
        numWorkers,
        collate: false,
      } as const;
      const load = () =>
        new DataLoader<ParquetRow, ParquetRow[]>(dataset, options);
      const all = await resumedPass(load, idsOf);
      if (numWorkers === 0) seen.push(...all);
    }
  }
  assert.deepEqual([...new Set(seen)].sort((a, b) => a - b), IDS);
});

function idsOf(batch: unknown): number[] {
  return (batch as ParquetRow[]).map(({ id }) => Number(id));
}

Deno.test("the format's dataset is one of rows; labels are columns of text or numbers", async () => {
  const { openDataset } = await loadFormat(formatNamed("parquet"));
  using container = await open(SHARDS.path);
  assert.deepEqual(countSamples(container.info), {
    unit: "samples",
    length: 63,
  });
  using dataset = await openDataset!(SHARDS.path, container.info, {});
  assert.deepEqual(idsOf(await dataset!.get([40])), [IDS[40]]);
  const labels = await readLabels(container, "id");
  assert.deepEqual(
    IDS.map((_, i) => labels.names[labels.at(i)]),
    IDS.map(String),
  );
  for (const wrong of ["none", "word", "items"]) {
    await assert.rejects(readLabels(container, wrong), { code: "no-label" });
  }
});

Deno.test("a file whose columns are others is refused by its name", () =>
  withTempDir(async (dir) => {
    fs.copyFileSync(parquetCase("pictures").path, `${dir}/a.parquet`);
    fs.copyFileSync(parquetCase("types").path, `${dir}/b.parquet`);
    await assert.rejects(ParquetReader.open(dir), {
      code: "bad-structure",
      message: /b\.parquet has the columns bool, .* has image, label, caption/,
    });
    using shown = await open(dir); // as files they are what they are
    assert.equal(shown.listSync("").length, 2);
  }));

Deno.test("rows convert to folders, tars, zips and everything else that takes files", () =>
  withTempDir(async (dir) => {
    const { path } = parquetCase("pictures");
    using from = await open(path);
    const files = filesIn(from);
    const contents = await from.read(files);
    for (const name of ["out/", "out.tar", "out.zip", "out.ffr"]) {
      await convert(path, `${dir}/${name}`);
      using made = name === "out/" ? undefined : await open(`${dir}/${name}`);
      for (const [i, file] of files.entries()) {
        const bytes = made === undefined
          ? new Uint8Array(fs.readFileSync(`${dir}/${name}${file}`))
          : made.readSync(file);
        assert.deepEqual(bytes, contents[i], `${name}/${file}`);
      }
    }
    for (const name of ["out.tfrecord", "out.bag"]) {
      await convert(path, `${dir}/${name}`, { lossy: true });
      using made = await open(`${dir}/${name}`);
      const records = made.readSync(made.listSync(""));
      assert.deepEqual(records, contents, name);
    }
    await convert(path, `${dir}/bags`, {
      to: "bags",
      lossy: true,
      spec: {
        "image.png": "bytes",
        "label.json": "utf8",
        "caption.txt": "utf8",
      },
    });
    using bags = await open(`${dir}/bags`);
    assert.equal(bags.info.facts!["datapoints"], 12);
  }));
