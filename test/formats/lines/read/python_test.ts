/** Random tables and texts, compared cell by cell with Python's csv and json modules and PyArrow. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";
import fc from "../../../support/random.ts";

const QUIET = { onWarning() {} };

/** Characters with and without a meaning in CSV. */
const CELL = fc.string({
  unit: fc.constantFrom(
    '"',
    ",",
    "\t",
    "\n",
    "\r\n",
    " ",
    "a",
    "1",
    ".",
    "é",
    "😀",
  ),
  maxLength: 8,
});

/** Writes tables from standard input with csv.writer, and prints the result of csv.reader for each file. */
const WRITE = `
import csv, json, sys
tables = json.loads(sys.stdin.read())
for i, (rows, delimiter, quoting, end) in enumerate(tables):
    path = f"{sys.argv[1]}/{i}.{'csv' if delimiter == ',' else 'tsv'}"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    with open(path, newline="", encoding="utf-8") as file:
        print(json.dumps([path, list(csv.reader(file, delimiter=delimiter))]))
`;

Deno.test({
  name: "cells written by csv.writer equal those read by csv.reader",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const width = { minLength: 2, maxLength: 2 };
      const table = fc.tuple(
        fc.array(fc.array(CELL, width), { minLength: 1, maxLength: 6 })
          .map((rows) => [["n", "t"], ...rows]),
        fc.constantFrom(",", "\t"),
        fc.constantFrom(0, 1), // QUOTE_MINIMAL, QUOTE_ALL
        fc.constantFrom("\n", "\r\n"),
      );
      const tables = fc.sample(table, 200);
      const read = await pythonLines(WRITE, JSON.stringify(tables), {
        args: [dir],
      }) as [string, string[][]][];
      assert.equal(read.length, tables.length);
      for (const [path, [, ...rows]] of read) {
        using samples = await openSamples(path, QUIET);
        const own = await samples.get([...Array(samples.length).keys()]);
        const types = samples.fields!.map(({ type }) => type.kind);
        const cells = own.map(({ n, t }) => [n, t]);
        assert.deepEqual(
          cells,
          rows.map((row) =>
            row.map((cell, i) => types[i] === "number" ? Number(cell) : cell)
          ),
          fs.readFileSync(path, "utf8"),
        );
      }
    }),
});

/** Prints the result of csv.reader for each text in standard input; null if it rejects the text. */
const READ = `
import csv, io, json, sys
for text in json.loads(sys.stdin.read()):
    try:
        print(json.dumps([row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]))
    except csv.Error:
        print("null")
`;

Deno.test({
  name:
    "of any text, cells that csv.reader accepts in strict mode are equal here",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const unit = fc.constantFrom('"', ",", "\n", "\r\n", "a", " ");
      const texts = fc.sample(
        fc.string({ unit, maxLength: 30 }).map((text) => `x,y\n${text}`),
        2000,
      );
      const read = await pythonLines(
        READ,
        JSON.stringify(texts),
      ) as (string[][] | null)[];
      let accepted = 0;
      for (const [i, text] of texts.entries()) {
        const [, ...rows] = read[i] ?? [];
        const areWhole = rows.every(({ length }) => length === 2);
        if (read[i] === null || !areWhole) continue;
        accepted++;
        fs.writeFileSync(`${dir}/a.csv`, text);
        using samples = await openSamples(`${dir}/a.csv`, QUIET);
        const own = await samples.get([...Array(samples.length).keys()]);
        assert.deepEqual(own.map(({ x, y }) => [x, y]), rows, text);
      }
      assert.ok(accepted > 100, String(accepted));
    }),
});

/** Writes values as JSON lines, and prints PyArrow's columns and values. */
const ARROW = `
import json, sys
import pyarrow.csv, pyarrow.json
for path in json.loads(sys.stdin.read()):
    table = (pyarrow.csv.read_csv if path.endswith(".csv") else pyarrow.json.read_json)(path)
    print(json.dumps([[str(type) for type in table.schema.types], table.to_pylist()]))
`;

/** PyArrow's names of each type. */
const ARROW_TYPES: Record<string, readonly string[]> = {
  int: ["int64"],
  float: ["double"],
  str: ["string"],
  bool: ["bool"],
};

Deno.test({
  name: "PyArrow finds the same types and values of columns of one kind",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const text = fc.string({ unit: fc.constantFrom("a", '"', " b", "é") })
        .map((text) => `t${text}`);
      const row = fc.record({
        i: fc.maxSafeInteger(),
        f: fc.integer().map((n) => n + 0.5),
        s: text,
      });
      const tables = fc.sample(fc.array(row, { minLength: 1 }), 40);
      const paths: string[] = [];
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
      for (const [i, rows] of tables.entries()) {
        const csv = rows.map(({ i, f, s }) => `${i},${f},${quoted(s)}\n`);
        fs.writeFileSync(`${dir}/${i}.csv`, `i,f,s\n${csv.join("")}`);
        const lines = rows.map((row) =>
          `${JSON.stringify({ ...row, b: row.i % 2 === 0 })}\n`
        );
        fs.writeFileSync(`${dir}/${i}.jsonl`, lines.join(""));
        paths.push(`${dir}/${i}.csv`, `${dir}/${i}.jsonl`);
      }
      const read = await pythonLines(ARROW, JSON.stringify(paths)) as [
        string[],
        Record<string, unknown>[],
      ][];
      for (const [i, [types, rows]] of read.entries()) {
        using samples = await openSamples(paths[i]!, QUIET);
        const own = samples.fields!.map(({ type }) => type.name);
        assert.ok(
          types.every((type, k) => ARROW_TYPES[own[k]!]!.includes(type)),
          `${types} ${own}`,
        );
        const values = await samples.get([...rows.keys()]);
        assert.deepEqual(values.map((value) => ({ ...value })), rows);
      }
    }),
});
