// deno-lint-ignore-file camelcase -- keys of an index
/** Hostile LitData datasets: indexes and chunks with false data, and unsupported features. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FormatError } from "../../../src/base/errors.ts";
import type { AlphaImage } from "../../../src/codecs/image/image.ts";
import { imageCodec } from "../../../src/codecs/image/mod.ts";
import { check, open } from "../../../src/open/open.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { testImage } from "../../support/images.ts";
import {
  chunkOf,
  datasetOf,
  entryOf,
  indexOf,
  type MadeField,
  NAME,
  sampleOf,
  textSample,
} from "../../support/litdata/make_litdata.ts";

const SAMPLES = [textSample(1, "one"), textSample(-2, "")];
const CHUNK = chunkOf(SAMPLES);
const ENTRY = entryOf(NAME, CHUNK.length, SAMPLES.length);

/** Returns a valid dataset, except for its configuration, its only chunk's entry, or the chunk. */
function dataset(
  { config = {}, entry = {}, chunk = CHUNK, fields }: {
    readonly config?: Readonly<Record<string, unknown>>;
    readonly entry?: Readonly<Record<string, unknown>>;
    readonly chunk?: Uint8Array;
    readonly fields?: readonly MadeField[];
  } = {},
) {
  const index = indexOf([{ ...ENTRY, ...entry }], fields, config);
  const { filename = NAME } = entry;
  const isPlaced = filename === NAME || `${filename}`.includes(".lz5.");
  return datasetOf(index, { [isPlaced ? `${filename}` : NAME]: chunk });
}

Deno.test("the generated dataset is valid, and distinguished from MDS by its index", async () => {
  using samples = await openSamples("d", { storage: dataset() });
  assert.equal(samples.container!.info.format, "litdata");
  assert.deepEqual(
    (await samples.get([0, 1])).map((sample) => ({ ...sample })),
    [{ n: 1, t: "one" }, { n: -2, t: "" }],
  );
  const mds = new TextEncoder().encode('{"version": 2, "shards": []}');
  using other = await open({ "index.json": mds });
  assert.equal(other.info.format, "mds");
  using none = await open({
    "index.json": new TextEncoder().encode(indexOf([])),
  });
  assert.deepEqual([none.info.format, await none.list()], ["litdata", []]);
  await assert.rejects(open({ [NAME]: CHUNK }), {
    code: "missing-index",
    message: /has chunks, and no index\.json/,
  });
});

/** Datasets rejected at opening: the code and the reason. */
const REFUSED: Readonly<
  Record<
    string,
    readonly [Parameters<typeof dataset>[0], FormatError["code"], RegExp]
  >
