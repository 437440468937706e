/**
 * Hostile datasets: false sizes and counts, names outside the directory, decompression bombs, unsupported features.
 */
import { openMds } from "../../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { assertRefused, read } from "../../../support/mds/refused.ts";
import { open } from "../../../../src/open/open.ts";
import {
  COLUMNS,
  configOf,
  datasetOf,
  entry,
  entryOf,
  type MadeColumn,
  NAME,
  sampleOf,
  SAMPLES,
  SHARD,
  shardOf,
} from "../../../support/mds/make_mds.ts";

Deno.test("the generated container is valid", async () => {
  const samples = await read(datasetOf([entry()], { [NAME]: SHARD }));
  assert.deepEqual(samples.map((sample) => ({ ...sample })), [
    { n: 1, t: "one" },
    { n: 2, t: "" },
    { n: -3, t: "three" },
  ]);
});

Deno.test("an index cannot refer to files outside its directory", async () => {
  const names = [
    "../x",
    "/etc/passwd",
    "a/../../x",
    "./x",
    "",
    "a//b",
    "..",
    "a\0b",
    "..\\x",
    "http://x/y",
  ];
  for (const basename of names) {
    const raw = { basename, bytes: SHARD.length, hashes: {} };
    const storage = datasetOf([entry({ "raw_data": raw })], { [NAME]: SHARD });
    await assertRefused(storage, "unsafe-name", /leads out of the dataset/);
  }
});

Deno.test("an index without shards is recognised with any order of keys, and other JSON is not", async () => {
  const opened = (text: string) =>
    open({ "index.json": new TextEncoder().encode(text) });
  for (
    const text of [
      '{"version":2,"shards":[]}',
      '{"shards": [], "version": 2}',
      ' {\n "version" : 2 ,\n "shards" : [ ]\n}\n',
    ]
  ) {
    using fs = await opened(text);
    assert.equal(fs.info.format, "mds");
    assert.deepEqual(await fs.list(""), []);
  }
  for (
    const text of [
      '{"version": 2}',
      '{"shards": []}',
      '{"version": 2, "version": 2}',
      '{"version": 2, "shards": [1]}',
      '{"version": 2, "shards": [], "pages": []}',
      '{"name": "x", "version": 2, "shards": []}',
      `{${" ".repeat(1 << 20)}"version": 2`,
    ]
  ) {
    await assert.rejects(opened(text), {
      code: "unknown-format",
      message: /holds an index.json that is not one of MDS/,
    });
  }
});

Deno.test("invalid indexes are rejected, each with its reason", async () => {
  const raw = (changes: Record<string, unknown>) => ({
    "raw_data": { basename: NAME, bytes: SHARD.length, ...changes },
  });
  const cases: [Record<string, unknown>, string, RegExp][] = [
    [
      { version: 3 },
      "unsupported",
      /its version 3 is unsupported: only 2 is known/,
    ],
    [{ version: [] }, "unsupported", /its version a list is/],
    [{ format: "csv" }, "unsupported", /unsupported format "csv"/],
    [{ "raw_data": null }, "bad-index", /raw_data of shard 0 is missing/],
    [raw({ bytes: -1 }), "bad-index", /no number of bytes/],
    [raw({ bytes: 2 ** 33 }), "bad-index", /offsets of 32 bits/],
    [raw({ hashes: { sha1: 3 } }), "bad-index", /a hash/],
    [raw({ basename: 3 }), "bad-index", /no basename/],
    [{ samples: 1.5 }, "bad-index", /the number of samples of .* is invalid/],
    [{ samples: 2 ** 40 }, "absurd-count", /1099511627776 samples in/],
    [{ "column_names": ["n"] }, "bad-index", /one as long as the other/],
    [
      { "column_names": ["n", "n"] },
      "bad-index",
      /two columns of the same name/,
    ],
    [{ "column_names": ["n", 3] }, "bad-index", /not a text/],
    [
      { "column_sizes": [4, null] },
      "bad-index",
      /4 bytes in the index, but as int it has 8/,
    ],
    [
      { "column_sizes": [null, null] },
      "bad-index",
      /any size in the index, but as int/,
    ],
    [{ "column_sizes": [8, 3] }, "bad-index", /as str it has any number/],
    [{ "zip_data": {} }, "bad-index", /zip_data of shard 0 has no basename/],
  ];
  for (const [changes, code, message] of cases) {
    await assertRefused(
      datasetOf([entry(changes)], { [NAME]: SHARD }),
      code,
      message,
    );
  }
  await assertRefused(
    datasetOf([entry()], { [NAME]: SHARD }, { version: 1 }),
    "unsupported",
    /version 1 is unsupported/,
  );
  const other = (text: string) =>
    new MemoryStorage({
      "d/index.json": new TextEncoder().encode(text),
      [`d/${NAME}`]: new Uint8Array(SHARD),
    });
  await assertRefused(other("{"), "bad-index", /it is not JSON/);
  await assertRefused(other("[]"), "bad-index", /it is not an object/);
  const deep = "[".repeat(1e6) + "]".repeat(1e6);
  const huge = "9".repeat(30);
  for (const value of [deep, huge]) {
    await assertRefused(
      other(`{"version": ${value}, "shards": []}`),
      "unsupported",
      /its version .* is unsupported/,
    );
    const whole = JSON.stringify({ version: 2, shards: [entry()] });
    await assertRefused(
      other(whole.replace('"n"', value)),
      "bad-index",
      /whose name is not a text/,
    );
  }
  await assertRefused(
    other('{"version": 2}'),
    "bad-index",
    /no list of shards/,
  );
  await assertRefused(
    other('{"version": 2, "shards": [3]}'),
    "bad-index",
    /shard 0 is not an object/,
  );
});

