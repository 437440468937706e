/** Makes the files that examples in the help use. */
import { DatasetWriter } from "../../src/formats/bags/mod.ts";
import { dump, packFolder } from "../../src/formats/ffrecord/mod.ts";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import { testImage } from "./images.ts";
import { writeChunk } from "./gulp/make_gulp.ts";

/** Writes `data.ffr`, `captions` and the other files into a directory. */
export async function writeExampleFiles(dir: string): Promise<void> {
  const codec = await imageCodec();
  const jpeg = await codec.encode(testImage(16, 12));
  const write = async (path: string, content: Uint8Array | string) => {
    const file = `${dir}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    await Deno.writeFile(file, bytes);
  };
  for (const path of ["train/0001.jpg", "train/0002.jpg", "val/0003.jpg"]) {
    await write(`data/${path}`, jpeg);
    await write(`photos/${path}`, jpeg);
    await write(`images/${path}`, jpeg);
    await write(`frames/${path}`, jpeg);
  }
  await write("data/train/labels.json", '{"cat": 0}');
  await packFolder(`${dir}/data`, `${dir}/data.ffr`);
  const samples = { length: 2, at: () => jpeg };
  await dump(samples, `${dir}/samples.ffr`, 1);
  await dump(samples, `${dir}/parts`, 2);
  await write("subset.txt", "0\n2\n");
  await write("a.bin", "a");
  await write("b.bin", "b");
  await write("samples.jsonl", '"aGVsbG8="\n{"text": "hello"}\n');
  await write("lines.jsonl", '{"text": "a cat"}\n{"text": "a dog"}\n');
  await write("names.csv", "train/0001.jpg,cat\nval/0003.jpg,dog\n");
  await write("images.csv", "images/train/0001.jpg,cat\n");
  await write("train.csv", "train;cat\n");
  await write("more.csv", "val;dog\n");
  await write("folders/spec.json", '{"text": "utf8"}');
  await write("folders/000000/text", "a cat");
  writeChunk(`${dir}/gulp`, 0, [{ id: "first", frames: [jpeg, jpeg] }]);
  const captions = await DatasetWriter.open(`${dir}/captions`, {
    text: "utf8",
  });
  await captions.write({ text: "a cat" });
  await captions.write({ text: "a dog" });
  await captions.close();
}