> = {
  "encrypted chunks": [
    { config: { encryption: { algorithm: "fernet", level: "chunk" } } },
    "unsupported",
    /its chunks are encrypted/,
  ],
  "samples compressed one by one": [
    { config: { compression: "zstd", compression_level: "sample" } },
    "unsupported",
    /compressed inside of their chunks/,
  ],
  "tables of Arrow": [
    { config: { ipc_compression: "zstd" } },
    "unsupported",
    /tables of Arrow/,
  ],
  "chunks of Parquet": [
    { config: { item_loader: "ParquetLoader" } },
    "unsupported",
    /the unsupported "ParquetLoader"/,
  ],
  "an unknown compression": [
    {
      config: { compression: "lz5" },
      entry: { filename: "chunk-0-0.lz5.bin" },
    },
    "unsupported",
    /compression 'lz5' is unsupported/,
  ],
  "an element type that does not exist": [
    { config: { data_format: ["no_header_tensor:99", "str"] } },
    "unsupported",
    /the field 'n' has the unknown type "no_header_tensor:99"/,
  ],
  "an element type that is not numeric": [
    { config: { data_format: ["no_header_numpy:__proto__", "str"] } },
    "unsupported",
    /unknown type/,
  ],
  "fields without names": [
    { config: { data_format: ["int", "str", "str"] } },
    "bad-index",
    /does not name each of 3 fields/,
  ],
  "no data formats": [
    { config: { data_format: null } },
    "bad-index",
    /no list of data formats/,
  ],
  "a tree that is not JSON": [
    { config: { data_spec: "[1, {" } },
    "bad-index",
    /its data_spec does not name each of 2 fields/,
  ],
  "a tree of another form": [
    { config: { data_spec: '[1, {"type": "x"}]' } },
    "bad-index",
    /its data_spec does not name each of 2 fields/,
  ],
  "a tree of endless depth": [
    {
      config: {
        data_spec: `[1, ${
          '{"type":"builtins.list","context":"null","children_spec":['.repeat(
            200,
          )
        }${"]}".repeat(200)}]`,
      },
    },
    "bad-index",
    /does not name each of 2 fields/,
  ],
  "names that are far longer than the index": [
    {
      fields: Array.from({ length: 1000 }, (_, i) => [`f${i}`, "int"] as const),
      config: {
        data_spec: JSON.stringify([1, {
          type: "builtins.dict",
          context: JSON.stringify(["k".repeat(1 << 20)]),
          children_spec: [{
            type: "builtins.list",
            context: "null",
            children_spec: Array(1000).fill({
              type: null,
              context: null,
              children_spec: [],
            }),
          }],
        }]),
      },
    },
    "bad-index",
    /does not name each of 1000 fields/,
  ],
  "a name outside the directory": [
    { entry: { filename: "../x.bin" } },
    "unsafe-name",
    /leads out of the dataset/,
  ],
  "more samples than bytes": [
    { entry: { chunk_size: 1e9 } },
    "absurd-count",
    /1000000000 samples in/,
  ],
  "an invalid number of samples": [
    { entry: { chunk_size: -1 } },
    "bad-index",
    /number of samples of chunk 0/,
  ],
  "no byte count": [
    { entry: { chunk_bytes: null } },
    "bad-index",
    /chunk 0 has no number of bytes/,
  ],
  "a number of samples that differs from the chunk's": [
    { chunk: chunkOf(SAMPLES, ([, ...rest]) => [3, ...rest]) },
    "bad-structure",
    /it says that it has 3 samples, and the index says 2/,
  ],
  "offsets that descend": [
    {
      chunk: chunkOf(SAMPLES, ([count, first, second, end]) => [
        ...[count!, second!, first!, end!],
      ]),
    },
    "bad-offsets",
    /out of bounds/,
  ],
  "offsets beyond the end": [
    { chunk: chunkOf(SAMPLES, (numbers) => numbers.with(3, 2 ** 32 - 1)) },
    "bad-offsets",
    /out of bounds/,
  ],
  "a missing chunk": [
    { entry: { filename: "chunk-0-7.bin" } },
    "missing-shard",
    /it is missing, and d\/index\.json names it/,
  ],
};

