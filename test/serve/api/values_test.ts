import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { crc32, deflateRawSync } from "node:zlib";
import { writeMsgpack } from "../../../src/codecs/msgpack/mod.ts";
import { writeNpy } from "../../../src/codecs/numpy/mod.ts";
import { open } from "../../../src/open/open.ts";
import type {
  EntryMessage,
  RowsMessage,
  Statistics,
} from "../../../src/serve/api/messages.ts";
import type {
  ArraysValue,
  ArrayValue,
  BytesValue,
  TableValue,
  TextValue,
  TreeValue,
  ValueMessage,
} from "../../../src/serve/api/value_messages.ts";
import { fromFileUrl } from "../../support/paths.ts";
import {
  linesOf,
  served,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const GOLDEN = fromFileUrl(new URL("../../golden/", import.meta.url));

async function value<Value extends ValueMessage>(
  folder: ServedFolder,
  query: string,
): Promise<Value> {
  const response = await folder.get(`api/value?path=${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, `${query}: ${text}`);
  assert.ok(text.length < 8 << 20);
  return JSON.parse(text);
}

Deno.test("arrays are shown with the known facts of their numbers", async () => {
  const numbers = Float32Array.of(1, -2, NaN, Infinity, 5, 0);
  const long = BigInt64Array.of(1n, 2n ** 60n);
  await using folder = await serveFolder({
    "f.npy": writeNpy({ data: numbers, shape: [2, 3] }),
    "i.npy": writeNpy({ data: long }),
    "b.npy": writeNpy({ data: Uint8Array.of(1, 0), dtype: "|b1" }),
    "c.npy": writeNpy({
      data: Float64Array.of(1, -2.5),
      shape: [1],
      dtype: "<c16",
    }),
    "none.npy": writeNpy({ data: new Float64Array(), shape: [0, 3] }),
    "one.npy": writeNpy({ data: Int32Array.of(7), shape: [] }),
    "large.npy": writeNpy({
      data: Uint16Array.from({ length: 1000 * 700 }, (_, i) => i % 1000),
      shape: [1000, 700],
    }),
  });
  const f = await value<ArrayValue>(folder, "f.npy");
  assert.deepEqual(f.data, [1, -2, "NaN", "Infinity", 5, 0]);
  assert.deepEqual([f.kind, f.dtype, f.shape, f.shownShape], [
    "array",
    "float32",
    [2, 3],
    [2, 3],
  ]);
  assert.deepEqual([f.min, f.max, f.mean, f.notFinite, f.counted], [
    -2,
    5,
    1,
    2,
    6,
  ]);
  assert.equal(f.histogram!.counts.reduce((a, b) => a + b, 0), 4);
  assert.deepEqual([f.histogram!.edges[0], f.histogram!.edges.at(-1)], [-2, 5]);
  assert.equal(f.histogram!.edges.length, f.histogram!.counts.length + 1);

  const i = await value<ArrayValue>(folder, "i.npy");
  assert.deepEqual(i.data, [1, String(2n ** 60n)]);
  const b = await value<ArrayValue>(folder, "b.npy");
  assert.deepEqual([b.dtype, b.data, b.mean], ["bool", [true, false], 0.5]);
  const c = await value<ArrayValue>(folder, "c.npy");
  assert.deepEqual([c.dtype, c.data, c.min], ["complex128", ["1-2.5j"], null]);
  const none = await value<ArrayValue>(folder, "none.npy");
  assert.deepEqual([none.data, none.min, none.histogram], [[], null, null]);
  const one = await value<ArrayValue>(folder, "one.npy");
  assert.deepEqual([one.data, one.shape, one.mean], [[7], [], 7]);

  const large = await value<ArrayValue>(folder, "large.npy");
  assert.ok(large.data.length <= 65_536 && large.data.length > 16_384);
  const [rows, columns] = large.shownShape;
  const [rowStep, columnStep] = large.steps;
  assert.equal(large.data.length, rows! * columns!);
  for (const [row, column] of [[0, 0], [3, 5], [rows! - 1, columns! - 1]]) {
    const at = row! * rowStep! * 700 + column! * columnStep!;
    assert.equal(large.data[row! * columns! + column!], at % 1000);
  }
  assert.deepEqual([large.min, large.max], [0, 999]);
  const few = await value<ArrayValue>(folder, "large.npy&most=100");
  assert.ok(few.data.length <= 100 && few.data.length > 25);
});

Deno.test("archives of arrays are opened, packed or not", async () => {
  const array = writeNpy({ data: Int16Array.of(1, 2, 3) });
  await using folder = await serveFolder({
    "a.npz": zip([["x.npy", array, false], ["y.npy", array, true]]),
    "bad.npz": "PK rubbish",
  });
  const { arrays, length } = await value<ArraysValue>(folder, "a.npz");
  assert.equal(length, 2);
  assert.deepEqual(arrays.map(({ name, array: { data } }) => [name, data]), [[
    "x",
    [1, 2, 3],
  ], ["y", [1, 2, 3]]]);
  const bad = await value<BytesValue>(folder, "bad.npz");
  assert.equal(bad.kind, "bytes");
  assert.match(bad.why!, /not an archive/);
});

Deno.test("trees are shown with markers for what JSON cannot represent, and within limits", async () => {
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  const owned = `${tmpdir()}/recordfs-owned-${crypto.randomUUID()}`;
  await using folder = await serveFolder({
    "a.json":
      `{"big": 12345678901234567890, "$": 1, "__proto__": {"x": 1}, "n": [1.5, null, true]}`,
    "deep.json": deep,
    "long.json": JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i)),
    "lines.json": `{"a": 1}\n{"a": 2}\n`,
    "m.msgpack": writeMsgpack(
      new Map<string | number, unknown>([[1, "x"], [
        "y",
        Uint8Array.of(1, 2),
      ]]) as never,
    ),
    "p.pkl": Uint8Array.from([0x80, 2, 0x4b, 5, 0x2e]),
    "evil.pkl": `cos\nsystem\n(S'touch ${owned}'\ntR.`,
    "self.pkl": Uint8Array.from([0x80, 2, 0x5d, 0x71, 0, 0x68, 0, 0x61, 0x2e]), // l = []; l.append(l)
  });
  const json = await value<TreeValue>(folder, "a.json");
  assert.equal(json.type, "json");
  assert.deepEqual(
    json.value,
    JSON.parse(
      `{"big": {"$": "integer", "digits": "12345678901234567890"}, "$$": 1, "__proto__": {"x": 1}, "n": [1.5, null, true]}`,
    ),
  );
  const nested = await value<TreeValue | TextValue>(folder, "deep.json");
  assert.ok(nested.kind === "text" || nested.isCut);
  const long = await value<TreeValue>(folder, "long.json");
  assert.ok(long.isCut);
  const cut = long.value as { $: string; shown: number[]; length: number };
  assert.deepEqual([cut.$, cut.length, cut.shown[5]], ["cut", 100_000, 5]);
  assert.equal((await value<TextValue>(folder, "lines.json")).kind, "text");
  const msgpack = await value<TreeValue>(folder, "m.msgpack");
  assert.deepEqual(msgpack.value, {
    $: "map",
    pairs: [[1, "x"], ["y", { $: "bytes", size: 2, base64: "AQI=" }]],
  });
  assert.deepEqual(await value<TreeValue>(folder, "p.pkl"), {
    kind: "tree",
    type: "pickle",
    value: 5,
    isCut: false,
  });
  const evil = await value<BytesValue>(folder, "evil.pkl");
  assert.equal(evil.kind, "bytes");
  assert.match(evil.why!, /system/);
  await assert.rejects(Deno.stat(owned), Deno.errors.NotFound);
  const self = await value<TreeValue>(folder, "self.pkl");
  assert.deepEqual(self.value, [{ $: "deep" }]);
});

Deno.test("text, tables and bytes are sent in pages, which join to the whole", async () => {
  const text = "aé😀\n".repeat(40_000);
  const rows = Array.from({ length: 500 }, (_, i) => `${i},"a, ${i}"\n`).join(
    "",
  );
  const bytes = Uint8Array.from({ length: 150_000 }, (_, i) => i % 256);
  await using folder = await serveFolder({
    "a.txt": text,
    "t.csv": `id,text\n${rows}`,
    "t.tsv": "x\ty\n1\t2\n",
    "b.bin": bytes,
    "bad.txt": Uint8Array.of(0xff, 0xfe, 0x00),
    "empty.txt": "",
  });
  let joined = "";
  for (let offset = 0;;) {
    const page = await value<TextValue>(folder, `a.txt&offset=${offset}`);
    assert.equal(page.kind, "text");
    assert.ok(page.text.length <= 65_536);
    joined += page.text;
    offset = page.end;
    if (!page.isCut) break;
  }
  assert.equal(joined, text);
  // An offset within a character moves to the next one.
  assert.match(
    (await value<TextValue>(folder, "a.txt&offset=2")).text,
    /^😀\naé/,
  );

  const table = await value<TableValue>(folder, "t.csv");
  assert.deepEqual(table.columns, ["id", "text"]);
  assert.deepEqual(table.rows[3], ["3", "a, 3"]);
  const read = [...table.rows];
  while (read.length < 500) {
    const next = await value<TableValue>(folder, `t.csv&offset=${read.length}`);
    assert.equal(next.start, read.length);
    read.push(...next.rows);
    assert.equal(next.hasMore, read.length < 500);
  }
  assert.deepEqual(
    read.map(([id]) => id),
    Array.from({ length: 500 }, (_, i) => String(i)),
  );
  assert.deepEqual((await value<TableValue>(folder, "t.tsv")).rows, [[
    "1",
    "2",
  ]]);

  const page = await value<BytesValue>(folder, "b.bin&offset=100000");
  assert.deepEqual(Uint8Array.fromBase64(page.base64), bytes.slice(100_000));
  assert.equal(page.size, 150_000);
  const bad = await value<BytesValue>(folder, "bad.txt");
  assert.deepEqual([bad.kind, bad.base64], ["bytes", "//4A"]);
  assert.equal((await value<TextValue>(folder, "empty.txt")).text, "");
  const forced = await value<BytesValue>(folder, "a.txt&as=bytes");
  assert.equal(forced.kind, "bytes");
});

Deno.test("pictures that are too large to decode are rejected on request", async () => {
  const head = (width: number, height: number) => {
    const bytes = new Uint8Array(33);
    bytes.set([
      0x89,
      0x50,
      0x4e,
      0x47,
      13,
      10,
      26,
      10,
      0,
      0,
      0,
      13,
      0x49,
      0x48,
      0x44,
      0x52,
    ]);
    new DataView(bytes.buffer).setUint32(16, width);
    new DataView(bytes.buffer).setUint32(20, height);
    return bytes;
  };
  await using folder = await serveFolder({
    "bomb.png": head(30_000, 30_000),
    "good.png": head(100, 50),
  });
  const bomb = await folder.get("files/bomb.png?most-pixels=100000000");
  assert.equal(bomb.status, 413);
  assert.match(await bomb.text(), /^too-large: .*30000 × 30000/);
  for (const path of ["good.png?most-pixels=5000", "bomb.png"]) {
    const response = await folder.get(`files/${path}`);
    assert.equal(response.status, 200);
    await response.bytes();
  }
});

Deno.test("datapoints are rows of cells, with the values that Python wrote", async () => {
  const directory = `${GOLDEN}granular/types`;
  const { content } = JSON.parse(
    await Deno.readTextFile(`${directory}/expect.json`),
  );
  await using folder = served(await open(`${directory}/data`));
  const response = await folder.get("api/row?limit=500");
  const { rows, keys, total }: RowsMessage = await response.json();
  assert.equal(rows.length, content.length);
  assert.equal(total, content.length + 1); // the specification is an entry as well
  assert.deepEqual(
    Object.fromEntries(keys.map(({ key, type }) => [key, type])),
    content.spec,
  );
  for (const [i, { cells, damage, index }] of rows.entries()) {
    assert.deepEqual([damage, index], [null, i + 1]);
    const expected = content.datapoints[i];
    for (const { key, type, value: cell, kind } of cells) {
      if (type === "int") {
        const want = expected[key].$int === undefined
          ? expected[key]
          : { $: "integer", digits: expected[key].$int };
        assert.deepEqual(cell, { kind: "tree", value: want }, `${i} ${key}`);
      } else if (type === "utf8") {
        assert.ok(cell?.kind === "text");
        if (typeof expected[key] === "string") {
          assert.ok(expected[key].startsWith(cell.text));
        }
      } else if (type === "jpg" || type === "png") {
        assert.deepEqual([kind, cell], ["image", null]);
      } else if (type === "array") {
        assert.ok(cell === null || cell.kind === "array");
      }
    }
  }
  const entry: EntryMessage = await (await folder.get("api/entry?path=000003"))
    .json();
  assert.ok(entry.view?.kind === "datapoint");
  assert.deepEqual(entry.view.cells, rows[3]!.cells);
  assert.deepEqual([entry.sample, entry.index], [3, 4]);
});

Deno.test("statistics count all entries", async () => {
  const directory = `${GOLDEN}granular/types`;
  const { content } = JSON.parse(
    await Deno.readTextFile(`${directory}/expect.json`),
  );
  await using folder = served(await open(`${directory}/data`));
  const last = (await linesOf<Statistics>(folder, "statistics")).at(-1)!;
  assert.equal(last.isComplete, true);
  const keys = Object.keys(content.spec);
  assert.equal(last.files, content.length * keys.length + 1);
  assert.equal(last.directories, content.length);
  assert.deepEqual(
    last.keys.map(({ key, values }) => [key, values]).sort(),
    keys.map((key) => [key, content.length]).sort(),
  );
  const [shard] = content.shards;
  for (const { key, bytes } of last.keys) {
    const sizes: number[] = shard.bags[key].records.map((
      { size }: { size: number },
    ) => size);
    assert.equal(bytes, sizes.reduce((a, b) => a + b, 0), key);
  }
  assert.equal(last.sizes.counts.reduce((a, b) => a + b, 0), last.files);
  assert.equal(last.sizes.edges.length, last.sizes.counts.length + 1);
  const kinds = Object.fromEntries(
    last.kinds.map(({ kind, count }) => [kind, count]),
  );
  assert.equal(kinds.datapoint, content.length);
  const shapes = content.datapoints.flatMap((
    datapoint: Record<string, { $image?: { shape: number[] } }>,
  ) =>
    Object.values(datapoint).flatMap((one) =>
      one?.$image === undefined ? [] : [one.$image.shape]
    )
  );
  assert.equal(last.dimensions!.pictures, shapes.length);
  const count = ([height, width]: number[]) =>
    last.dimensions!.sizes.find((size) =>
      size.width === width && size.height === height
    )?.count;
  for (const shape of shapes) assert.ok(count(shape)! > 0);
});

/** A ZIP archive, from its description (APPNOTE 4.3). */
function zip(
  members: readonly (readonly [string, Uint8Array, boolean])[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [name, content, isPacked] of members) {
    const bytes = isPacked ? deflateRawSync(content) : content;
    const text = new TextEncoder().encode(name);
    const facts = (start: number, size: number) => {
      const head = new DataView(new ArrayBuffer(size));
      head.setUint16(start, isPacked ? 8 : 0, true);
      head.setUint32(start + 6, crc32(content), true);
      head.setUint32(start + 10, bytes.length, true);
      head.setUint32(start + 14, content.length, true);
      head.setUint16(start + 18, text.length, true);
      return head;
    };
    const local = facts(8, 30);
    local.setUint32(0, 0x04034b50, true);
    const central = facts(10, 46);
    central.setUint32(0, 0x02014b50, true);
    central.setUint32(42, at, true);
    parts.push(new Uint8Array(local.buffer), text, bytes);
    directory.push(new Uint8Array(central.buffer), text);
    at += 30 + text.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, members.length, true);
  end.setUint16(10, members.length, true);
  end.setUint32(12, size, true);
  end.setUint32(16, at, true);
  const all = [...parts, ...directory, new Uint8Array(end.buffer)];
  return Uint8Array.from(all.flatMap((part) => [...part]));
}
