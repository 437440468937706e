/** Remote files: number and size of requests. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { largeFile } from "../../../support/parquet/make_parquet.ts";
import {
  parquetCase,
  rowsOf,
} from "../../../support/parquet/parquet_golden.ts";
import { answerFile } from "../../../support/remote/file_server.ts";
import { asked, serving } from "../../../support/remote/serving.ts";

/** 3 row groups of 6 pages of 4 rows; each page takes 1 MiB. */
const SHAPE = { groups: 3, pages: 6, rows: 4, size: 1 << 18 };
const PAGE = 1 << 20;

Deno.test("one row fetches the footer, the index of its column, and its page", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const whole = largeFile({ ...SHAPE, isIndexed: true });
    fs.writeFileSync(`${dir}/a.parquet`, whole);
    using reader = await openRows(`${server.url}/a.parquet`, {
      remote,
    });
    assert.equal(reader.length, 72);
    const opened = asked(served);
    assert.ok(opened.count <= 3 && opened.bytes <= PAGE, `${opened.bytes}`);
    server.asked.length = 0;
    const { data } = await reader.read(41) as { data: Uint8Array };
    assert.ok(data.length === SHAPE.size && data.every((byte) => byte === 41));
    const { count, bytes } = asked(served);
    assert.ok(count <= 3, `${count} requests`);
    // Whole cache blocks are fetched.
    assert.ok(bytes <= 3 * PAGE, `${bytes} of ${whole.length} bytes`);
    server.asked.length = 0;
    await reader.read([40, 42, 43]);
    assert.equal(asked(served).count, 0);
  }));

Deno.test("without an index, the headers of its column chunk are fetched as well, and no other chunk", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const whole = largeFile({ ...SHAPE, isIndexed: false });
    fs.writeFileSync(`${dir}/a.parquet`, whole);
    using reader = await openRows(`${server.url}/a.parquet`, {
      remote,
    });
    server.asked.length = 0;
    const { data } = await reader.read(41) as { data: Uint8Array };
    assert.ok(data.every((byte) => byte === 41));
    await reader.read([24, 47]); // the first and last row of its row group
    const { bytes } = asked(served);
    assert.ok(bytes <= (SHAPE.pages + 3) * PAGE, `${bytes} bytes`);
  }));

Deno.test("pages of a batch are fetched together, not one after the other", () =>
  serving(async ({ dir, server, remote }) => {
    const whole = largeFile({ ...SHAPE, isIndexed: true });
    fs.writeFileSync(`${dir}/a.parquet`, whole);
    using reader = await openRows(`${server.url}/a.parquet`, {
      remote,
    });
    await reader.read([0, 24, 48]); // reads the indexes
    let [active, most] = [0, 0];
    const modified = fs.statSync(`${dir}/a.parquet`).mtime;
    server.fault = (asked, response, file) => {
      if (file === undefined) return false;
      most = Math.max(most, ++active);
      setTimeout(() => {
        active--;
        answerFile(asked, file, modified, response);
      }, 100);
      return true;
    };
    const rows = await reader.read([12, 36, 60]) as { data: Uint8Array }[];
    assert.deepEqual(rows.map(({ data }) => data[0]), [12, 36, 60]);
    assert.ok(most > 1, `${most} at a time`);
  }));

Deno.test("rows on a server are samples and files, and their shards one dataset", () =>
  serving(async ({ dir, server, remote }) => {
    const shards = parquetCase("shards");
    fs.cpSync(shards.path, dir, { recursive: true });
    const location = `${server.url}/train-%3F%3F%3F%3F%3F-of-00003.parquet`;
    using dataset = await openDataset(location, { remote });
    const expected = rowsOf(shards);
    dataset.prefetch([62, 0, 20]);
    const rows = await dataset.get([62, 0, 20]);
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [62, 0, 20].map((row) => expected[row]),
    );
    using shown = await open(location, { remote });
    const path = "train-00001-of-00003/000003/id.json";
    const text = new TextDecoder().decode(await shown.read(path));
    assert.equal(text, "103\n");
    assert.equal((await shown.stat(path)).size, 4);
  }));

Deno.test("a column of bytes whose first rows are damaged is listed, and its rows are errors", () =>
  serving(async ({ dir, server, remote }) => {
    const whole = largeFile({ ...SHAPE, size: 1 << 10, isIndexed: true });
    whole.fill(0xff, 4, 24); // the header of the first page
    fs.writeFileSync(`${dir}/a.parquet`, whole);
    const signal = AbortSignal.timeout(30_000);
    using container = await open(`${server.url}/a.parquet`, { remote, signal });
    const names = await container.list("000000", { signal });
    assert.deepEqual(names, ["data"]);
    await assert.rejects(container.read("000000/data", { signal }), {
      name: "FormatError",
    });
    const last = await container.read("000071/data", { signal });
    assert.equal(last.length, 1 << 10);
  }));
