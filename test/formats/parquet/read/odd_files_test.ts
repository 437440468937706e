/** Unusual but readable files, as Arrow and DuckDB read them: their rows, and the warning. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import { check } from "../../../../mod.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import {
  dataPage,
  dictionaryPage,
  type Lies,
  parquetFile,
  sizedLevels,
  Type,
  wordBytes,
} from "../../../support/parquet/make_parquet.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import type { Fields } from "../../../support/parquet/thrift.ts";

const NAME = "t.parquet";

async function readAll(bytes: Uint8Array) {
  const storage = new MemoryStorage({ [NAME]: new Uint8Array(bytes) });
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  using reader = await openRows(NAME, { storage, onWarning });
  const rows = await reader.read(Array(reader.length).keys());
  return { rows: rows.map((row) => Object.values(row)), warnings };
}

/** Asserts the rows of a file, and that it causes one warning, however it is opened. */
async function warned(lies: Lies, says: RegExp, rows: unknown[][]) {
  const bytes = parquetFile(lies);
  const { rows: read, warnings } = await readAll(bytes);
  assert.deepEqual(read, rows);
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0]!, /^t\.parquet: /);
  assert.match(warnings[0]!, says);
  const storage = new MemoryStorage({ [NAME]: bytes });
  const again: string[] = [];
  const onWarning = (message: string) => again.push(message);
  using shown = await open(NAME, { storage, onWarning });
  assert.equal(shown.listSync("").length, rows.length);
  assert.deepEqual(again, warnings);
  const onDamage = (damage: Error) => assert.fail(damage);
  await check(NAME, { storage, onWarning, onDamage });
  assert.deepEqual(again, [...warnings, ...warnings]);
}

const ROWS = [[7], [8], [9]];

Deno.test("if the row counts of a footer and of its row groups differ, the row groups win", async () => {
  for (const count of [0, 2, 4]) {
    const footer = { 3: { i64: count } };
    await warned({ footer }, /counts \d rows, and 3 in its row groups/, ROWS);
  }
});

Deno.test("columns without a repetition are required; the root need not have one", async () => {
  const silent = [{ 1: { i32: Type.INT32 }, 4: { binary: "n" } }];
  await warned({ schema: silent }, /lacks the repetition of 'n'/, ROWS);
  const { warnings } = await readAll(parquetFile());
  assert.deepEqual(warnings, []);
});

Deno.test("bytes after the end of a footer are ignored", async () => {
  const more: Fields = { 99: { type: 0, raw: [1, 2, 3] } }; // a stop field, followed by more bytes
  await warned({ footer: more }, /4 bytes after the end of its footer/, ROWS);
});

Deno.test("a column chunk that lacks the bytes of its dictionary's header is read to its end", async () => {
  const { page: dictionary, header } = dictionaryPage(wordBytes(70, 80), 2);
  const coded = { data: { 2: { i32: 8 } } };
  const chunk = [...dictionary, ...dataPage([1, 3, 0b101], 3, coded)];
  const size = { i64: chunk.length - header };
  await warned({ chunk, meta: { 7: size } }, /PARQUET-816/, [[80], [70], [80]]);
  // Bytes after a complete chunk do not count as part of it.
  const behind = [...chunk, ...Array(30).fill(1)];
  const whole = { i64: chunk.length };
  const { rows, warnings } = await readAll(
    parquetFile({ chunk: behind, meta: { 7: whole } }),
  );
  assert.deepEqual(rows, [[80], [70], [80]]);
  assert.deepEqual(warnings, []);
});

Deno.test("column chunks in another order than the columns are found by their paths", async () => {
  const page = (number: number) => dataPage(wordBytes(number), 1);
  const [first, second] = [page(1), page(2)];
  const chunk = (name: string, at: number, { length }: number[]) => ({
    struct: {
      2: { i64: 4 },
      3: {
        struct: {
          1: { i32: Type.INT32 },
          2: { list: [{ i32: 0 }] },
          3: { list: [{ binary: name }] },
          4: { i32: 0 },
          5: { i64: 1 },
          6: { i64: length },
          7: { i64: length },
          9: { i64: at },
        } as Fields,
      },
    },
  });
  const [a, b] = [chunk("a", 4, first), chunk("b", 4 + first.length, second)];
  const column = (name: string) => ({
    1: { i32: Type.INT32 },
    3: { i32: 0 },
    4: { binary: name },
  });
  await warned(
    {
      chunk: [...first, ...second],
      root: { 5: { i32: 2 } },
      schema: [column("a"), column("b")],
      group: { 1: { list: [b, a] }, 3: { i64: 1 } },
      footer: { 3: { i64: 1 } },
    },
    /not in the order of the columns/,
    [[1, 2]],
  );
});