Deno.test("unknown encodings are rejected by name", async () => {
  for (
    const encoding of [
      "list[str]",
      "list[jpeg:90]",
      "jpeg_array:1",
      "list",
      "jpeg:101",
      "str:x",
      "ndarray:float128",
      "ndarray:int8:0",
      "ndarray:int8:1:2",
      "ndarray:int8:-1",
      "ndarray::3",
      `ndarray:int8:${Array(64).fill(1)}`,
      "ndarray:float64:999999999999,999999999999",
      "constructor",
      "",
    ]
  ) {
    const changes = { "column_encodings": ["int", encoding] };
    await assertRefused(
      datasetOf([entry(changes)], { [NAME]: SHARD }),
      "unsupported",
      /the column 't' has the unsupported encoding ".*: known encodings are/,
    );
  }
});

Deno.test("a shard that is missing, truncated, or of another index is rejected", async () => {
  await assertRefused(
    datasetOf([entry()], { "x": SHARD }),
    "missing-shard",
    /shard.00000.mds: it is missing/,
  );
  for (const length of [0, 3, 40, SHARD.length - 1]) {
    await assertRefused(
      datasetOf([entry()], { [NAME]: SHARD.subarray(0, length) }),
      "truncated-data",
      /It may belong to another index/,
    );
  }
  const longer = Buffer.concat([SHARD, Buffer.alloc(1)]);
  await assertRefused(
    datasetOf([entry()], { [NAME]: longer }),
    "bad-structure",
    /has \d+ bytes, and .*index.json says \d+/,
  );
});

Deno.test("tables whose samples do not follow each other inside the shard are rejected", async () => {
  const changes: [(numbers: number[]) => number[], string][] = [
    [([, ...rest]) => [4, ...rest], "bad-structure"],
    [([n, , ...rest]) => [n!, 8, ...rest], "bad-offsets"],
    [([n, a, , ...rest]) => [n!, a!, 2 ** 32 - 1, ...rest], "bad-offsets"],
    [([n, a, b, c, d]) => [n!, a!, c!, b!, d!], "bad-offsets"],
    [([n, a, b, c, d]) => [n!, a!, b!, c!, d! + 1], "bad-offsets"],
  ];
  for (const [table, code] of changes) {
    const shard = shardOf(SAMPLES, COLUMNS, { table });
    await assertRefused(
      datasetOf([entry()], { [NAME]: shard }),
      code,
      /shard.00000.mds/,
    );
  }
});

Deno.test("sizes of values that do not add up to the sample are rejected", async () => {
  for (const size of [0, 2, 4, 2 ** 32 - 1]) {
    const shard = shardOf([sampleOf(1, "one", size), ...SAMPLES.slice(1)]);
    await assertRefused(
      datasetOf([entry({}, shard.length)], { [NAME]: shard }),
      "bad-structure",
      /sample 0 of .*: the sizes of its values/,
    );
  }
  const short = shardOf([Buffer.alloc(3), ...SAMPLES.slice(1)]);
  await assertRefused(
    datasetOf([entry({}, short.length)], { [NAME]: short }),
    "bad-structure",
    /sample 0 of .*: the sizes of its values/,
  );
});

