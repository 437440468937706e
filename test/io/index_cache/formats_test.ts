/** Every format whose index is cached is opened by an index file, and gives out the same as without it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../src/io/storage/storage.ts";
import { open } from "../../../src/open/open.ts";
import { writeIndex } from "../../../src/open/write_index.ts";
import { pythonMakes } from "../../support/compress.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  imageRecord,
  recordioBytes,
} from "../../support/recordio/make_recordio.ts";
import { fileOf } from "../../support/tfrecord/make_tfrecord.ts";
import { makeZip } from "../../support/zip/make_zip.ts";

/** Entries of so many bytes: more than 8 MiB, from which on an index is looked for. */
const COUNT = 100;
const EACH = 100_000;

const contents = Array.from(
  { length: COUNT },
  (_, i) => new Uint8Array(EACH + i).fill(i),
);

interface Case {
  readonly name: string;
  readonly needs: readonly string[];
  make(): Uint8Array | Promise<Uint8Array>;
  /** Name of an entry in the middle, whose content lies at the middle of the file. */
  readonly middle: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "x.zip",
    needs: [],
    make: () =>
      makeZip(contents.map((data, i) => ({ name: `${i}.bin`, data }))),
    middle: /^(49|50)\.bin$/,
  },
  {
    name: "x.tfrecord",
    needs: [],
    make: () => fileOf(contents),
    middle: /(49|50)$/,
  },
  {
    name: "x.rec",
    needs: [],
    make: () =>
      recordioBytes(contents.map((data, i) => imageRecord(i, i, data))),
    middle: /(49|50)\/image/,
  },
  {
    name: "x.arrow",
    needs: ["pyarrow"],
    make: () =>
      pythonMakes(
        new Uint8Array(0),
        `
import io, pyarrow as pa
sink = io.BytesIO()
schema = pa.schema([("a", pa.binary())])
with pa.ipc.new_stream(sink, schema) as w:
    for i in range(${COUNT}):
        w.write_batch(pa.record_batch([pa.array([bytes([i]) * (${EACH} + i)], pa.binary())], schema=schema))
out = sink.getvalue()`,
      ),
    middle: /(49|50)\/a/,
  },
  {
    name: "data.mdb",
    needs: ["lmdb"],
    make: () =>
      pythonMakes(
        new Uint8Array(0),
        `
import lmdb, tempfile
with tempfile.TemporaryDirectory() as d:
    env = lmdb.open(d, map_size=1 << 28)
    with env.begin(write=True) as txn:
        for i in range(${COUNT}):
            txn.put(b"%03d" % i, bytes([i]) * (${EACH} + i))
    env.close()
    out = open(d + "/data.mdb", "rb").read()`,
      ),
    middle: /0(49|50)$/,
  },
];

/** Files that are waited for, and how many bytes of them were read. */
class CountedStorage implements Storage {
  readonly #inner: MemoryStorage;
  readonly read = new Map<string, number>();
  readonly list: Storage["list"];
  readonly stat: Storage["stat"];

  constructor(files: Readonly<Record<string, Uint8Array>>) {
    const blobs = Object.entries(files).map(([name, bytes]) => [
      name,
      new Blob([bytes as Uint8Array<ArrayBuffer>]),
    ]);
    this.#inner = new MemoryStorage(Object.fromEntries(blobs));
    this.list = (path) => this.#inner.list(path);
    this.stat = (path) => this.#inner.stat(path);
  }

  *open(path: string) {
    const source = yield* this.#inner.open(path);
    const { read } = this;
    const counted: ByteSource = {
      name: source.name,
      size: source.size,
      mtime: source.mtime,
      async readAt(into, offset, options) {
        const got = await source.readAt(into, offset, options);
        read.set(path, (read.get(path) ?? 0) + got);
        return got;
      },
      close: () => source.close(),
    };
    return counted;
  }
}

/** Reads all files; what is refused is its code. */
async function readAll(
  name: string,
  storage: Storage,
  which = /./,
): Promise<Map<string, Uint8Array | string>> {
  const found = new Map<string, Uint8Array | string>();
  using container = await open(name, { storage, onWarning() {} });
  for await (const { path, isFile } of container.walk("")) {
    if (!isFile || !which.test(path)) continue;
    try {
      found.set(path, await container.read(path));
    } catch (error) {
      assert.ok(error instanceof RecordfsError, String(error));
      found.set(path, error.code);
    }
  }
  return found;
}

for (const { name, needs: wanted, make, middle } of CASES) {
  Deno.test({
    name: `${name} is opened by an index file, and read as without`,
    ...needs(...wanted),
    fn: () =>
      withTempDir(async (dir) => {
        const bytes = await make();
        const output = `${dir}/index`;
        const storage = new MemoryStorage({ [name]: bytes });
        const [written] = await writeIndex(name, { storage, output });
        assert.ok(written!.entries! >= COUNT);
        const index = new Uint8Array(fs.readFileSync(output));
        const files = { [name]: bytes, [`${name}.recordfs-index`]: index };
        const warnings: string[] = [];
        const far = new CountedStorage(files);
        const onWarning = (message: string) => warnings.push(message);
        (await open(name, { storage: far, onWarning })).close();
        assert.deepEqual(warnings, []);
        assert.ok(far.read.get(`${name}.recordfs-index`)! > 0);
        const read = far.read.get(name)!;
        assert.ok(read < bytes.length / 4, `${read} of ${bytes.length}`);
        const right = await readAll(name, storage);
        assert.deepEqual(await readAll(name, new CountedStorage(files)), right);

        // Another state of that size: what is in the middle moved by a few bytes.
        const other = Buffer.from(bytes);
        const from = Math.floor(bytes.length * 0.45);
        other.copyWithin(from + 4, from, Math.floor(bytes.length * 0.55));
        const moved = { ...files, [name]: new Uint8Array(other) };
        const found = await readAll(name, new CountedStorage(moved), middle);
        assert.ok(found.size > 0);
        for (const [path, value] of found) {
          const alone = new MemoryStorage({ [name]: moved[name]! });
          const scanned = await readAll(name, alone, middle).catch(() =>
            undefined
          );
          const isRefused = typeof value === "string";
          const isSame = isRefused ||
            Buffer.from(value).equals(
              Buffer.from(scanned?.get(path) as Uint8Array),
            );
          assert.ok(isSame, path);
        }
      }),
  });
}
