/**
 * Hostile files: truncation, false counts and sizes, decompression bombs, endless messages, and unsupported features.
 */
import { openRows } from "../../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { zstdCompressSync } from "node:zlib";
import type { FormatError } from "../../../../src/base/errors.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import {
  dataPage,
  dictionaryPage,
  type Lies,
  parquetFile,
  Type,
  withFooter,
} from "../../../support/parquet/make_parquet.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import { varint } from "../../../support/parquet/thrift.ts";
import { REPOSITORY } from "../../../support/paths.ts";

const NAME = "t.parquet";

async function readAll(bytes: Uint8Array): Promise<unknown[]> {
  const storage = new MemoryStorage({ [NAME]: new Uint8Array(bytes) });
  using reader = await openRows(NAME, { storage });
  if (reader.length > 1e6) return [await reader.read(reader.length - 1)];
  return await reader.read(Array(reader.length).keys());
}

/** Asserts that a file is rejected by an error of recordfs that names it. */
async function refused(
  bytes: Uint8Array,
  code: RegExp,
  says: RegExp,
): Promise<void> {
  await assert.rejects(readAll(bytes), (error: FormatError) => {
    assert.equal(error.name, "FormatError", error.stack);
    assert.match(error.code, code, error.message);
    assert.match(error.message, says);
    assert.match(
      error.message,
      OUR_BEGINNING,
    );
    return true;
  });
}

async function liesRefused(
  lies: Lies,
  says: RegExp,
  code = /^(bad-structure|out-of-bounds|absurd-count|too-large|unsupported)$/,
): Promise<void> {
  await refused(parquetFile(lies), code, says);
}

Deno.test("valid handmade files are read", async () => {
  const rows = await readAll(parquetFile()) as { n: number }[];
  assert.deepEqual(rows.map(({ n }) => n), [7, 8, 9]);
});

Deno.test("a file truncated anywhere is rejected", async () => {
  const whole = fs.readFileSync(parquetCase("pictures").path);
  for (let length = 0; length < whole.length; length += length < 20 ? 1 : 97) {
    await refused(whole.subarray(0, length), /./, /Cannot read/);
  }
  const last = whole.subarray(0, whole.length - 1);
  await refused(last, /^truncated$/, /does not end in PAR1/);
});

Deno.test("false lengths of footers are rejected", async () => {
  for (const length of [0, 1, 2 ** 31, 2 ** 32 - 1]) {
    await refused(
      parquetFile({ footerLength: () => length }),
      /^bad-structure$/,
      /footer/,
    );
  }
  await liesRefused({ footerLength: (length) => length - 1 }, /footer/);
  await liesRefused({ footerLength: (length) => length + 1 }, /footer/);
});

Deno.test("messages with false counts, endless nesting, or no end are rejected", async () => {
  const deep = Array(100_000).fill(0x1c); // the first field is a structure
  const lists = Array(100_000).fill([0x19, 0x19]).flat();
  const hostile: [string, number[], RegExp][] = [
    ["elements", [0x29, 0xfc, ...varint(2 ** 31 - 1), 0], /footer/],
    ["lists of lists", [0x29, ...lists], /footer/],
    ["structures", deep, /nested too deep/],
    ["a number", [0x15, ...Array(1e5).fill(0x80), 0, 0], /does not end/],
    ["a long number", [0x16, ...Array(12).fill(0xff), 0, 0], /does not end/],
    ["bytes", [0x18, ...varint(2 ** 32 - 1), 0], /counts/],
    ["no end", [0x15, 0x02], /footer/],
    ["another type", [0x1b, 0x00, 0x00], /of the unknown type 11/],
    ["a set", [0x1a, 0x00, 0x00], /of the unknown type 10/],
    ["nothing", [0], /damaged/],
  ];
  for (const [what, footer, says] of hostile) {
    const bytes = withFooter([], footer);
    await refused(bytes, /./, says).catch((error) => {
      throw new Error(what, { cause: error });
    });
  }
});

