/** Every value of datasets written by the original Python libraries. */
import assert from "node:assert/strict";
import {
  decodersOf,
  encodersOf,
} from "../../../../src/formats/bags/types/mod.ts";
import {
  jsonToValue,
  valueToJson,
} from "../../../../src/formats/bags/types/json_values.ts";
import type { Encoder } from "../../../../src/formats/bags/types/shipped.ts";
import type { TreeContent } from "../../../../src/codecs/values/array_tree.ts";
import { readNpy, writeNpy } from "../../../../src/codecs/numpy/mod.ts";
import {
  type GoldenBags,
  goldenBags,
  parseType,
  recordsOf,
} from "../../../support/bags/bag_records.ts";
import { assertExpected } from "../../../support/expected_value.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";

function decode(
  { generation, spec }: GoldenBags,
  key: string,
  bytes: Uint8Array<ArrayBuffer>,
) {
  const { word, args } = parseType(spec[key]!);
  return decodersOf(generation)[word]!(bytes, ...args);
}

async function encode(
  { generation, spec }: GoldenBags,
  key: string,
  value: unknown,
) {
  const { word, args } = parseType(spec[key]!);
  const encoder: Encoder = encodersOf(generation)[word]!;
  return await encoder(value as never, ...args);
}

const SETS = [
  "bags/types",
  "granular/types",
  "granular2/types",
  "granular3/types",
];

for (const name of SETS.slice(0, 2)) {
  const set = goldenBags(name);
  const keys = Object.keys(set.spec).toSorted();
  for (const [k, key] of keys.entries()) {
    Deno.test(`${name}: ${key} (${set.spec[key]}) is as in expect.json`, async () => {
      const records = recordsOf(set, key);
      const datapoints = set.content.datapoints!;
      assert.equal(datapoints.length, 20);
      for (const [i, datapoint] of datapoints.entries()) {
        const record = records[set.content.refs[i]![k]!]!;
        assertExpected(await decode(set, key, record), datapoint[key]);
      }
    });
  }
}

/** Decodes records as the originals do, and prints their content in the form of expect.json. */
const ORACLE = `
import hashlib, io, json, math, msgpack, numpy as np, sys
from PIL import Image
sha = lambda b: hashlib.sha256(b).hexdigest()
def d(v):
    if isinstance(v, float) and not math.isfinite(v): return {'$float': repr(v)}
    if v is None or isinstance(v, (bool, str, float)): return v
    if isinstance(v, int): return v if abs(v) < 2 ** 53 else {'$int': str(v)}
    if isinstance(v, bytes): return {'$bytes': {'size': len(v), 'sha256': sha(v)}}
    if isinstance(v, np.ndarray): return {'$array': {'dtype': v.dtype.str, 'shape': v.shape, 'sha256': sha(v.tobytes())}}
    if isinstance(v, (list, tuple)): return [d(x) for x in v]
    return {'$map': [[d(k), d(x)] for k, x in v.items()]}
def tree(v):
    if isinstance(v, list) and len(v) == 4 and v[0] == '_': return np.frombuffer(v[3], v[1]).reshape(v[2])
    if isinstance(v, list): return [tree(x) for x in v]
    return {k: tree(x) for k, x in v.items()} if isinstance(v, dict) else v
def value(type, b):
    u = lambda: msgpack.unpackb(b, strict_map_key=False)
    if type == 'array': dtype, shape, data = u(); return np.frombuffer(data, dtype).reshape(shape)
    if type == 'tree': return tree(u())
    if type == 'msgpack': return u()
    if type == 'int': return int.from_bytes(b, 'little', signed=True)
    return b.decode() if type == 'utf8' else b
def said(type, b):
    if type not in ('png', 'jpg'): return d(value(type, b))
    a = np.asarray(Image.open(io.BytesIO(b)))
    return {'$image': {'shape': a.shape, **({'pixels_sha256': sha(a.tobytes())} if type == 'png' else {})}}
for line in sys.stdin:
    type, digits = line.strip('\\n').split(' ')
    print(json.dumps(said(type, bytes.fromhex(digits))))
`;

for (const name of SETS.slice(2)) {
  Deno.test({
    name:
      `${name}: every value equals what Python reads (needs numpy, msgpack, pillow)`,
    ...needs("numpy", "msgpack", "pillow"),
    async fn() {
      const set = goldenBags(name);
      const all = Object.keys(set.spec).flatMap((key) =>
        recordsOf(set, key).map((record) => ({ key, record }))
      );
      assert.ok(all.length >= 8 * 23);
      const lines = await pythonLines(
        ORACLE,
        all.map(({ key, record }) => `${set.spec[key]} ${record.toHex()}\n`)
          .join(""),
      );
      assert.equal(lines.length, all.length);
      for (const [i, { key, record }] of all.entries()) {
        assertExpected(await decode(set, key, record), lines[i]);
      }
    },
  });
}

/** Types whose encoded bytes depend on the encoder; pixels of JPEGs as well. */
const LOSSY = ["jpeg", "jpg", "png"];

for (const name of SETS) {
  const set = goldenBags(name);
  for (const key of Object.keys(set.spec)) {
    const { word } = parseType(set.spec[key]!);
    if (LOSSY.includes(word)) continue;
    Deno.test(`${name}: ${key} (${set.spec[key]}) is encoded to the same bytes`, async () => {
      for (const record of recordsOf(set, key)) {
        const value = decode(set, key, record);
        const encoded = await encode(set, key, value);
        if (hasBigEndian(record)) { // arrays are always written as little-endian
          assert.deepEqual(decode(set, key, encoded.slice()), value);
        } else if (hasTopBit(set, key, record)) {
          assert.deepEqual(
            new Uint8Array(encoded),
            Uint8Array.of(...record, 0),
          );
        } else assert.deepEqual(new Uint8Array(encoded), record);
      }
    });
    Deno.test(`${name}: ${key} (${set.spec[key]}) is converted to JSON and back`, () => {
      for (const record of recordsOf(set, key)) {
        const value = decode(set, key, record) as TreeContent;
        const json = valueToJson(value);
        assert.ok(!json.includes("\n"));
        assert.deepStrictEqual(jsonToValue(json), value);
      }
    });
    if (word !== "array") continue;
    Deno.test(`${name}: ${key} (${set.spec[key]}) is exported as .npy`, () => {
      for (const record of recordsOf(set, key)) {
        const value = decode(set, key, record) as ReturnType<typeof readNpy>;
        assert.deepStrictEqual(readNpy(writeNpy(value)), value);
      }
    });
  }
}

/** Whether a record is an `int` of generation 1 that granular 0.17.1 to 0.21.2 read as negative. */
function hasTopBit(
  { generation, spec }: GoldenBags,
  key: string,
  record: Uint8Array,
): boolean {
  return generation === 1 && spec[key] === "int" && record.at(-1)! >= 0x80;
}

/** Whether a record contains a big-endian type name such as `>f4`, as MessagePack text of 3 bytes. */
function hasBigEndian(record: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(record).includes("\xa3>");
}

for (const name of SETS) {
  const set = goldenBags(name);
  for (
    const key of Object.keys(set.spec).filter((key) => set.spec[key] === "png")
  ) {
    Deno.test(`${name}: ${key} (png) is encoded without loss`, async () => {
      for (const record of recordsOf(set, key)) {
        const image = await decode(set, key, record);
        const encoded = await encode(set, key, image);
        assert.deepStrictEqual(await decode(set, key, encoded.slice()), image);
      }
    });
  }
}
