/** What conversions write, as Python's webdataset and granular read it: as many samples, and the same values. */
import assert from "node:assert/strict";
import { convert } from "../../src/open/convert/convert.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { pythonLines } from "../support/programs/python.ts";
import { SAMPLES, SOURCES } from "../support/typed_samples.ts";

/** Values as JSON has them: bytes in hex, arrays as lists. */
const PLAIN = `
import json, sys
def plain(value):
    if isinstance(value, bytes): return value.hex()
    if hasattr(value, "tolist"): return value.tolist()
    if isinstance(value, dict): return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)): return [plain(v) for v in value]
    return value
`;

const WEBDATASET = `${PLAIN}
from webdataset import WebDataset
from webdataset.autodecode import default_decoder
for path in json.loads(sys.stdin.read()):
    samples = WebDataset(path, shardshuffle=False, empty_check=False).decode()
    print(json.dumps([{k: plain(v) for k, v in sample.items() if k not in ("__url__", "__local_path__")} for sample in samples]))
`;

const GRANULAR = `${PLAIN}
import pathlib, granular
for path in json.loads(sys.stdin.read()):
    decoders = {**granular.decoders, "jpg": lambda data: bytes(data)}
    with granular.DatasetReader(pathlib.Path(path), decoders) as reader:
        print(json.dumps([plain(reader[i]) for i in range(len(reader))]))
`;

const hexOf = (bytes: Uint8Array) => bytes.toHex();

/** The samples as Python has them in JSON. */
const EXPECTED = SAMPLES.map(({ blob, image, box, ...sample }) => ({
  ...sample,
  blob: hexOf(blob),
  image: hexOf(image),
  box: [...box.data],
}));

async function readAll(
  script: string,
  paths: readonly string[],
): Promise<Record<string, unknown>[][]> {
  return await pythonLines(script, JSON.stringify(paths)) as never;
}

Deno.test({
  name: "Python's webdataset reads as many samples of tars, and their values",
  ...needs("python3", "webdataset", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      const paths: string[] = [];
      for (const [from, write] of Object.entries(SOURCES)) {
        if (from === "tar") continue; // which stays as it is
        await write(`${dir}/${from}`);
        await convert(`${dir}/${from}`, `${dir}/${from}.tar`);
        paths.push(`${dir}/${from}.tar`);
      }
      const found = await readAll(WEBDATASET, paths);
      for (const [i, path] of paths.entries()) {
        const expected = EXPECTED.map((sample, i) => ({
          "__key__": `${i}`.padStart(6, "0"),
          "count.cls": sample.count,
          "score.json": sample.score,
          "whole.json": sample.whole,
          "name.txt": sample.name,
          blob: sample.blob,
          "image.jpg": sample.image,
          "box.npy": sample.box,
          "meta.json": sample.meta,
        }));
        assert.deepEqual(found[i], expected, path);
      }
    }),
});

Deno.test({
  name:
    "Python's webdataset reads as many samples of containers of other kinds",
  ...needs("python3", "webdataset"),
  fn: () =>
    withTempDir(async (dir) => {
      const quiet = { onWarning() {} };
      const golden = `${REPOSITORY}test/golden`;
      const containers = [
        "parquet/pictures/pictures.parquet",
        "mds/plain/data",
        "granular3/types/data",
        "tfrecord/records",
      ];
      const paths: string[] = [];
      const counts: number[] = [];
      for (const [i, path] of containers.entries()) {
        const target = `${dir}/${i}.tar`;
        counts.push((await convert(`${golden}/${path}`, target, quiet)).count);
        paths.push(target);
      }
      const read = await readAll(WEBDATASET.replace(".decode()", ""), paths);
      assert.deepEqual(read.map((samples) => samples.length), counts);
      assert.ok(counts.every((count) => count > 0));
    }),
});

Deno.test({
  name: "Python's granular reads the bags, and their values with their types",
  ...needs("python3", "granular", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      const paths: string[] = [];
      for (const [from, write] of Object.entries(SOURCES)) {
        if (from === "tar") continue; // whose names are those of its files
        await write(`${dir}/${from}`);
        await convert(`${dir}/${from}`, `${dir}/${from}.bags`, { to: "bags" });
        paths.push(`${dir}/${from}.bags`);
      }
      const found = await readAll(GRANULAR, paths);
      for (const [i, path] of paths.entries()) {
        assert.deepEqual(found[i], EXPECTED, path);
      }
    }),
});