Deno.test("false schemas are rejected", async () => {
  const leaf = { 1: { i32: 1 }, 3: { i32: 0 }, 4: { binary: "n" } };
  const group = { 3: { i32: 0 }, 4: { binary: "g" }, 5: { i32: 1 } };
  await liesRefused({ root: { 5: { i32: 2 } } }, /ends within its columns/);
  await liesRefused({ root: { 5: { i32: 0 } } }, /without a parent/);
  await liesRefused({ root: { 5: { i32: -1 } } }, /damaged/);
  await liesRefused({ root: { 5: { i32: 2 ** 31 - 1 } } }, /ends within/);
  await liesRefused({ schema: [...Array(40).fill(group), leaf] }, /deeper/);
  await liesRefused({ schema: [{ ...leaf, 1: { i32: 99 } }] }, /type 99/);
  await liesRefused({ schema: [{ ...leaf, 5: { i32: 1 } }] }, /both/);
  await liesRefused({ schema: [{ ...leaf, 1: { i32: 2 } }] }, /stored as/);
  await liesRefused({ schema: [leaf, leaf], root: { 5: { i32: 2 } } }, /1 col/);
});

Deno.test("false counts of rows and values are rejected", async () => {
  await liesRefused({ group: { 3: { i64: 4 } } }, /4 rows, and 3 values/);
  await liesRefused({ footer: { 3: { i64: -1 } } }, /is -1/);
  await liesRefused({ footer: { 3: { i64: 2n ** 62n } } }, /rows is/);
  const many = { i64: 2 ** 40 };
  // A list has an entry for each row; without columns, only the two counts give the number of rows.
  const list = { 1: { i32: 1 }, 3: { i32: 2 }, 4: { binary: "n" } };
  await liesRefused({ schema: [list], group: { 3: many } }, /3 values in/);
  await liesRefused({
    schema: [],
    root: { 5: { i32: 0 } },
    group: { 1: { list: [] }, 3: many },
  }, /no column can decide/);
  const rows = { footer: { 3: many }, group: { 3: many }, meta: { 5: many } };
  await liesRefused(rows, /values in its pages/);
  const page = 2 ** 31 - 1;
  const all = { i64: page };
  await liesRefused({
    footer: { 3: all },
    group: { 3: all },
    meta: { 5: all },
    data: { 1: { i32: page } },
  }, /more than the limit of 16777216/);
  await liesRefused({ data: { 1: { i32: 2 } } }, /2 values in its pages/);
  await liesRefused({ data: { 1: { i32: 4 } } }, /4 values in its pages/);
  await liesRefused({ data: { 1: { i32: -3 } } }, /without a count/);
});

Deno.test("false offsets and sizes are rejected", async () => {
  await liesRefused({ meta: { 9: { i64: 2 ** 40 } } }, /would be at bytes/);
  await liesRefused({ meta: { 7: { i64: 2 ** 40 } } }, /would be at bytes/);
  await liesRefused({ meta: { 9: { i64: 0 } } }, /would be at bytes/);
  await liesRefused({ meta: { 7: { i64: 3 } } }, /does not end/);
  await liesRefused(
    { column: { 4: { i64: 2 ** 40 }, 5: { i32: 9 } } },
    /index/,
  );
  await liesRefused(
    { column: { 4: { i64: 5 }, 5: { i32: 9 } } },
    /decoded|page/,
  );
  for (const size of [-1, 2 ** 31 - 1, 11, 13]) {
    await liesRefused({ page: { 3: { i32: size } } }, /page|bytes/);
    await liesRefused({ page: { 2: { i32: size } } }, /has|would have/);
  }
  const noNumber = { struct: {} };
  for (
    const [lies, says] of [
      [{ page: { 3: { i32: -2867 } } }, "size is -2867"],
      [{ page: { 2: { binary: "x" } } }, "size when decompressed is no number"],
      [{ page: { 5: { struct: {} } } }, "number of values is missing"],
      [{ page: { 8: { struct: {} } } }, "number of values is missing"],
      [
        { page: { 8: { struct: { 1: { i32: 3 }, 3: { i32: 3 } } } } },
        "size of definition levels is missing",
      ],
      [{ data: { 1: noNumber } }, "number of values is no number"],
    ] as const
  ) {
    await liesRefused(
      lies,
      new RegExp(`has a page whose header is damaged: its ${says}`),
    );
  }
  const ofPage = { 1: { i32: 9 } };
  await liesRefused({ page: ofPage }, /in its pages/);
});

