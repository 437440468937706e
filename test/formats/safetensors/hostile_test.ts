// deno-lint-ignore-file camelcase -- keys of a header
/** Hostile files and indexes: each is rejected with its reason, as the original rejects it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { FormatError } from "../../../src/base/errors.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { check, open } from "../../../src/open/open.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { serving } from "../../support/remote/serving.ts";
import fc from "../../support/random.ts";
import {
  bytesTensor,
  fileOf,
  tensorsFile,
} from "../../support/safetensors/make_safetensors.ts";

/** Returns a header of byte tensors with these offsets. */
function header(...ranges: readonly (readonly [number, number])[]): string {
  const members = ranges.map(([start, end], i) =>
    `"t${i}":{"dtype":"U8","shape":[${
      end - start
    }],"data_offsets":[${start},${end}]}`
  );
  return `{${members.join(",")}}`;
}

/** Returns a header of one valid tensor of eight bytes, with some facts replaced. */
function one(facts: Record<string, unknown>): string {
  const right = { dtype: "U8", shape: [8], data_offsets: [0, 8] };
  return JSON.stringify({ t: { ...right, ...facts } });
}

const EIGHT = new Uint8Array(8);

/** Rejected files, by fault: the code and the reason. */
const REFUSED: Readonly<
  Record<string, readonly [Uint8Array, FormatError["code"], RegExp]>
