/**
 * Preloaded by `deno test --doc` before each code block of the documents. The block finds its files in the current
 * directory, a temporary one, and may write to it.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { writeImages } from "../support/gulp/gulp_content.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { tarCase } from "../support/tar/tar_golden.ts";
import { makeZip } from "../support/zip/make_zip.ts";
import { writeNpy } from "../../src/codecs/numpy/mod.ts";
import { arrowCase } from "../support/arrow/arrow_golden.ts";
import { parquetCase } from "../support/parquet/parquet_golden.ts";
import { tfrecordCase } from "../support/tfrecord/tfrecord_golden.ts";
import { hdf5Case } from "../support/hdf5/hdf5_golden.ts";
import { lmdbCase } from "../support/lmdb/lmdb_golden.ts";
import { linesGoldens } from "../support/lines/lines_golden.ts";
import { mdsCase } from "../support/mds/mds_golden.ts";
import { TOY_FORMAT, toyBytes } from "../support/toy_format/write_toy.ts";
import { fromFileUrl } from "../support/paths.ts";

const from = fromFileUrl(new URL(".", import.meta.url));
const before = Deno.cwd();
const encoder = new TextEncoder();
const place = fs.mkdtempSync(`${tmpdir()}/recordfs-recipe-`);

for (
  const name of ["just_a_folder", "packed.ffr", "pickled_by_python.ffr"]
) {
  fs.cpSync(from + name, `${place}/${name}`, { recursive: true });
}
const image = fs.readFileSync(`${from}just_a_folder/just_a_figure.png`);
const data = packedSamples({
  "a.jpg": image,
  "b.jpg": image,
  "movie.mp4": new Uint8Array(1_100_000),
  train: { "0001.jpg": image, "0002.jpg": image },
});
fs.writeFileSync(`${place}/data.ffr`, ffrBytes(data));
for (
  const [name, golden] of [
    ["gulps", "v2_integer_ids"],
    ["train_gulps", "v2_image_list"],
    ["clips", "v2_chunks"],
  ] as const
) {
  fs.cpSync(gulpCase(golden).path, `${place}/${name}`, { recursive: true });
}
fs.writeFileSync(
  `${place}/arrays.npz`,
  makeZip(["x", "y"].map((name) => ({
    name: `${name}.npy`,
    data: writeNpy({ data: Float32Array.of(1, 2, 3), shape: [3] }),
    method: 8,
  }))),
);
fs.cpSync(tfrecordCase("shards").path, `${place}/records`, { recursive: true });
for (const name of ["faces", "faces_last"]) {
  const faces = new URL(`../golden/recordio/${name}`, import.meta.url);
  fs.cpSync(fromFileUrl(faces), `${place}/${name}`, { recursive: true });
}
for (const name of ["shards", "interleaved"]) {
  const shards = new URL(`../golden/bagz/${name}/data`, import.meta.url);
  fs.cpSync(fromFileUrl(shards), `${place}/bagz/${name}`, { recursive: true });
}
fs.cpSync(hdf5Case("rows").path, `${place}/rows.h5`);
fs.cpSync(lmdbCase("caffe").path, `${place}/train_lmdb`, { recursive: true });
fs.cpSync(mdsCase("plain").path, `${place}/mds`, { recursive: true });
for (
  const [name, golden] of [
    ["model", "safetensors/sharded"],
    ["litdata", "litdata/every"],
  ] as const
) {
  const data = new URL(`../golden/${golden}/data`, import.meta.url);
  fs.cpSync(fromFileUrl(data), `${place}/${name}`, { recursive: true });
}
fs.cpSync(parquetCase("shards").path, `${place}/tables`, { recursive: true });
fs.cpSync(linesGoldens("jsonl").one("shards").path, `${place}/lines`, {
  recursive: true,
});
fs.cpSync(linesGoldens("csv").one("table").path, `${place}/table.csv`);
fs.cpSync(arrowCase("datasets_saved").path, `${place}/saved`, {
  recursive: true,
});
fs.cpSync(tarCase("shards").path, `${place}/tars`, { recursive: true });
fs.cpSync(
  fromFileUrl(new URL("../golden/granular3/sharded/data", import.meta.url)),
  `${place}/dataset`,
  { recursive: true },
);
fs.copyFileSync(TOY_FORMAT, `${place}/my_format.ts`);
// As write_toy.py of the document writes it.
const toys = [["a.txt", "a toy\n"], ["b.txt", "another\n"]] as const;
fs.writeFileSync(
  `${place}/data.toy`,
  toyBytes(toys.map(([name, text]) => {
    return { name, label: "text", bytes: encoder.encode(text) };
  })),
);
writeImages(`${place}/images`, ["cat", "dog"], 3);
Deno.chdir(place);

addEventListener("unload", () => {
  Deno.chdir(before);
  fs.rmSync(place, { recursive: true });
});