for (const [what, [facts, code, message]] of Object.entries(REFUSED)) {
  Deno.test(`rejected: ${what}`, async () => {
    const opening = open("d", { storage: dataset(facts) });
    await assert.rejects(opening, (error) => {
      assert.ok(error instanceof FormatError, String(error));
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("values that do not fit their sample, or their type, are errors of that sample", async () => {
  const wrong = Buffer.from(SAMPLES[0]!);
  wrong.writeUInt32LE(2 ** 31, 0);
  const short = sampleOf(new Uint8Array(7), Buffer.from("x"));
  const chunk = chunkOf([wrong, short, SAMPLES[1]!]);
  const entry = { chunk_bytes: chunk.length, chunk_size: 3 };
  const storage = dataset({ chunk, entry });
  using samples = await openSamples("d", { storage });
  await assert.rejects(samples.get(0), {
    code: "bad-structure",
    message: /do not add up/,
  });
  await assert.rejects(samples.get(1), {
    code: "bad-value",
    message: /Cannot decode 'n' of sample 1 .*it has 7 bytes, not 8/,
  });
  assert.deepEqual({ ...await samples.get(2) }, { n: -2, t: "" });
  const damages: string[] = [];
  const { damaged } = await check("d", {
    storage,
    onDamage: ({ code }) => void damages.push(code),
  });
  assert.deepEqual([damaged, damages], [1, ["bad-structure"]]);
});

/** Returns 32-bit words, followed by zero bytes. */
function words(numbers: readonly number[], bytes = 0): Uint8Array {
  const head = new Uint8Array(Uint32Array.from(numbers).buffer);
  return Buffer.concat([head, new Uint8Array(bytes)]);
}

Deno.test("arrays, images and lists with false data are errors, and take no memory", async () => {
  const lies: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ["tensor", words([0]), /it is truncated/],
    ["tensor", words([99, 0]), /its element type 99 is unknown/],
    ["tensor", words([0, 2 ** 32 - 1]), /it has 4294967295 dimensions/],
    ["tensor", words([0, 2, 3]), /it is truncated/],
    ["tensor", words([0, 2, 2 ** 32 - 1, 2 ** 32 - 1], 4), /would have/],
    ["numpy", words([14, 1, 1], 8), /its element type 14 is unknown/],
    ["no_header_numpy:9", words([], 7), /would have 4/],
    ["pil", words([2 ** 32 - 1, 2 ** 32 - 1, 3]), /too long|would have/],
    ["bool", Uint8Array.of(2), /it is 2, and not 0 or 1/],
    ["jpeg_array", words([2 ** 32 - 1]), /too short for their sizes/],
    ["str", Uint8Array.of(0xff), /not UTF-8/],
    ["pickle", Buffer.from("cos\nsystem\n(S'x'\ntR."), /system/],
  ];
  for (const [format, value, message] of lies) {
    const chunk = chunkOf([sampleOf(value)]);
    const entry = { chunk_bytes: chunk.length, chunk_size: 1 };
    const fields = [["v", format]] as const;
    const storage = dataset({ chunk, entry, fields });
    using samples = await openSamples("d", { storage });
    await assert.rejects(samples.get(0), { code: "bad-value", message });
  }
});

Deno.test("lists of images are directories, and values of other serializers are bytes", async () => {
  const codec = await imageCodec();
  const pictures = await Promise.all(
    [8, 16].map((size) => codec.encode(testImage(size, size), 90)),
  );
  const list = Buffer.concat([
    words([2, ...pictures.map(({ length }) => length)]),
    ...pictures,
  ]);
  const fields: readonly MadeField[] = [
    ["list", "jpeg_array"],
    ["own", "my_serializer:x"],
    ["clip", "video:mp4"],
    ["file", "file:tar.gz"],
    ["odd", "file:../x"],
    ["flag", "boolean"],
  ];
  const bytes = Buffer.from("bytes");
  const others = [bytes, bytes, bytes, bytes, Uint8Array.of(1)];
  const chunk = chunkOf([sampleOf(list, ...others)]);
  const entry = { chunk_bytes: chunk.length, chunk_size: 1 };
  const storage = dataset({ chunk, entry, fields });
  using container = await open("d", { storage });
  assert.deepEqual(await container.list("000000"), [
    ...["list", "own", "clip.mp4", "file.tar.gz", "odd", "flag.json"],
  ]);
  assert.deepEqual(
    await container.read("000000/list/000001.jpg"),
    pictures[1],
  );
  using samples = await openSamples("d", { storage });
  const sample = await samples.get(0);
  const sizes = (sample["list"] as AlphaImage[]).map(({ width }) => width);
  assert.deepEqual(sizes, [8, 16]);
  assert.deepEqual(sample["own"], new Uint8Array(bytes));
  assert.equal(sample["flag"], true);
});

Deno.test("one number a sample, and fields without a tree, have names", async () => {
  const chunk = chunkOf([SAMPLES[0]!]);
  const entry = { chunk_bytes: chunk.length, chunk_size: 1 };
  const storage = dataset({ chunk, entry, config: { data_spec: null } });
  using samples = await openSamples("d", { storage });
  assert.deepEqual({ ...await samples.get(0) }, { 0: 1, 1: "one" });
  const tokens = chunkOf([words([1, 2]), words([3, 4, 5, 6])]);
  using read = await openSamples("d", {
    storage: dataset({
      chunk: tokens,
      entry: { chunk_bytes: tokens.length, dim: 6 },
      fields: [["ids", "no_header_tensor:15"]],
      config: { item_loader: undefined },
    }),
  });
  assert.deepEqual(
    await read.get([0, 1]).then((all) => all.map(({ ids }) => ids)),
    [
      { dtype: "<i4", shape: [2], data: Int32Array.of(1, 2) },
      { dtype: "<i4", shape: [4], data: Int32Array.of(3, 4, 5, 6) },
    ],
  );
});
