/** WebP, AVIF, GIF and TIFF where JPEG and PNG are decoded: samples, loaders, checks, conversions, ingestion. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import sharp from "sharp";
import { check, convert, openSamples } from "../../mod.ts";
import type { Image } from "../../src/codecs/image/mod.ts";
import {
  GulpIngestor,
  ImageFolderAdapter,
} from "../../src/formats/gulp/mod.ts";
import { DataLoader } from "../../src/open/data/mod.ts";
import { openDataset } from "../../src/open/data/open_dataset.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { tarBytes } from "../support/tar/make_tar.ts";

const PICTURES = Object.fromEntries(
  ["small.webp", "small.avif", "small.gif", "lzw.tif"].map((name) => [
    name.slice(name.indexOf(".") + 1),
    fs.readFileSync(`${REPOSITORY}test/golden/pictures/${name}`),
  ]),
);
const EXTENSIONS = Object.keys(PICTURES);

/** Writes four samples, each with a picture of each format. */
function writeTar(path: string, change = (bytes: Uint8Array) => bytes): void {
  const members = [0, 1, 2, 3].flatMap((i) =>
    EXTENSIONS.map((word) => {
      const data = Uint8Array.from(PICTURES[word]!);
      return { name: `00${i}.${word}`, data: i === 2 ? change(data) : data };
    })
  );
  fs.writeFileSync(path, tarBytes(members));
}

Deno.test("samples and batches of threads have images, as sharp decodes them", async () => {
  await withTempDir(async (dir) => {
    writeTar(`${dir}/t.tar`);
    using samples = await openSamples(`${dir}/t.tar`);
    const { __key__: _, ...sample } = await samples.get(1);
    assert.deepEqual(Object.keys(sample).sort(), [...EXTENSIONS].sort());
    for (const [word, image] of Object.entries(sample)) {
      const { data, height, width, channels } = image as Image;
      assert.deepEqual([height, width, channels], [24, 32, 3], word);
      const expected = await sharp(PICTURES[word]).removeAlpha().raw()
        .toBuffer();
      assert.deepEqual(data, Uint8Array.from(expected), word);
    }
    using dataset = await openDataset(`${dir}/t.tar`);
    await using loader = new DataLoader(dataset, {
      batchSize: 2,
      numWorkers: 2,
    });
    let batches = 0;
    for await (const batch of loader) {
      batches++;
      for (const word of EXTENSIONS) {
        const { data, shape } = (batch as Record<string, {
          readonly data: Uint8Array;
          readonly shape: readonly number[];
        }>)[word]!;
        assert.deepEqual(shape, [2, 24, 32, 3]);
        const one = (sample[word] as Image).data;
        assert.deepEqual(data.slice(one.length), one);
      }
    }
    assert.equal(batches, 2);
  });
});

Deno.test("check with values decodes them, and names those that are damaged", async () => {
  await withTempDir(async (dir) => {
    writeTar(`${dir}/t.tar`);
    const sound = await check(`${dir}/t.tar`, { values: true });
    assert.deepEqual(sound.damage, []);
    writeTar(`${dir}/t.tar`, (bytes) => bytes.subarray(0, bytes.length / 2));
    const damaged = await check(`${dir}/t.tar`, { values: true });
    assert.deepEqual(
      damaged.damage!.map(({ member }) => member).sort(),
      EXTENSIONS.map((word) => `002.${word}`).sort(),
    );
  });
});

Deno.test("conversions keep their bytes, also where the target only has types of JPEG and PNG", async () => {
  await withTempDir(async (dir) => {
    writeTar(`${dir}/t.tar`);
    for (
      const [name, target] of [
        ["mds", "mds"],
        ["bags", "bags"],
        ["p.parquet", "parquet"],
        ["w.tar", "tar"],
      ] as const
    ) {
      await convert(`${dir}/t.tar`, `${dir}/${name}`, { to: target });
      using samples = await openSamples(`${dir}/${name}`);
      const stored = Object.entries(await samples.read(3));
      for (const word of EXTENSIONS) {
        const found = stored.filter(([field]) => field.endsWith(word));
        const bytes = Uint8Array.from(PICTURES[word]!);
        assert.deepEqual(found.map(([, value]) => value), [bytes], name);
      }
    }
  });
});

/** A column like `Image` of Hugging Face's datasets for each format. */
const COLUMNS = `
import sys
import pyarrow as pa
import pyarrow.parquet as pq
out, *paths = sys.argv[1:]
kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
columns = {}
for path in paths:
    bytes = open(path, "rb").read()
    rows = [{"bytes": bytes, "path": f"{i}." + path.split(".")[-1]} for i in range(3)]
    columns[path.split(".")[-1]] = pa.array(rows, kind)
pq.write_table(pa.table(columns), out)
with pa.OSFile(out + ".arrow", "wb") as file:
    with pa.ipc.new_file(file, pa.table(columns).schema) as writer:
        writer.write(pa.table(columns))
`;

Deno.test({
  name:
    "columns of images in Parquet and Arrow are files of images, which check decodes",
  ...needs("pyarrow"),
  async fn() {
    await withTempDir(async (dir) => {
      const paths = EXTENSIONS.map((word) => `${dir}/a.${word}`);
      paths.forEach((path, i) =>
        fs.writeFileSync(path, PICTURES[EXTENSIONS[i]!]!)
      );
      const { success, stderr } = await new Deno.Command(PYTHON, {
        args: ["-c", COLUMNS, `${dir}/p.parquet`, ...paths],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      for (const name of ["p.parquet", "p.parquet.arrow"]) {
        using samples = await openSamples(`${dir}/${name}`);
        const isTyped = name === "p.parquet"; // Arrow has no statistics of paths
        const types = samples.fields!.map(({ type }) => type);
        assert.deepEqual(
          types.map(({ decoding, suffix }) => [decoding, suffix]),
          EXTENSIONS.map((word) =>
            isTyped ? ["image", `.${word}`] : ["bytes", ""]
          ),
        );
        const checked = await check(`${dir}/${name}`, { values: true });
        assert.deepEqual(checked.damage, []);
        assert.equal(checked.pictures, 3 * EXTENSIONS.length, name);
      }
    });
  },
});

Deno.test("GulpIO ingests them as JPEGs", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/images/cat`, { recursive: true });
    for (const word of EXTENSIONS) {
      fs.writeFileSync(`${dir}/images/cat/${word}.${word}`, PICTURES[word]!);
    }
    const outputFolder = `${dir}/gulp`;
    const adapter = new ImageFolderAdapter({
      folder: `${dir}/images`,
      outputFolder,
      fileExtensions: EXTENSIONS.map((word) => `.${word}`),
    });
    const { videos } = await new GulpIngestor(adapter, outputFolder, 9, 1)
      .run();
    assert.equal(videos, EXTENSIONS.length);
    using samples = await openSamples(outputFolder);
    for (let i = 0; i < videos; i++) {
      const { frames } = await samples.get(i);
      const [{ height, width }] = frames as [Image];
      assert.deepEqual([height, width], [24, 32]);
    }
  });
});
