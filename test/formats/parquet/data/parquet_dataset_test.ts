/** Rows as samples: columns, also if shards have different ones, labels, and conversions. */
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import assert from "node:assert/strict";
import { convert } from "../../../../mod.ts";
import { readLabels } from "../../../../src/open/data/read_labels.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import {
  dataPage,
  parquetFile,
  Type,
  wordBytes,
} from "../../../support/parquet/make_parquet.ts";
import type { Fields } from "../../../support/parquet/thrift.ts";
import { withTempDir } from "../../../support/paths.ts";

const SHARDS = parquetCase("shards");

Deno.test("only the selected columns are read", async () => {
  const fields = ["score", "id"];
  using dataset = await openDataset(SHARDS.path, { fields });
  const [row] = await dataset.get([21]);
  assert.deepEqual(Object.keys(row!), fields);
  assert.deepEqual({ ...row }, { score: 1 / 8, id: 101n });
  const none = openDataset(SHARDS.path, { fields: ["none"] });
  await assert.rejects(none, { code: "no-column" });
});

Deno.test("labels are columns of text or numbers", async () => {
  using container = await open(SHARDS.path);
  for (
    const [wrong, message] of [
      [
        "none",
        /by 'none': Cannot read column 'none' of .*: there is no such column, only id, /,
      ],
      [
        "word",
        /read label 'word' of sample 3 of .*: it has none that is a text or a number/,
      ],
      [
        "items",
        /read label 'items' of sample 0 of .*: it has none that is a text or a number/,
      ],
    ] as const
  ) {
    const labels = readLabels(container, wrong);
    await assert.rejects(labels, { code: "no-label", message });
  }
});

/** Makes a file of one row with numeric columns. */
function numbersFile(columns: Record<string, number>): Uint8Array {
  const names = Object.keys(columns);
  const pages = names.map((name) => dataPage(wordBytes(columns[name]!), 1));
  let at = 4;
  const chunks = pages.map((page, i) => {
    const meta: Fields = {
      1: { i32: Type.INT32 },
      2: { list: [{ i32: 0 }] },
      3: { list: [{ binary: names[i]! }] },
      4: { i32: 0 },
      5: { i64: 1 },
      6: { i64: page.length },
      7: { i64: page.length },
      9: { i64: at },
    };
    at += page.length;
    return { struct: { 2: { i64: 4 }, 3: { struct: meta } } };
  });
  return parquetFile({
    chunk: pages.flat(),
    root: { 5: { i32: names.length } },
    schema: names.map((name) => ({
      1: { i32: Type.INT32 },
      3: { i32: 0 },
      4: { binary: name },
    })),
    group: { 1: { list: chunks }, 3: { i64: 1 } },
    footer: { 3: { i64: 1 } },
  });
}

async function rowsOfShards(
  shards: readonly Record<string, number>[],
  fields?: readonly string[],
) {
  const files = shards.map((shard, i) =>
    [`d/${i}.parquet`, numbersFile(shard)] as const
  );
  const storage = new MemoryStorage(Object.fromEntries(files));
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const options = { storage, onWarning, fields };
  using dataset = await openDataset("d", options);
  const rows = await dataset.get([...Array(dataset.length).keys()]);
  return { rows: rows.map((row) => ({ ...row })), warnings };
}

Deno.test("shards with different columns have all of them, with nulls and a warning; another order makes no difference", async () => {
  const more = [{ a: 1, b: 2 }, { b: 4, c: 5, a: 3 }];
  const { rows, warnings } = await rowsOfShards(more);
  assert.deepEqual(rows, [{ a: 1, b: 2, c: null }, { a: 3, b: 4, c: 5 }]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^d.0\.parquet has no column 'c'/);
  const named = await rowsOfShards(more, ["b"]);
  assert.deepEqual(named, { rows: [{ b: 2 }, { b: 4 }], warnings });
  const some = await rowsOfShards(more, ["c"]);
  assert.deepEqual(some.rows, [{ c: null }, { c: 5 }]);
  const turned = await rowsOfShards([{ a: 1, b: 2 }, { b: 4, a: 3 }]);
  assert.deepEqual(turned.rows, [{ a: 1, b: 2 }, { a: 3, b: 4 }]);
  assert.match(turned.warnings[0]!, /1\.parquet has its columns in another/);
  await assert.rejects(rowsOfShards(more, ["d"]), { code: "no-column" });
});

Deno.test("info counts columns of shards by name; labels may come from any of them", async () => {
  const shards = {
    "d/0.parquet": numbersFile({ a: 1 }),
    "d/1.parquet": numbersFile({ b: 4, a: 3 }),
  };
  const storage = new MemoryStorage(shards);
  using shown = await open("d", { storage });
  const counted = shown.info.keys!.map(({ name, records }) => [name, records]);
  assert.deepEqual(counted, [["a", 2], ["b", 1]]);
  const labels = await readLabels(shown, "a");
  assert.deepEqual([0, 1].map((i) => labels.names[labels.at(i)]), ["1", "3"]);
  await assert.rejects(readLabels(shown, "b"), { code: "no-label" });
});

Deno.test("a null in JSON is null in MDS too, and no row is lost", () =>
  withTempDir(async (dir) => {
    await convert(parquetCase("json_null").path, `${dir}/mds`, { to: "mds" });
    using dataset = await openDataset(`${dir}/mds`);
    const values = await dataset.get([0, 1, 2]);
    assert.deepEqual(
      values.map((value) => Object.values(value)),
      [[{ a: 1 }], [null], [null]],
    );
  }));

Deno.test("rows convert to a dataset of bags", () =>
  withTempDir(async (dir) => {
    const { path } = parquetCase("pictures");
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
