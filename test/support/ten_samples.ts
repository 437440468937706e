/** Containers of several formats with ten samples each, whose texts contain their indices. */
import assert from "node:assert/strict";
import { open } from "../../src/open/open.ts";
import { writeBag, writeDataset } from "./bags/make_bag.ts";
import { ffrBytes, packedSamples } from "./ffrecord/make_ffr.ts";
import { entryOf, sampleOf, shardOf } from "./mds/make_mds.ts";
import { tarBytes } from "./tar/make_tar.ts";

const TEXTS: readonly string[] = Array.from(
  { length: 10 },
  (_, i) => `text ${i}`,
);
const BYTES = TEXTS.map((text) => new TextEncoder().encode(text));

/** Functions that write a container of each kind to a path. */
export const CONTAINERS: Readonly<Record<string, (at: string) => void>> = {
  "samples.ffr": (at) => Deno.writeFileSync(at, ffrBytes(BYTES)),
  "packed.ffr": (at) => {
    const files = (from: number, to: number) =>
      Object.fromEntries(
        BYTES.slice(from, to).map((bytes, i) => [`${from + i}.txt`, bytes]),
      );
    const folder = { a: files(0, 4), b: { c: files(4, 10) } };
    Deno.writeFileSync(at, ffrBytes(packedSamples(folder)));
  },
  "records.bag": (at) => writeBag(at, BYTES, 2),
  "points": (at) =>
    writeDataset(at, { t: "utf8" }, BYTES.map((t) => ({ t })), 3),
  "shards": (at) => {
    const write = (name: string, part: readonly Uint8Array[]) =>
      writeDataset(`${at}/${name}`, { t: "utf8" }, part.map((t) => ({ t })), 2);
    write("000000", BYTES.slice(0, 4));
    write("000001", BYTES.slice(4));
  },
  "web.tar": (at) => {
    const members = TEXTS.flatMap((text, i) => [
      { name: `d/s${i}.txt`, data: text },
      { name: `d/s${i}.cls`, data: String(i % 2) },
    ]);
    Deno.writeFileSync(at, tarBytes(members));
  },
  "columns": (at) => {
    Deno.mkdirSync(at);
    const shards = [[0, 4], [4, 10]].map(([from, to], n) => {
      const samples = TEXTS.slice(from, to)
        .map((text, i) => sampleOf(from! + i, text));
      const name = `shard.0000${n}.mds`;
      const bytes = shardOf(samples);
      Deno.writeFileSync(`${at}/${name}`, bytes);
      return entryOf(name, bytes.length, samples.length);
    });
    const index = JSON.stringify({ shards, version: 2 });
    Deno.writeTextFileSync(`${at}/index.json`, index);
  },
};

/** Returns the indices in the texts of a container, or of a directory, in the order of its files. */
export async function numbersIn(path: string): Promise<number[]> {
  const numbers: number[] = [];
  const add = (content: Uint8Array) => {
    const [, number] = /^text (\d+)$/.exec(new TextDecoder().decode(content)) ??
      [];
    if (number !== undefined) numbers.push(Number(number));
  };
  if (path.endsWith("/")) {
    const walk = async (directory: string) => {
      const entries = await Array.fromAsync(Deno.readDir(directory));
      for (const { name, isDirectory } of entries.sort(byName)) {
        if (isDirectory) await walk(`${directory}/${name}`);
        else add(await Deno.readFile(`${directory}/${name}`));
      }
    };
    await walk(path);
    return numbers;
  }
  using fs = await open(path);
  for await (const entry of fs.walk()) {
    if (entry.isFile) add(await fs.read(entry));
  }
  return numbers;
}

function byName(a: Deno.DirEntry, b: Deno.DirEntry): number {
  return a.name < b.name ? -1 : 1;
}

/** Reads an index file that split has written, which must have some of the ten samples, but not all. */
export function indicesIn(file: string): number[] {
  const lines = Deno.readTextFileSync(file).trimEnd().split("\n");
  const indices = lines.filter((line) => !line.startsWith("#")).map(Number);
  assert.ok(indices.length > 0 && indices.length < 10);
  return indices;
}
