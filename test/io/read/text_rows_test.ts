/** Rows of text files, found by one pass in pieces of any size, equal those found in the whole text. */
import assert from "node:assert/strict";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { findRows, nulIn } from "../../../src/io/read/text_rows.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import fc from "../../support/random.ts";

/** Limit longer than any row of these tests. */
const UNBOUNDED = 1 << 16;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly lacks: string | undefined;
  readonly text: string | undefined;
}

const sourceOf = (text: string): ByteSource =>
  new MemorySource(new TextEncoder().encode(text));

function rowsOf(
  text: string,
  delimiter: string | undefined,
  longest = UNBOUNDED,
): Found[] {
  const found: Found[] = [];
  runSync(findRows(sourceOf(text), delimiter, longest, (rows) => {
    for (const { bytes, ...row } of rows) {
      found.push({ ...row, text: bytes && new TextDecoder().decode(bytes) });
    }
  }));
  return found;
}

/** Cell with or without quotes; unclosed quotes extend to the end of the text. */
const CELL = `(?:"(?:[^"]|"")*(?:"(?!")[^,\\n]*|$)|[^",\\n][^,\\n]*|)`;
const ROW = new RegExp(`(${CELL}(?:,${CELL})*)(\\n|$)`, "y");

/** Returns the rows of a text, found by a regular expression over all of it. */
function expectedRows(text: string): Omit<Found, "lacks">[] {
  const rows: Omit<Found, "lacks">[] = [];
  let line = 1;
  for (ROW.lastIndex = 0; ROW.lastIndex < text.length;) {
    const start = ROW.lastIndex;
    const [all, whole] = ROW.exec(text)!;
    const row = whole!.replace(/\r$/, "");
    if (row !== "") {
      rows.push({ start, end: start + row.length, line, text: row });
    }
    line += all!.split("\n").length - 1;
    ROW.lastIndex = start + all!.length;
  }
  return rows;
}

const csv = fc.string({
  unit: fc.constantFrom('"', ",", "\n", "\r\n", "a", "1", " ", "\r"),
  maxLength: 60,
});

Deno.test("rows with quoted newlines equal those of the whole text, however it is split into pieces", () =>
  fc.assert(
    fc.property(csv, fc.integer({ min: 8, max: 80 }), (text, longest) => {
      const rows = rowsOf(text, ",");
      assert.deepEqual(
        rows.map(({ lacks: _, ...row }) => row),
        expectedRows(text),
      );
      assert.deepEqual(
        rowsOf(text, ",", longest),
        rows.map((row) =>
          row.end - row.start > longest ? { ...row, text: undefined } : row
        ),
      );
    }),
  ));

Deno.test("lines equal those of a split, without blank ones", () =>
  fc.assert(
    fc.property(csv, fc.integer({ min: 8, max: 80 }), (text, longest) => {
      const lines = text.split("\n").map((line, i) => ({
        line: i + 1,
        text: line.replace(/\r$/, ""),
      })).filter(({ text }) => /[^ \t\r]/.test(text));
      assert.deepEqual(
        rowsOf(text, undefined).map(({ line, text }) => ({ line, text })),
        lines,
      );
      assert.deepEqual(
        rowsOf(text, undefined, longest).map((
          { line, start, end },
        ) => [line, end - start]),
        lines.map(({ line, text }) => [line, text.length]),
      );
    }),
  ));

Deno.test("a byte order mark is not text, and a missing end of the last row is reported", () => {
  assert.deepEqual(rowsOf("\ufeffa,b\n1,2", ","), [
    { start: 3, end: 6, line: 1, lacks: undefined, text: "a,b" },
    { start: 7, end: 10, line: 2, lacks: "newline", text: "1,2" },
  ]);
  const [, last] = rowsOf('a\n"b\n\nc', ",");
  assert.deepEqual([last!.line, last!.lacks], [2, "quote"]);
  assert.deepEqual(rowsOf("", ","), []);
  assert.deepEqual(rowsOf("\ufeff", ","), []);
  assert.deepEqual(rowsOf("\n\r\n\n", ","), []);
});

Deno.test("rows of megabytes span several pieces", () => {
  const long = "x".repeat(3 << 20);
  const text = `a\n"${long}\n${long}",1\n${"b\n".repeat(1 << 16)}c`;
  const rows = rowsOf(text, ",", 8 << 20);
  assert.equal(rows.length, 3 + (1 << 16));
  assert.equal(rows[1]!.text, `"${long}\n${long}",1`);
  assert.deepEqual(
    [rows[2]!.line, rows[2]!.text, rows.at(-1)!.text],
    [4, "b", "c"],
  );
  const [, bounded, next] = rowsOf(text, ",", 1 << 20);
  assert.deepEqual(
    [bounded!.text, bounded!.end, next!.line],
    [undefined, rows[1]!.end, 4],
  );
});

Deno.test("an abort ends the pass between pieces", async () => {
  const source = sourceOf("a\n".repeat(3 << 20));
  const controller = new AbortController();
  let pieces = 0;
  const passing = runAsync(
    findRows(source, undefined, UNBOUNDED, () => {
      if (++pieces === 2) controller.abort(new Error("enough"));
    }),
    controller.signal,
  );
  await assert.rejects(passing, /enough/);
  assert.ok(pieces < 10);
});

Deno.test("NUL at the start is detected", () => {
  assert.equal(runSync(nulIn(sourceOf("ab\0"))), 2);
  assert.equal(runSync(nulIn(sourceOf("ab"))), -1);
});
