/**
 * Content that is often found instead of a container is named: Git LFS pointers, web pages and error responses,
 * compressed files.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { FormatError } from "../../src/base/errors.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { check, open } from "../../src/open/open.ts";
import { REPOSITORY } from "../support/paths.ts";

const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" +
  "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n";

/** A file name of each format. */
const NAMES = [
  "x.ffr",
  "x.bag",
  "x.tar",
  "x.zip",
  "x.tfrecord",
  "x.parquet",
  "x-00000-of-00001",
  "x.mds",
  "x",
];

const encoder = new TextEncoder();

/** Asserts that opening and checking report this, and name the file. */
async function assertNamed(
  location: string,
  storage: MemoryStorage,
  path: string,
  words: RegExp,
): Promise<void> {
  const isNamed = (error: unknown) => {
    assert.ok(error instanceof FormatError, `${error}`);
    assert.equal(error.path, path);
    assert.match(error.message, words);
    return true;
  };
  await assert.rejects(open(location, { storage }), isNamed);
  const damages: FormatError[] = [];
  const onDamage = (damage: FormatError) => damages.push(damage);
  try {
    await check(location, { storage, onDamage });
  } catch (error) {
    damages.push(error as FormatError);
  }
  assert.ok(damages.length > 0);
  isNamed(damages[0]);
}

Deno.test("names pointers of Git LFS under every suffix", async () => {
  for (const name of NAMES) {
    const storage = new MemoryStorage({ [name]: encoder.encode(POINTER) });
    await assertNamed(
      name,
      storage,
      name,
      /pointer of Git LFS.*`git lfs pull`/,
    );
  }
});

/** Directories in which one file is replaced by a pointer. */
const DIRECTORIES: [golden: string, file: string][] = [
  ["gulp/v2_one_frame/gulp", "data_0.gulp"],
  ["gulp/v2_one_frame/gulp", "meta_0.gmeta"],
  ["mds/plain/data", "shard.00001.mds"],
  ["mds/plain/data", "index.json"],
  ["mds/zstd/data", "shard.00000.mds.zstd"],
  ["granular3/types/data", "num.bag"],
  ["granular3/types/data", "num.idx"],
  ["granular3/types/data", "spec.json"],
  ["tar/shards/data", "train-000001.tar"],
];

Deno.test("names a pointer of Git LFS among the files of a container", async () => {
  for (const [golden, file] of DIRECTORIES) {
    const files: Record<string, Uint8Array> = {};
    const directory = `${REPOSITORY}test/golden/${golden}`;
    for (const name of fs.readdirSync(directory)) {
      files[`d/${name}`] = new Uint8Array(
        fs.readFileSync(`${directory}/${name}`),
      );
    }
    assert.ok(`d/${file}` in files, file);
    files[`d/${file}`] = encoder.encode(POINTER);
    await assertNamed("d", new MemoryStorage(files), `d/${file}`, /Git LFS/);
  }
});

/** Responses of servers, and files converted by other programs. */
const OTHERS: [content: Uint8Array, words: RegExp][] = [
  [
    encoder.encode("<!DOCTYPE html>\n<html><body>Sign in</body></html>"),
    /an HTML page/,
  ],
  [encoder.encode("\n  <HTML><head></head></HTML>"), /an HTML page/],
  [
    encoder.encode(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    ),
    /an error of a store \(AccessDenied\)/,
  ],
  [encoder.encode('{"error": "Repository not found"}'), /an error in JSON/],
  [new Uint8Array(gzipSync("content")).subarray(0, 20), /gzip/i],
  [Uint8Array.of(0x42, 0x5a, 0x68, 0x39, 1, 2, 3), /bzip2/],
  [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3), /zstd/],
  [Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1), /\bxz\b/],
  [Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 1, 2, 3), /lz4/],
  [Uint8Array.of(0x89, 0x4c, 0x5a, 0x4f, 0, 0x0d, 0x0a, 0x1a, 0x0a, 1), /lzo/],
];

Deno.test("names pages, errors and compressed files under every suffix", async () => {
  for (const name of NAMES) {
    for (const [content, words] of OTHERS) {
      await assertNamed(
        name,
        new MemoryStorage({ [name]: content }),
        name,
        words,
      );
    }
  }
});

Deno.test("reads a valid container whose first record is a compressed file or a page", async () => {
  for (const [content] of OTHERS) {
    // A bag starts with its records; in generation 2, the end offset of its only record follows it.
    const bag = new Uint8Array(content.length + 8);
    bag.set(content);
    new DataView(bag.buffer).setBigUint64(
      content.length,
      BigInt(content.length),
      true,
    );
    using container = await open("x.bag", {
      storage: new MemoryStorage({ "x.bag": bag }),
    });
    assert.deepEqual(await container.read(container.listSync("")), [content]);
    using compressed = await open("x.bag.gz", {
      storage: new MemoryStorage({ "x.bag.gz": gzipSync(bag) }),
    });
    assert.deepEqual(await compressed.read(compressed.listSync("")), [content]);
  }
});
