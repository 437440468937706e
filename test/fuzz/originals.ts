/** The containers to mutate: those that the original Python libraries wrote, and files for every codec. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { writeMsgpack } from "../../src/codecs/msgpack/mod.ts";
import { writeNpy } from "../../src/codecs/numpy/mod.ts";
import { writePickle } from "../../src/codecs/pickle/write_pickle.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { type MadeMember, makeZip } from "../support/zip/make_zip.ts";
import { REPOSITORY } from "../support/paths.ts";

/** A container, or a folder of files, to mutate. */
export interface Original {
  /** Such as `gulp/v2_chunks`. */
  readonly name: string;
  /** Such as `gulp`. */
  readonly format: string;
  /** Path of the file or directory to open. */
  readonly target: string;
  /** Files by path: `target` itself, below it, or next to it. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Relative frequency; large containers, which take long, are less frequent. */
  readonly weight: number;
}

const GOLDEN = `${REPOSITORY}test/golden/`;

/** Size at which a container is half as frequent as an empty one, in bytes. */
const LARGE = 100_000;

const EXPECT = "expect.json";

/** Returns all originals. Their order determines the cases of a seed. */
export function readOriginals(): Original[] {
  const names = fs.readdirSync(GOLDEN, { recursive: true }) as string[];
  const golden = names.filter((name) => name.endsWith(`/${EXPECT}`)).sort()
    .map((name) => readGolden(name.slice(0, -EXPECT.length - 1)));
  return [
    ...golden,
    makeFolder(golden),
    makeLines(),
    makeOddZip(),
    ...makeShards(),
    ...makeCompressed(golden),
  ];
}

/** Returns the `expect.json` of a golden container, or `undefined` if it has none. */
export function expectationOf(original: Original): unknown {
  const path = `${GOLDEN}${original.name}/${EXPECT}`;
  return fs.existsSync(path)
    ? JSON.parse(fs.readFileSync(path, "utf8"))
    : undefined;
}

function readGolden(name: string): Original {
  const directory = `${GOLDEN}${name}`;
  const { target } = JSON.parse(
    fs.readFileSync(`${directory}/${EXPECT}`, "utf8"),
  ) as { target: string };
  const files = new Map<string, Uint8Array>();
  const all = fs.readdirSync(directory, { recursive: true }) as string[];
  for (const path of all.sort()) {
    if (path === EXPECT || !fs.statSync(`${directory}/${path}`).isFile()) {
      continue;
    }
    files.set(path, new Uint8Array(fs.readFileSync(`${directory}/${path}`)));
  }
  return original(name, target, files);
}

function original(
  name: string,
  target: string,
  files: ReadonlyMap<string, Uint8Array>,
): Original {
  const bytes = [...files.values()].reduce(
    (sum, { length }) => sum + length,
    0,
  );
  const weight = 1 / (1 + bytes / LARGE);
  return {
    name,
    format: name.split(/(?:_forms)?\//)[0]!,
    target,
    files,
    weight,
  };
}

/** Makes a folder with a file for every codec. */
function makeFolder(golden: readonly Original[]): Original {
  const bag = (name: string, key: string) =>
    golden.find((one) => one.name === name)!.files.get(`data/${key}.bag`)!;
  const types = bag("granular3/types", "jpg");
  const images = bag("granular3/types", "img");
  const text = (value: string) => new TextEncoder().encode(value);
  const value = {
    numbers: [1, -1, 2 ** 31, 2.5, null, true],
    text: "déjà vu",
    bytes: Uint8Array.of(1, 2, 3),
    nested: { list: [[], {}, [[1]]] },
  };
  const files: [string, Uint8Array][] = [
    ["f4.npy", writeNpy({ data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] })],
    ["i8.npy", writeNpy({ data: BigInt64Array.of(1n, -1n), shape: [2] })],
    [
      "bool.npy",
      writeNpy({ data: Uint8Array.of(1, 0, 1), shape: [3, 1], dtype: "|b1" }),
    ],
    ["value.msgpack", writeMsgpack(value)],
    ["value.pickle", writePickle({ ...value, bytes: "x".repeat(300) })],
    ["value.json", text(JSON.stringify({ ...value, bytes: 0 }))],
    ["image.jpg", types.subarray(0, firstEnd(types, [0xff, 0xd9]))],
    [
      "image.png",
      images.subarray(0, firstEnd(images, [0x49, 0x45, 0x4e, 0x44]) + 4),
    ],
    ...fs.readdirSync(`${GOLDEN}pictures`)
      .filter((name) => /\.(webp|avif|gif|tif)$/.test(name)).sort()
      .map((name): [string, Uint8Array] => [
        name,
        new Uint8Array(fs.readFileSync(`${GOLDEN}pictures/${name}`)),
      ]),
    ["text.txt", text("some text\n")],
    ["deep/er/empty", new Uint8Array(0)],
  ];
  return original(
    "folder/codecs",
    "folder",
    new Map(files.map(([name, bytes]) => [`folder/${name}`, bytes])),
  );
}