Deno.test("a directory of shards without an index reports what is missing; one shard is read alone", async () => {
  const storage = new MemoryStorage({ [`d/${NAME}`]: new Uint8Array(SHARD) });
  await assert.rejects(open("d", { storage }), {
    code: "missing-index",
    message: /has shards, such as shard.00000.mds, and no index.json/,
  });
  using reader = await openMds(`d/${NAME}`, { storage });
  assert.equal((await reader.get(2))["t"], "three");
});

Deno.test("a damaged single shard is rejected", async () => {
  const alone = (bytes: Uint8Array) =>
    openMds("x.mds", {
      storage: new MemoryStorage({ "x.mds": new Uint8Array(bytes) }),
    });
  for (const length of [0, 4, 7, 20]) {
    await assert.rejects(alone(SHARD.subarray(0, length)), {
      code: "bad-structure",
    });
  }
  for (
    const [config, code] of [
      [{ ...configOf(), version: 1 }, "unsupported"],
      [{ ...configOf(), format: "json" }, "unsupported"],
      ["text", "bad-index"],
    ] as const
  ) {
    await assert.rejects(alone(shardOf(SAMPLES, COLUMNS, { config })), {
      code,
    });
  }
});

const VALUES: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ["ndarray", "", /it is truncated/],
  ["ndarray", Uint8Array.of(7, 4, 1, 1), /element type 7/],
  ["ndarray", Uint8Array.of(8, 4), /it is truncated/],
  ["ndarray", Uint8Array.of(8, 5, 255, 255, 1), /would have 65539/],
  [
    "ndarray",
    Uint8Array.of(8, 7, ...Array(8).fill(255), 1),
    /a dimension is longer than any file/,
  ],
  ["ndarray:int16", Uint8Array.of(4, 2, 1, 1, 1), /has 5 bytes/],
  ["pil", Uint8Array.of(1, 0, 0, 0), /it is truncated/],
  ["pil", pil(2, 2, "RGB", 11), /has 26 bytes/],
  ["pil", pil(0xffffffff, 0xffffffff, "L", 4), /would have/],
  ["pil", pil(1, 1, "XYZ", 3), /mode 'XYZ'/],
  ["pil", pil(1, 1, "m".repeat(100), 3), /is too long/],
];

/** Values that readers decode, and that files contain unchanged. */
const STORED: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ["str", Uint8Array.of(0xff), /not UTF-8/],
  ["str_int", "1.5", /not a whole number/],
  ["str_int", "9".repeat(5000), /not a whole number/],
  ["str_float", "0x10", /not a number/],
  ["json", "{", /Cannot decode/],
  ["pkl", "cposix\nsystem\n(S'true'\ntR.", /posix/],
  ["png", "no picture", /Cannot decode/],
];

function pil(width: number, height: number, mode: string, bytes: number) {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(width, 0);
  head.writeUInt32LE(height, 4);
  head.writeUInt32LE(mode.length, 8);
  return Buffer.concat([head, Buffer.from(mode), Buffer.alloc(bytes)]);
}

Deno.test("values that do not fit their encodings are rejected, and no code in them is run", async () => {
  for (const [encoding, value, message] of [...VALUES, ...STORED]) {
    const columns: readonly MadeColumn[] = [["v", encoding, null]];
    const bytes = Buffer.from(value as string);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(bytes.length);
    const shard = shardOf([Buffer.concat([head, bytes])], columns);
    const storage = datasetOf([entryOf(NAME, shard.length, 1, columns)], {
      [NAME]: shard,
    });
    await assert.rejects(read(storage, [0]), {
      code: "bad-value",
      sample: 0,
      message,
    });
    using fs = await open("d", { storage });
    const [file] = await Array.fromAsync(fs.walk("000000"));
    const shown = fs.read(`000000/${file!.name}`);
    if (!encoding.startsWith("ndarray") && encoding !== "pil") {
      assert.deepEqual(Buffer.from(await shown), bytes);
    } else await assert.rejects(shown, { code: "bad-value", message });
  }
});

Deno.test("a table for more samples than the file holds takes no memory", async () => {
  const shard = Buffer.alloc(64);
  shard.writeUInt32LE(2 ** 32 - 1, 0);
  const storage = datasetOf([entryOf(NAME, 64, 2 ** 30)], { [NAME]: shard });
  await assertRefused(
    storage,
    "absurd-count",
    /too few even for their offsets/,
  );
});
