/** Samples and their values, compared with those of Python's webdataset 1.0.2. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { writeNpy } from "../../../../src/codecs/numpy/mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";
import { type Member, tarBytes } from "../../../support/tar/make_tar.ts";
import { openWebDataset } from "../../../support/tar/open_web.ts";

/** For each line of the input, prints the samples of that location in the form of `ours`. */
const SCRIPT = `
import json, sys
from webdataset import WebDataset
from webdataset.autodecode import default_decoder
def plain(value):
    if isinstance(value, bytes): return {"bytes": value.hex()}
    if hasattr(value, "tolist"): return {"array": value.tolist()}
    return value
for line in sys.stdin:
    samples = []
    for sample in WebDataset(json.loads(line), shardshuffle=False, empty_check=False):
        key = sample["__key__"]
        values = {}
        for name in sample:
            if name.startswith("__"): continue
            try: values[name] = plain(default_decoder({name: sample[name]})[name])
            except Exception: values[name] = "unreadable"
        samples.append([key, sample["__url__"], values])
    print(json.dumps(samples))
`;

type Values = Record<string, unknown>;
/** Key, tar, values. */
type Sample = readonly [string, string, Values];

async function python(locations: readonly string[]): Promise<Sample[][]> {
  const lines = locations.map((location) => `${JSON.stringify(location)}\n`);
  return await pythonLines(SCRIPT, lines.join("")) as Sample[][];
}

async function ours(location: string): Promise<Sample[]> {
  using dataset = await openWebDataset(location, {
    onWarning: () => {},
    decode: false,
  });
  using decoded = await openWebDataset(location, { onWarning: () => {} });
  const indices = Array.from({ length: dataset.length }, (_, i) => i);
  const raw = await dataset.get(indices);
  return await Promise.all(raw.map(async ({ __key__, ...files }, i) => {
    const values: Values = {};
    for (const name of Object.keys(files)) {
      using one = await openWebDataset(location, {
        onWarning: () => {},
        fields: [name],
      });
      const [sample] = await one.get([i]).catch(() => [undefined]);
      values[name] = sample === undefined ? "unreadable" : plain(sample[name]);
    }
    return [__key__, decoded.fileOf(i)!, values] as const;
  }));
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return { bytes: Buffer.from(value).toString("hex") };
  }
  const data = (value as { data?: unknown })?.data;
  return data instanceof Float32Array ? { array: [...data] } : value;
}

/** Joins webdataset's parts of samples that are one sample here, and removes hidden names. */
function joined(samples: readonly Sample[]): Sample[] {
  const all = new Map<string, Sample>();
  for (const [key, tar, values] of samples) {
    if (key.endsWith("/")) continue; // of `d/.hidden`
    const id = `${tar}\n${key}`;
    const before = all.get(id)?.[2];
    all.set(id, [key, tar, { ...before, ...values }]);
  }
  return [...all.values()];
}

const text = (value: string) => new TextEncoder().encode(value);

/** Contents by extension, for all extensions with a decoder and some without. */
const VALUES: Record<string, readonly (string | Uint8Array)[]> = {
  ...Object.fromEntries(
    ["cls", "cls2", "index", "inx", "id", "class", "count"].map((name) => [
      name,
      ["7", " -12\n", "+3", "1_000", "007", "dog", "1.5", "", "1__0", "_1"],
    ]),
  ),
  ...Object.fromEntries(
    ["txt", "text", "transcript"].map((name) => [
      name,
      ["déjà vu\n", "", text("\ufeffmark"), Uint8Array.of(0xff)],
    ]),
  ),
  ...Object.fromEntries(
    ["json", "jsn"].map((name) => [
      name,
      ['{"a": [1, null, "é"]}', text("\ufeff[1]"), "[1,", "7"],
    ]),
  ),
  npy: [writeNpy({ data: Float32Array.of(1, 2.5), shape: [2] }), "none"],
  bin: ["bytes"],
  "meta.json": ['{"deep": true}'],
  "a.b.cls": ["5"],
};

Deno.test({
  name: "files are decoded like in webdataset (needs webdataset)",
  ...needs("webdataset"),
  fn: () =>
    withTempDir(async (dir) => {
      const path = `${dir}/values.tar`;
      const members = Object.entries(VALUES).flatMap(([extension, values]) =>
        values.map((data, i): Member => ({
          name: `${String(i).padStart(2, "0")}-${
            extension.replaceAll(".", "_")
          }.${extension}`,
          data,
        }))
      );
      fs.writeFileSync(path, tarBytes(members));
      const [theirs] = await python([path]);
      assert.equal(theirs!.length, members.length);
      assert.deepEqual(await ours(path), theirs);
    }),
});

/** Directory parts of names. */
const DIRECTORIES = ["", "d/", "d/e/", "v1.2/", ".hidden/", "__meta__/"];
const STEMS = ["0", "1", "2", "0-a", "._0", ".x", "", "__key__", "é"];
const ENDS = ["", ".", ".txt", ".cls", ".seg.bin", ".json", ".0.txt", "..b"];

Deno.test({
  name:
    "samples are those of webdataset, with scattered files joined (needs webdataset)",
  ...needs("webdataset"),
  fn: () =>
    withTempDir(async (dir) => {
      let seed = 3;
      const next = (below: number) => {
        seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
        return (seed >>> 8) % below;
      };
      const pick = (from: readonly string[]) => from[next(from.length)]!;
      const locations: string[] = [];
      for (let i = 0; i < 60; i++) {
        // Several shards, which may have no file or one.
        const shards = 1 + next(3);
        const prefix = pick(["", "", "./", "d//", "./././x/"]);
        for (let shard = 0; shard < shards; shard++) {
          const names = new Set(
            Array.from(
              { length: next(4) === 0 ? next(2) : 1 + next(14) },
              () => prefix + pick(DIRECTORIES) + pick(STEMS) + pick(ENDS),
            ).filter((name) => !/(^|\/)\.{0,2}$/.test(name)),
          );
          const members = [...names].map((name) => ({ name, data: "1" }));
          fs.writeFileSync(`${dir}/${i}-${shard}.tar`, tarBytes(members));
        }
        locations.push(
          shards === 1
            ? `${dir}/${i}-0.tar`
            : `${dir}/${i}-{0..${shards - 2}}.tar::${dir}/${i}-${
              shards - 1
            }.tar`,
        );
      }
      const theirs = await python(locations);
      let apart = 0;
      for (const [i, location] of locations.entries()) {
        const wanted = joined(theirs[i]!);
        assert.deepEqual(await ours(location), wanted, location);
        apart += theirs[i]!.length - wanted.length;
      }
      assert.ok(apart > 50, `${apart}`);
    }),
});