/** Makes input of `bag create`: JSON lines, and the types of their keys. */
function makeLines(): Original {
  const spec = {
    arr: "array",
    i: "int",
    list: "utf8[]",
    pack: "msgpack",
    sized: "array(float32,2)",
    text: "utf8",
    tree: "tree",
    raw: "bytes",
  };
  const array = { $array: { dtype: "<f4", shape: [2], values: [1, 2.5] } };
  const line = {
    arr: array,
    i: 7,
    list: ["a", "b"],
    pack: { a: [1, null, { $float: 1 }], b: { $bytes: "AAEC" } },
    sized: array,
    text: "déjà vu",
    tree: { x: array },
    raw: { $bytes: "AAEC" },
  };
  const text = `${JSON.stringify(line)}\n`.repeat(3);
  const files = { "spec.json": JSON.stringify(spec), "lines.jsonl": text };
  return original(
    "lines/types",
    "lines",
    new Map(
      Object.entries(files).map(([name, text]) => [
        `lines/${name}`,
        new TextEncoder().encode(text),
      ]),
    ),
  );
}

/** Makes a zip with members of each kind that is skipped, unreadable or rare. */
function makeOddZip(): Original {
  const wrong = { crc: 5 };
  const members: MadeMember[] = [
    { name: "d/sound.txt", data: "sound", method: 8 },
    { name: "link", data: "d/sound.txt", mode: 0o120777 },
    { name: "d/up", data: "../link", mode: 0o120777, method: 8 },
    { name: "out", data: "../../out", mode: 0o120777 },
    { name: "-", data: "standard input", mode: 0o010600 },
    { name: "dos", mode: 0, system: 0, attributes: 0x10 },
    { name: "../above", data: "1" },
    { name: "/slash", data: "2" },
    { name: "d/sound.txt/below", data: "3" },
    { name: "secret", data: "encrypted", flags: 1 },
    { name: "bzip2", data: "other method", method: 12 },
    { name: "sum", data: "damaged", central: wrong, local: wrong },
    { name: "spelt/so", data: "4", local: { name: "spelt\\so" } },
    { name: "renamed", data: "5", local: { name: "another" } },
    { name: "far", data: "6", central: { offset: 1 << 20 } },
    { name: "within", data: "7", central: { offset: 3 } },
  ];
  const bytes = new Uint8Array(makeZip(members));
  return original("zip/odd", "odd.zip", new Map([["odd.zip", bytes]]));
}

/** Makes WebDataset shards with no file or one, and samples whose files are not adjacent. */
function makeShards(): Original[] {
  const pairs = ["0.json", "0.txt", "1.json", "1.txt"];
  const scattered = ["./a/0.cls", "./a/1.txt", "._0.txt", "./a/0.txt"];
  const all: Record<string, readonly (readonly string[])[]> = {
    "first shard empty": [[], pairs, pairs],
    "last shard of one file": [pairs, scattered, ["2.txt"]],
    "no shard with files": [[], [".DS_Store"], []],
  };
  return Object.entries(all).map(([name, shards]) => {
    const files = shards.map((names, i) =>
      [
        `shards/${i}.tar`,
        tarBytes(names.map((name) => ({ name, data: "1" }))),
      ] as const
    );
    return original(`tar/${name}`, "shards", new Map(files));
  });
}

/** Compresses a single-file container as one stream, and as two frames. */
function makeCompressed(golden: readonly Original[]): Original[] {
  const bytesOf = (name: string) => {
    const { files, target } = golden.find((one) => one.name === name)!;
    return files.get(target)!;
  };
  const tar = bytesOf("tar/gnu_tar_pax");
  const half = tar.length >> 1;
  const parts = [tar.subarray(0, half), tar.subarray(half)];
  const all: Record<string, [target: string, bytes: Uint8Array]> = {
    "tar/gzip": ["t.tar.gz", gzipSync(tar)],
    "tar/zstd frames": [
      "t.tar.zst",
      Buffer.concat(parts.map((part) => zstdCompressSync(part))),
    ],
  };
  return Object.entries(all).map(([name, [target, bytes]]) =>
    original(name, target, new Map([[target, new Uint8Array(bytes)]]))
  );
}

/** Returns the end of the first occurrence of these bytes. */
function firstEnd(bytes: Uint8Array, what: readonly number[]): number {
  for (let i = 0; i + what.length <= bytes.length; i++) {
    if (what.every((byte, k) => bytes[i + k] === byte)) return i + what.length;
  }
  throw new Error("There is none");
}
