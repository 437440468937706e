/** Creates the files that shell blocks of the documents use. */
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import {
  GulpIngestor,
  ImageFolderAdapter,
} from "../../src/formats/gulp/mod.ts";
import { makeClip } from "../support/gulp/clips.ts";
import { JPEGS, writeImages } from "../support/gulp/gulp_content.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../support/ffrecord/make_ffr.ts";
import { TOY_FORMAT } from "../support/toy_format/write_toy.ts";
import { documentBlocks } from "./blocks.ts";

const text = (value: string) => new TextEncoder().encode(value);

/** A training program that reads any files. */
const TRAIN = `
import os, sys
for root, _, names in os.walk(sys.argv[sys.argv.index('--data') + 1]):
    for name in names:
        open(os.path.join(root, name), 'rb').read()
`;

/** Prints JSON lines of datapoints with {@linkcode SHARD_SPEC}. */
const DATAPOINTS = `
import json
for i in range(50):
    print(json.dumps({'caption': f'picture {i}', 'tags': {'even': i % 2 == 0}}))
`;

const SHARD_SPEC = { caption: "utf8", tags: "tree" };

/** Creates the files in a directory. */
export async function makePlace(place: string): Promise<void> {
  const put = (path: string, content: string | Uint8Array) => {
    fs.mkdirSync(`${place}/${path}`.replace(/[^/]*$/, ""), { recursive: true });
    fs.writeFileSync(`${place}/${path}`, content);
  };
  put("train.py", TRAIN);
  putFFRecord(put);
  putOwnFormat(put);
  await putBags(place, put);
  await putVideos(place, put);
}

type Put = (path: string, content: string | Uint8Array) => void;

function putFFRecord(put: Put): void {
  const pictures = (name: string): Folder =>
    Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `${name}_${String(i).padStart(2, "0")}.jpg`,
        JPEGS[i % JPEGS.length]!,
      ]),
    );
  put(
    "data.ffr",
    ffrBytes(packedSamples({
      train: {
        "0001.jpg": JPEGS[0]!,
        "0002.jpg": JPEGS[1]!,
        cat: pictures("cat"),
        dog: pictures("dog"),
        "labels.json": text('{"cat": 0, "dog": 1}\n'),
      },
    })),
  );
  const photos = { cat: pictures("cat"), dog: pictures("dog") };
  put("photos.ffr", ffrBytes(packedSamples(photos)));
  for (const [folder, files] of Object.entries(photos)) {
    for (const [name, bytes] of Object.entries(files)) {
      put(`photos/${folder}/${name}`, bytes as Uint8Array);
    }
  }
  put("photos/tmp/draft.jpg", JPEGS[0]!);
  put("photos/notes.txt", "no picture\n");
  put("samples.ffr", ffrBytes(JPEGS.slice(0, 3)));
  put("a.bin", "first\n");
  put("b.bin", "second\n");
  put("samples.py", `print('"aGVsbG8="'); print('{"text": "hello"}')\n`);
}

/** Creates the module of a user's own format, and the program that writes a container of it. */
function putOwnFormat(put: Put): void {
  put("my_format.ts", fs.readFileSync(TOY_FORMAT));
  put("write_toy.py", example("python"));
}

async function putBags(place: string, put: Put): Promise<void> {
  put("lines.jsonl", '{"text": "hi", "n": 1}\n');
  put("0.jpg", JPEGS[0]!);
  put("captions.jsonl", example("jsonl"));
  put("spec.json", JSON.stringify(SHARD_SPEC));
  put("datapoints.py", DATAPOINTS);
  const pixels = { "000042/pixels": npyValue() };
  writeDataset(
    `${place}/dataset/000000`,
    { caption: "utf8", pixels: "array" },
    Array.from({ length: 43 }, (_, i) => ({
      caption: text(`picture ${i}`),
      pixels: pixels["000042/pixels"],
    })),
    3,
  );
  for (const [name, generation] of [["data", 3], ["old", 1]] as const) {
    writeDataset(
      `${place}/${name}`,
      { image: generation === 1 ? "jpeg" : "jpg", text: "utf8" },
      JPEGS.map((image, i) => ({ image, text: text(`image ${i}`) })),
      generation,
    );
  }
  await Promise.resolve();
}

/** Returns a value of type `array` in MessagePack: `["<f4", [2], bytes]`. */
function npyValue(): Uint8Array {
  const bytes = new Uint8Array(Float32Array.of(0.5, 1.5).buffer);
  const type = text("<f4");
  return Uint8Array.of(
    ...[0x93, 0xa0 | type.length, ...type, 0x91, 2],
    ...[0xc4, bytes.length, ...bytes],
  );
}

async function putVideos(place: string, put: Put): Promise<void> {
  writeImages(`${place}/images`, ["cat", "dog"], 3);
  const outputFolder = `${place}/gulp`;
  const folder = `${place}/images`;
  const adapter = new ImageFolderAdapter({ folder, outputFolder });
  await new GulpIngestor(adapter, outputFolder, 100, 1).run();
  fs.cpSync(gulpCase("v2_bad_truncated_data").path, `${place}/damaged`, {
    recursive: true,
  });
  const list = [{ id: "100218", template: "Opening something" }];
  const more = [...list, { id: "24413", template: "Closing something" }];
  put("train.json.gz", gzipSync(JSON.stringify(list)));
  put("more.json", JSON.stringify(more));
  for (const { id } of more) {
    fs.mkdirSync(`${place}/videos/${id}`, { recursive: true });
    await makeClip(`${place}/videos/${id}/${id}.mp4`, { frames: 10 });
  }
  const clip = "clips/abseiling/abc_000001_000011.mp4";
  put(clip, "");
  await makeClip(`${place}/${clip}`, { frames: 10 });
  put("kinetics.json", JSON.stringify({ abc: { duration: 10.0 } }));
  // The adapter for a user's own dataset, whose clips are in one directory.
  put("mine.ts", example("ts", "export class MyAdapter"));
  fs.copyFileSync(`${place}/${clip}`, `${place}/clips/opening_1.mp4`);
}

/** Returns the only block of a language in the documents that contains these words. */
function example(info: string, words = ""): string {
  const [found, ...others] = documentBlocks()
    .filter((block) => block.info === info && block.text.includes(words));
  if (found === undefined || others.length > 0) {
    throw new Error(`there is not one block of ${info} with "${words}"`);
  }
  return `${found.text}\n`;
}