> = {
  "no bytes": [new Uint8Array(0), "truncated-header", /it has 0 bytes/],
  "a header beyond the end": [
    fileOf(one({}), EIGHT).subarray(0, 40),
    "truncated-header",
    /its header ends at/,
  ],
  "a header over the limit": [
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x7b]),
    "too-large",
    /1099511627775 bytes, more than the limit of 100000000/,
  ],
  "a header that is a list": [
    fileOf("[]", new Uint8Array(0)),
    "bad-structure",
    /does not begin with \{/,
  ],
  "blanks before the header": [
    fileOf(` ${header()}`, new Uint8Array(0)),
    "bad-structure",
    /does not begin with \{/,
  ],
  "a header that is cut": [
    fileOf(one({}).slice(0, -1), EIGHT),
    "bad-structure",
    /its header is wrong/,
  ],
  "a header that is not UTF-8": [
    fileOf(Buffer.from(one({}).replace('"t"', '"\xff"'), "latin1"), EIGHT),
    "bad-structure",
    /UTF-8/,
  ],
  "two tensors of a name": [
    fileOf(`{${one({}).slice(1, -1)},${one({}).slice(1, -1)}}`, EIGHT),
    "bad-structure",
    /it has 't' twice/,
  ],
  "texts that are numbers": [
    fileOf('{"__metadata__":{"a":1}}', new Uint8Array(0)),
    "bad-structure",
    /__metadata__ is not an object of texts/,
  ],
  "texts that are a list": [
    fileOf('{"__metadata__":[]}', new Uint8Array(0)),
    "bad-structure",
    /__metadata__ is not an object of texts/,
  ],
  "tensors that overlap": [
    fileOf(header([0, 4], [2, 8]), EIGHT),
    "bad-offsets",
    /the data of 't1' overlap/,
  ],
  "tensors of the same data": [
    fileOf(header([0, 8], [0, 8]), EIGHT),
    "bad-offsets",
    /the data of 't1' overlap/,
  ],
  "a hole between tensors": [
    fileOf(header([0, 3], [4, 8]), EIGHT),
    "bad-offsets",
    /the data of 't1' follow a gap/,
  ],
  "a hole before the first": [
    fileOf(header([1, 8]), EIGHT),
    "bad-offsets",
    /the data of 't0' follow a gap/,
  ],
  "bytes behind the last": [
    fileOf(header([0, 7]), EIGHT),
    "bad-structure",
    /its header describes/,
  ],
  "data that are cut": [
    fileOf(header([0, 9]), EIGHT),
    "truncated-data",
    /its header describes/,
  ],
  "an unknown type": [
    fileOf(one({ dtype: "F3" }), EIGHT),
    "unsupported",
    /'t' has the unknown type 'F3'/,
  ],
  "a type that is no text": [
    fileOf(one({ dtype: ["U8", "x"] }), EIGHT),
    "unsupported",
    /unknown type/,
  ],
  "a shape of another size": [
    fileOf(one({ shape: [9] }), EIGHT),
    "bad-structure",
    /'t' has 8 bytes, but its shape takes 9/,
  ],
  "a shape beyond all numbers": [
    fileOf(one({ shape: Array(64).fill(2 ** 50) }), EIGHT),
    "bad-structure",
    /'t' has 8 bytes/,
  ],
  "a negative dimension": [
    fileOf(one({ shape: [-8] }), EIGHT),
    "bad-structure",
    /no shape and data_offsets of numbers/,
  ],
  "half a byte": [
    fileOf(one({ dtype: "F4", shape: [15] }), EIGHT),
    "bad-structure",
    /its shape takes 7\.5/,
  ],
  "an end before its start": [
    fileOf(one({ shape: [0], data_offsets: [8, 0] }), EIGHT),
    "bad-structure",
    /'t' has -8 bytes/,
  ],
  "a member that is null": [
    fileOf('{"t":null}', new Uint8Array(0)),
    "unsupported",
    /unknown type/,
  ],
};

for (const [what, [bytes, code, message]] of Object.entries(REFUSED)) {
  Deno.test(`rejected: ${what}`, async () => {
    const storage = new MemoryStorage({ "a.safetensors": bytes });
    await assert.rejects(open("a.safetensors", { storage }), (error) => {
      assert.ok(error instanceof FormatError);
      assert.deepEqual([error.code, error.path], [code, "a.safetensors"]);
      assert.match(error.message, message);
      return true;
    });
    const damages: FormatError[] = [];
    const checking = check("a.safetensors", {
      storage,
      onDamage: (damage) => void damages.push(damage),
    });
    await checking;
    assert.deepEqual(damages.map(({ code }) => code), [code]);
  });
}

Deno.test({
  name: "the original rejects the same files, and reads the valid ones",
  ...needs("python3", "safetensors"),
  fn: () =>
    withTempDir(async (dir) => {
      const files = {
        ...Object.fromEntries(
          Object.entries(REFUSED).map(([what, [bytes]]) => [what, bytes]),
        ),
        "+one": fileOf(one({}), EIGHT),
        "+none": fileOf("{}", new Uint8Array(0)),
        "+blanks behind": fileOf(`${header([0, 8])}   `, EIGHT),
        "+in any order": fileOf(
          `{"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}`,
          EIGHT,
        ),
      };
      for (const [what, bytes] of Object.entries(files)) {
        fs.writeFileSync(`${dir}/${what}.safetensors`, bytes);
      }
      const { stdout } = await new Deno.Command(PYTHON, {
        args: [
          `${REPOSITORY}test/formats/safetensors/python/read_all.py`,
          dir,
        ],
      }).output();
      const read: string[] = JSON.parse(new TextDecoder().decode(stdout));
      const ours: string[] = [];
      for (const what of Object.keys(files)) {
        try {
          (await open(`${dir}/${what}.safetensors`)).close();
          ours.push(what);
        } catch (error) {
          assert.ok(error instanceof FormatError, `${what}: ${error}`);
        }
      }
      // The original accepts these, although its README disallows them.
      const lenient = ["blanks before the header", "two tensors of a name"];
      assert.deepEqual(
        read.filter((what) => !lenient.includes(what)).sort(),
        ours.sort(),
      );
    }),
});

/** Returns a model in two shards with this index. */
function modelOf(
  map: unknown,
  files: Readonly<Record<string, Uint8Array>> = {},
): MemoryStorage {
  const index = new TextEncoder().encode(JSON.stringify({ weight_map: map }));
  return new MemoryStorage({
    "m/model.safetensors.index.json": index,
    "m/1.safetensors": tensorsFile([bytesTensor("a", [1])]),
    "m/2.safetensors": tensorsFile([bytesTensor("b", [2])]),
    ...files,
  });
}

Deno.test("a false index is rejected, or its shard is skipped with a warning", async () => {
  const right = { a: "1.safetensors", b: "2.safetensors" };
  using model = await open("m", { storage: modelOf(right) });
  assert.deepEqual(await model.list(), ["a.npy", "b.npy"]);
  using alone = await open("m/model.safetensors.index.json", {
    storage: modelOf(right),
  });
  assert.deepEqual(await alone.list(), ["a.npy", "b.npy"]);
  for (
    const [map, code, message] of [
      [{ a: "../1.safetensors" }, "bad-index", /no weight_map of files next/],
      [{ a: "/etc/passwd" }, "bad-index", /no weight_map of files next/],
      [{ a: 7 }, "bad-index", /no weight_map of files next/],
      [undefined, "bad-index", /no weight_map of files next/],
      [["1.safetensors"], "bad-index", /no weight_map of files next/],
      [
        { ...right, c: "3.safetensors" },
        "missing-shard",
        /names 3\.safetensors, which is missing/,
      ],
      [{ x: "1.safetensors" }, "bad-index", /it lacks 'x'/],
    ] as const
  ) {
    const opening = open("m", { storage: modelOf(map) });
    await assert.rejects(opening, { code, message });
  }
  const warnings: string[] = [];
  const storage = modelOf({ ...right, x: "1.safetensors" });
  using partly = await open("m", {
    storage,
    onWarning: (message) => void warnings.push(message),
  });
  assert.deepEqual(await partly.list(), ["b.npy"]);
  assert.match(warnings.join(), /lacks 'x'.*This shard is skipped/);
  const again = modelOf(right, {
    "m/other.safetensors.index.json": new TextEncoder().encode("{}"),
  });
  await assert.rejects(open("m", { storage: again }), {
    code: "several-formats",
    message: /several indexes/,
  });
});

Deno.test("a header of many tensors takes time and memory in proportion to its size", async () => {
  const count = 20_000;
  const tensors = Array.from(
    { length: count },
    (_, i) => bytesTensor(`${"漢".repeat(90)}${i}`, []),
  );
  const storage = new MemoryStorage({ "a.safetensors": tensorsFile(tensors) });
  using samples = await openSamples("a.safetensors", { storage });
  assert.equal(samples.length, count);
  assert.deepEqual((await samples.get([count - 1], { fields: ["name"] }))[0], {
    name: tensors.at(-1)!.name,
  });
});

Deno.test("of a remote file, only the header and the requested tensors are fetched", () =>
  serving(async ({ dir, server, remote }) => {
    const large = bytesTensor("large", new Array(9 << 20).fill(1));
    const small = bytesTensor("small", [7]);
    fs.writeFileSync(`${dir}/a.safetensors`, tensorsFile([large, small]));
    using container = await open(`${server.url}/a.safetensors`, { remote });
    assert.deepEqual(await container.list(), ["large.npy", "small.npy"]);
    const { length } = await container.read("small.npy");
    assert.equal(length, 129);
    const bytes = server.asked.reduce((sum, { range }) => {
      const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range ?? "") ?? [];
      return first === undefined ? sum : sum + Number(last) - Number(first) + 1;
    }, 0);
    assert.ok(bytes < 4 << 20, `${bytes} bytes`);
  }));

