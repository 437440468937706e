/**
 * Videos and chunks of every golden case in storages other than the disk; the contract suite covers trees and checks.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import {
  type FrameSelection,
  GulpChunk,
  GulpDirectory,
  type Video,
} from "../../../src/formats/gulp/mod.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { LOCAL_DISK, type Storage } from "../../../src/io/storage/storage.ts";
import { sha256 } from "../../support/golden.ts";
import { gulpCase, gulpCases } from "../../support/gulp/gulp_golden.ts";
import { slowStorage } from "../../support/slow_storage.ts";

/** Path of files outside the disk, which does not exist on disk. */
const FAR = "far/away/gulp";

const SELECTIONS: (FrameSelection | undefined)[] = [
  undefined,
  [0],
  [-1, 0, 0],
  { start: 1, step: 2 },
  { step: -1 },
];

/** Returns a directory's files in memory, under {@linkcode FAR}. */
function inMemory(directory: string): MemoryStorage {
  const files = fs.readdirSync(directory).map((name) => [
    `${FAR}/${name}`,
    new Uint8Array(fs.readFileSync(`${directory}/${name}`)),
  ]);
  return new MemoryStorage(Object.fromEntries(files));
}

/** Returns the result of a read, or a description of its error. */
async function outcome<T>(read: () => Promise<T> | T): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    const { code, message, path, offset, expected, actual, sample } = error;
    return { code, message, path, offset, expected, actual, sample };
  }
}

function digest({ frames, meta }: Video<Uint8Array>): unknown {
  return { meta, frames: frames.map(sha256) };
}

/** Reads everything in a directory. */
function contentOf(path: string, storage: Storage): Promise<unknown> {
  return outcome(async () => {
    using directory = await GulpDirectory.open(path, {
      decode: false,
      storage,
    });
    const ids = [...directory.mergedMetaDict.keys()];
    const videos = await Promise.all(
      ids.flatMap((id) =>
        SELECTIONS.map((selection) =>
          outcome(async () => digest(await directory.getRaw(id, selection)))
        )
      ),
    );
    const chunks = await Promise.all(
      [...directory].map(async ({ dataPath, metaPath }) => {
        const options = { decode: false, storage } as const;
        using chunk = await GulpChunk.load(dataPath, metaPath, options);
        const all = await outcome(() =>
          Array.fromAsync(chunk.iterAll({ shuffle: true, seed: 3 }), digest)
        );
        return { dataPath, metaPath, ids: [...chunk.metaDict.keys()], all };
      }),
    );
    const metas = await Promise.all(
      ids.map((id) =>
        outcome(() => directory.mergedMetaDict.get(id)!.metaData)
      ),
    );
    const labels = await outcome(() => directory.labels());
    return { path: directory.path, ids, videos, chunks, metas, labels };
  });
}

/** Replaces one path by another in a value. */
function moved(value: unknown, from: string, to: string): unknown {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => moved(item, from, to));
  if (value instanceof Map) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, moved(item, from, to)]),
  );
}

for (const [number, { name, path, title }] of gulpCases().entries()) {
  Deno.test(`gulp/${name}, from storages other than the disk: ${title}`, async () => {
    const memory = inMemory(path);
    const slow = slowStorage(number, memory);
    const expected = moved(await contentOf(path, LOCAL_DISK), path, FAR);
    assert.deepEqual(await contentOf(FAR, memory), expected, "from memory");
    assert.deepEqual(await contentOf(FAR, slow), expected, "from far away");
  });
}

/** Asserts that a synchronous call is rejected. */
function assertMustWait(call: () => unknown): void {
  assert.throws(call, { name: "RecordfsError", code: "must-wait" });
}

Deno.test("synchronous methods read from memory and reject slow storages", async () => {
  const { path } = gulpCase("v2_image_list");
  const memory = inMemory(path);
  const storage = slowStorage(1, memory);
  const raw = { decode: false } as const;
  assertMustWait(() => GulpDirectory.openSync(FAR, { ...raw, storage }));
  assertMustWait(() =>
    GulpChunk.loadSync(`${FAR}/data_0.gulp`, `${FAR}/meta_0.gmeta`, {
      ...raw,
      storage,
    })
  );

  using near = GulpDirectory.openSync(FAR, { ...raw, storage: memory });
  using far = await GulpDirectory.open(FAR, { ...raw, storage });
  const id = near.idAt(0);
  const video = near.getSync(id);
  assert.deepEqual(await far.get(id), video);
  assert.deepEqual(await far.labels(), near.labelsSync());
  assertMustWait(() => far.getSync(id));
  assertMustWait(() => far.labelsSync());
  const [chunk] = far;
  assertMustWait(() => [...chunk!.iterAllSync()]);
  // The content of the meta file is in memory once it has been read.
  assert.deepEqual(far.mergedMetaDict.get(id)!.metaData[0], video.meta);

  for (const directory of [near, far]) {
    assert.throws(() => directory.unsafeView(id), { code: "unsupported" });
    const [added] = directory.newChunks(1);
    for (const chunk of [added!, [...directory][0]!]) {
      await assert.rejects(chunk.open("ab"), {
        name: "WriteError",
        message: /local disk only/,
      });
    }
  }
});

Deno.test("an abort ends waiting for a slow storage", async () => {
  const storage = slowStorage(2, inMemory(gulpCase("v2_chunks").path));
  using directory = await GulpDirectory.open(FAR, { decode: false, storage });
  const controller = new AbortController();
  const { signal } = controller;
  const read = directory.getRaw(directory.idAt(0), undefined, { signal });
  const opened = GulpDirectory.open(FAR, { storage, signal });
  const both = [read, opened].map((one) => assert.rejects(one, /enough/));
  controller.abort(new Error("enough"));
  await Promise.all(both);
});

Deno.test("code for reading uses no function of the local file system", () => {
  const root = new URL("../../../src/formats/gulp/", import.meta.url);
  const folders = ["meta", "read", "tree"];
  const files = folders.flatMap((folder) =>
    fs.readdirSync(new URL(folder, root)).map((name) => `${folder}/${name}`)
  );
  for (
    const file of [
      ...files,
      "format.ts",
      "check/check.ts",
      "check/check_chunk.ts",
    ]
  ) {
    const text = fs.readFileSync(new URL(file, root), "utf8");
    const code = text.replaceAll(/^ *(\/\*)?\*.*$/gm, "");
    assert.doesNotMatch(
      code,
      /file_source\.ts|read_directory\.ts|node:fs|Deno\./,
      file,
    );
  }
});