Deno.test("decompression bombs are rejected by their maximum size, or when they exceed their declared size", async () => {
  const body = [...zstdCompressSync(new Uint8Array(100))];
  for (const codec of [1, 2, 4, 5, 6, 7]) {
    for (const size of [2 ** 31 - 1, 512 << 20, 1 << 20]) {
      const data = { page: { 2: { i32: size } }, body, codec };
      await liesRefused(data, /has|would have|cannot be decoded|can't be de/);
    }
  }
  // It decompresses to more than it declares.
  const large = [...zstdCompressSync(new Uint8Array(64 << 20))];
  const lies = { page: { 2: { i32: 12 } }, body: large, codec: 6 };
  await liesRefused(lies, /more than its 12 bytes/);
});

Deno.test("false runs of levels and numbers are rejected", async () => {
  const optional = [{ 1: { i32: 1 }, 3: { i32: 1 }, 4: { binary: "n" } }];
  const levels = (runs: number[]) => [
    ...[runs.length, 0, 0, 0],
    ...runs,
    ...[7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0],
  ];
  const read = (runs: number[]) =>
    parquetFile({ schema: optional, body: levels(runs) });
  assert.equal((await readAll(read([6, 1]))).length, 3);
  assert.equal((await readAll(read([3, 7]))).length, 3);
  const bad = [
    [...varint(2 ** 31), 1], // a run of two billion
    [...varint(2 ** 31 + 1), 1],
    [4, 1],
    [8, 1],
    [1],
    [6],
    [],
    Array(20).fill(0x80),
  ];
  for (const runs of bad) {
    await refused(read(runs), /^bad-structure$/, /run|ends|number/);
  }
  await refused(read([6, 2]), /^bad-structure$/, /level 2 of 1/);
  const length = parquetFile({
    schema: optional,
    body: [255, 255, 255, 255, 6, 1],
  });
  await refused(length, /^bad-structure$/, /ends/);
});

Deno.test("encodings that would take unbounded memory are rejected", async () => {
  const bytes = [{
    1: { i32: Type.BYTE_ARRAY },
    3: { i32: 0 },
    4: { binary: "n" },
  }];
  const encoded = (encoding: number, body: number[]) =>
    liesRefused({
      schema: bytes,
      meta: { 1: { i32: Type.BYTE_ARRAY } },
      data: { 2: { i32: encoding } },
      body,
    }, /./);
  // Blocks of 2^31 values, with as many miniblocks.
  await encoded(6, [...varint(2 ** 31), ...varint(2 ** 31), 3, 0]);
  await encoded(6, [...varint(128), ...varint(0), 3, 0]);
  await encoded(6, [...varint(128), 4, 3, ...varint(2 ** 31), 0, 0, 0, 0, 0]);
  // A prefix longer than the previous value, and prefixes that double.
  await encoded(7, [
    ...[128, 1, 4, 3, ...varint(2 ** 31 - 2), 0, 0, 0, 0, 0],
    ...[128, 1, 4, 3, 0, 0, 0, 0, 0, 0],
  ]);
  await encoded(0, [255, 255, 255, 127, 1, 2, 3]);
  await encoded(8, [25, 2, 0]);
  await encoded(8, [1, 6, 0]);
  await encoded(4, [0]);
  await encoded(99, [0]);
});

Deno.test("a dictionary that is missing or too small is reported", async () => {
  const { page: dictionary } = dictionaryPage([5, 0, 0, 0], 1);
  const coded = { data: { 2: { i32: 8 } } };
  const page = (value: number) => dataPage([1, 6, value], 3, coded);
  const right = parquetFile({ chunk: [...dictionary, ...page(0)] });
  assert.deepEqual(
    (await readAll(right)).map((row) => Object.values(row as object)),
    [[5], [5], [5]],
  );
  await liesRefused({ chunk: [...dictionary, ...page(1)] }, /of a dictionary/);
  await liesRefused({ chunk: page(0) }, /a dictionary, and none/);
  await liesRefused({ chunk: [...dictionary, ...dictionary] }, /dictionary/);
});

Deno.test("unsupported features are rejected by name", async () => {
  const refusedFile = async (name: string, says: RegExp) => {
    const path = `${REPOSITORY}test/golden/parquet_refused/${name}.parquet`;
    for (const opening of [() => openRows(path), () => open(path)]) {
      await assert.rejects(opening, (error: FormatError) => {
        assert.equal(error.code, "unsupported");
        assert.match(error.message, says);
        return true;
      });
    }
  };
  await refusedFile("encrypted", /its footer is encrypted/);
  await refusedFile("encrypted_column", /column 'b' .* is encrypted/);
  await liesRefused({ codec: 3 }, /LZO, which is unsupported/, /^unsupported$/);
  await liesRefused(
    { codec: 99 },
    /compressed by an unknown codec/,
    /^unsupported$/,
  );
  await liesRefused(
    { column: { 1: { binary: "other.parquet" } } },
    /lies in another file/,
    /^unsupported$/,
  );
});

/** Start of every message about the file. */
const OUR_BEGINNING = /^Cannot (read|decode) (.* of )?t\.parquet: /;

/** Fragments of JavaScript's own messages, which indicate unexpected input. */
const JAVASCRIPT =
  /undefined|NaN|\[object|Cannot |is not (a|iterable|defined)|Invalid |out of range|outside|Error/;

Deno.test("no message contains a JavaScript error, whichever byte of a footer or an index is changed", async () => {
  for (const name of ["int96", "empty_pages"]) {
    const whole = new Uint8Array(fs.readFileSync(parquetCase(name).path));
    const view = new DataView(whole.buffer);
    const end = whole.length - 8;
    const start = end - view.getUint32(end, true) -
      (name === "empty_pages" ? 250 : 0);
    for (let at = start; at < end; at++) {
      for (const by of [0x01, 0x0c]) {
        const bytes = whole.slice();
        bytes[at]! ^= by;
        const storage = new MemoryStorage({ [NAME]: bytes });
        try {
          using reader = await openRows(NAME, {
            storage,
            onWarning() {},
          });
          if (reader.length < 100) {
            await reader.read(Array(reader.length).keys());
          }
        } catch (error) {
          const { name, message } = error as Error;
          assert.equal(name, "FormatError", `byte ${at}: ${message}`);
          const reason = message.replace(OUR_BEGINNING, "");
          assert.notEqual(reason, message);
          assert.doesNotMatch(reason, JAVASCRIPT);
        }
      }
    }
  }
});

Deno.test("column chunks without a path, and unknown types, are rejected with a readable message", async () => {
  const path = { meta: { 3: { i32: 0 } } };
  await liesRefused(path, /chunk 0 of row group 0 does not name its column/);
  const unknown = { 1: { i32: -7 }, 3: { i32: 0 }, 4: { binary: "n" } };
  await liesRefused({ schema: [unknown] }, /column 'n' of the unknown type -7/);
  const often = { 1: { i32: 1 }, 3: { i32: 9 }, 4: { binary: "n" } };
  await liesRefused({ schema: [often] }, /'n' with the unknown repetition 9/);
  await liesRefused({ footer: { 4: { i32: 1 } } }, /no list of row groups/);
  await liesRefused({ group: { 1: { i32: 1 } } }, /no list of column chunks/);
});