Deno.test("any tensors are read as they were written", async () => {
  const names = fc.uniqueArray(fc.string({ unit: "grapheme" }), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(
      names.filter((all) => !all.includes("__metadata__")),
      fc.array(fc.nat(4), { maxLength: 3 }),
      async (names, shape) => {
        const size = shape.reduce((product, length) => product * length, 1);
        const tensors = names.map((name, i) => ({
          name,
          dtype: "U8",
          shape,
          bytes: new Uint8Array(size).fill(i + 1),
        }));
        const storage = new MemoryStorage({
          a: tensorsFile(tensors, { x: "y" }),
        });
        using samples = await openSamples("a", { storage });
        assert.deepEqual(
          await samples.get(tensors.keys()),
          tensors.map(({ name, bytes }) => ({
            name,
            value: { dtype: "|u1", shape, data: bytes },
          })),
        );
        using container = await open("a", { storage });
        assert.equal((await container.list()).length, names.length + 1);
      },
    ),
  );
});

Deno.test("a header of more tensors than any model has is rejected before it takes memory", () =>
  withTempDir(async (dir) => {
    const facts = '{"dtype":"U8","shape":[0],"data_offsets":[0,0]}';
    const names = Array.from({ length: 250_001 }, (_, i) => `"${i}":${facts}`);
    const path = `${dir}/many.safetensors`;
    fs.writeFileSync(path, fileOf(`{${names}}`, new Uint8Array(0)));
    await assert.rejects(open(path), {
      code: "too-large",
      message: /its header describes more than 250000 tensors/,
    });
  }));
