/** The same samples in every format that has fields, written by the format's own writer. */
import { writeNpy } from "../../src/codecs/numpy/mod.ts";
import { DatasetWriter, encodersOf } from "../../src/formats/bags/mod.ts";
import { MDSWriter } from "../../src/formats/mds/mod.ts";
import { TarWriter } from "../../src/formats/tar/mod.ts";
import { JPEGS } from "./gulp/gulp_content.ts";

export const [jpegA, jpegB] = JPEGS as [Uint8Array, Uint8Array];
/** Encodes text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** The samples in JavaScript. */
export const SAMPLES = [0, 1, 2].map((i) => ({
  count: 2 ** 40 * i - 1,
  score: i + 0.25,
  whole: i,
  name: `name ${i} ä`,
  blob: Uint8Array.of(i, 0, 255),
  image: i === 1 ? jpegB : jpegA,
  box: { dtype: "<f4", shape: [3], data: Float32Array.of(i, 1.5, -2) },
  meta: { a: [1, 2.5, "x"], b: null },
}));

/** Names of the samples' fields. */
export const FIELDS = Object.keys(SAMPLES[0]!);

/** Functions that write the samples in each format. */
export const SOURCES: Record<string, (path: string) => Promise<void>> = {
  async mds(path) {
    const columns = {
      ...{ count: "int", score: "float64", whole: "float64", name: "str" },
      ...{ blob: "bytes", image: "jpeg", box: "ndarray", meta: "json" },
    };
    await using writer = await MDSWriter.open(path, { columns });
    for (const sample of SAMPLES) await writer.write(sample);
    await writer.close();
  },
  async bags(path) {
    const spec = {
      ...{ count: "int", score: "msgpack", whole: "msgpack", name: "utf8" },
      ...{ blob: "bytes", image: "jpg", box: "array", meta: "msgpack" },
    };
    const encoders = { ...encodersOf(3), jpg: (jpeg: never) => jpeg };
    await using writer = await DatasetWriter.open(path, spec, { encoders });
    for (const sample of SAMPLES) await writer.write(sample);
    await writer.close();
  },
  async tar(path) {
    await using writer = await TarWriter.open(path);
    for (const [i, sample] of SAMPLES.entries()) {
      await writer.write(`${i}.count.cls`, utf8(`${sample.count}`));
      await writer.write(`${i}.score.json`, utf8(`${sample.score}`));
      await writer.write(`${i}.whole.json`, utf8(`${sample.whole}.0`));
      await writer.write(`${i}.name.txt`, utf8(sample.name));
      await writer.write(`${i}.blob`, sample.blob);
      await writer.write(`${i}.image.jpg`, sample.image);
      await writer.write(`${i}.box.npy`, writeNpy(sample.box));
      await writer.write(`${i}.meta.json`, utf8(JSON.stringify(sample.meta)));
    }
    await writer.close();
  },
};