Deno.test("a map without values is a list of its keys", async () => {
  const group = (name: string, more: Fields) => ({
    3: { i32: 0 },
    4: { binary: name },
    5: { i32: 1 },
    ...more,
  });
  const bytes = parquetFile({
    schema: [
      group("m", { 6: { i32: 1 } }),
      group("key_value", { 3: { i32: 2 } }),
      { 1: { i32: Type.INT32 }, 3: { i32: 0 }, 4: { binary: "key" } },
    ],
    chunk: dataPage([
      ...sizedLevels([0, 1, 0]),
      ...sizedLevels([1, 1, 0]),
      ...wordBytes(5, 6),
    ], 3),
    meta: {
      3: { list: ["m", "key_value", "key"].map((binary) => ({ binary })) },
    },
    group: { 3: { i64: 2 } },
    footer: { 3: { i64: 2 } },
  });
  assert.deepEqual(await readAll(bytes), {
    rows: [[[5, 6]], [[]]],
    warnings: [],
  });
  const storage = new MemoryStorage({ [NAME]: bytes });
  using shown = await open(NAME, { storage });
  const text = new TextDecoder().decode(shown.readSync("000000/m.json"));
  assert.equal(text, "[5, 6]\n");
});

Deno.test("the nanoseconds of an INT96 may be negative, plain and in a dictionary", async () => {
  const moment = (nanos: bigint, day: number) => [
    ...new Uint8Array(BigInt64Array.of(nanos).buffer),
    ...wordBytes(day),
  ];
  const hour = 3_600_000_000_000n;
  const body = [
    ...moment(-hour, 2_440_589), // an hour before the second day of 1970
    ...moment(hour, 2_440_588),
    ...moment(-1n, 2_440_588),
  ];
  const rows = [
    ["1970-01-01T23:00:00.000000000"],
    ["1970-01-01T01:00:00.000000000"],
    ["1969-12-31T23:59:59.999999999"],
  ];
  const schema = [{
    1: { i32: Type.INT96 },
    3: { i32: 0 },
    4: { binary: "n" },
  }];
  const meta = { 1: { i32: Type.INT96 } };
  const plain = await readAll(parquetFile({ schema, meta, body }));
  assert.deepEqual(plain.rows, rows);
  const { page } = dictionaryPage(body, 3);
  const coded = dataPage([2, 3, 0b100100, 0], 3, { data: { 2: { i32: 8 } } });
  const chunk = [...page, ...coded];
  const some = await readAll(parquetFile({ schema, meta, chunk }));
  assert.deepEqual(some.rows, rows);
});

Deno.test("names that begin with U+FEFF retain it, as columns, as files, and in structures", async () => {
  const { path } = parquetCase("byte_order_marks");
  using reader = await openRows(path);
  const names = reader.fields!.map(({ name }) => name);
  assert.deepEqual(names.slice(0, 2), ["\ufeffid", "id"]);
  const row = await reader.read(0);
  assert.deepEqual({ ...row["struct"] as object }, { "\ufeffk": 1n, k: 2n });
  using shown = await open(path);
  const files = shown.listSync("000000").slice(0, 3);
  assert.deepEqual(files, ["\ufeffid.json", "id.json", "struct.json"]);
  const text = async (name: string) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      await shown.read(`000000/${name}`),
    );
  assert.equal(await text("struct.json"), '{"\ufeffk": 1, "k": 2}\n');
  assert.equal(await text("\ufeffid.json"), "1\n");
  assert.equal(await text("text.txt"), "\ufeffa");
  assert.equal(await text("json.json"), "\ufeff[2]");
});

Deno.test("a structure with two fields of one name retains both values", async () => {
  const field = { 1: { i32: Type.INT32 }, 3: { i32: 0 }, 4: { binary: "k" } };
  const page = (number: number) => dataPage(wordBytes(number), 1);
  const [first, second] = [page(1), page(2)];
  const chunk = (at: number, { length }: number[]) => ({
    struct: {
      2: { i64: 4 },
      3: {
        struct: {
          1: { i32: Type.INT32 },
          2: { list: [{ i32: 0 }] },
          3: { list: [{ binary: "s" }, { binary: "k" }] },
          4: { i32: 0 },
          5: { i64: 1 },
          6: { i64: length },
          7: { i64: length },
          9: { i64: at },
        } as Fields,
      },
    },
  });
  const bytes = parquetFile({
    chunk: [...first, ...second],
    schema: [
      { 3: { i32: 0 }, 4: { binary: "s" }, 5: { i32: 2 } },
      field,
      field,
    ],
    group: {
      1: { list: [chunk(4, first), chunk(4 + first.length, second)] },
      3: { i64: 1 },
    },
    footer: { 3: { i64: 1 } },
  });
  const { rows: [row] } = await readAll(bytes);
  assert.deepEqual({ ...row![0] as object }, { k: 1, "k~2": 2 });
});
