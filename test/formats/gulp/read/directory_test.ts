import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  FormatError,
  IndexError,
  RecordfsError,
} from "../../../../src/base/errors.ts";
import {
  GulpChunk,
  GulpDirectory,
  type GulpSerializer,
  UnknownIdError,
} from "../../../../src/formats/gulp/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import { gulpCase } from "../../../support/gulp/gulp_golden.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

const MODULE = new URL("../../../../src/formats/gulp/mod.ts", import.meta.url);

const raw = { decode: false } as const;

Deno.test("a path that is not a directory of chunks is an error; an empty one has none", async () => {
  await withTempDir(async (dir) => {
    await assert.rejects(GulpDirectory.open(`${dir}/none`), RecordfsError);
    fs.writeFileSync(`${dir}/file`, "");
    await assert.rejects(GulpDirectory.open(`${dir}/file`), /a file, not/);
    fs.mkdirSync(`${dir}/empty`);
    using directory = await GulpDirectory.open(`${dir}/empty`);
    assert.deepEqual([directory.numChunks, directory.length], [0, 0]);
    assert.equal(await directory.labels(), undefined);
  });
});

Deno.test("ids are found as strings and as integers", async () => {
  const { path, content } = gulpCase("v2_integer_ids");
  using directory = await GulpDirectory.open(path, raw);
  const [{ id, frames_sha256: _, frames }] = content.videos as [
    typeof content.videos[0],
  ];
  for (const key of [id, Number(id), BigInt(id)]) {
    assert.equal(directory.has(key), true);
    const [first] = (await directory.get(key, [0])).frames;
    assert.equal(sha256(first!), frames[0]!.sha256);
  }
  assert.equal(directory.has("nobody"), false);
  await assert.rejects(
    directory.get("nobody"),
    (error) =>
      error instanceof UnknownIdError && error.id === "nobody" &&
      error.message.includes(path),
  );
  await assert.rejects(directory.get(id, [10 ** 6]), IndexError);
});

Deno.test("videos are numbered in the order of the files, with the number of their frames", async () => {
  const { path, content } = gulpCase("v2_chunks");
  using directory = await GulpDirectory.open(path, raw);
  content.videos.forEach(({ id, num_frames }, i) => {
    assert.equal(directory.idAt(i), id);
    assert.equal(directory.frameCount(id), num_frames);
  });
  for (const wrong of [-1, 0.5, NaN, content.videos.length]) {
    assert.throws(
      () => directory.idAt(wrong),
      (error) => error instanceof IndexError && Object.is(error.index, wrong),
    );
  }
  assert.throws(() => directory.frameCount("nobody"), UnknownIdError);
});

Deno.test("maps list ids in the order of the files, lazily", async () => {
  const { path, content } = gulpCase("v2_chunks");
  using directory = await GulpDirectory.open(path, raw);
  const ids = content.videos.map(({ id }) => id);
  const { mergedMetaDict: merged, chunkLookup } = directory;
  assert.equal(merged.size, ids.length);
  assert.deepEqual([...merged].map(([id]) => id), ids);
  assert.deepEqual([...merged.entries()].length, [...merged.values()].length);
  const visited: string[] = [];
  merged.forEach((meta, id) => {
    visited.push(id);
    const expected = content.videos[visited.length - 1]!;
    assert.deepEqual(meta.metaData, [expected.meta]);
  });
  assert.deepEqual(visited, ids);
  assert.equal(merged.get("nobody"), undefined);
  assert.deepEqual(
    [...chunkLookup],
    content.videos.map(({ id, chunk }) => [id, chunk]),
  );
  assert.deepEqual(
    directory.allMetaDicts.map((dict) => [...dict.keys()]),
    content.chunks.map(({ ids }) => ids),
  );
});

Deno.test("frames are decoded by a codec, to the requested colours, or by a function", async () => {
  const { path, content } = gulpCase("v2_gray_and_rgb");
  using any = await GulpDirectory.open(path);
  using gray = await GulpDirectory.open(path, { colorspace: "GRAY" });
  using rgb = await GulpDirectory.open(path, { colorspace: "RGB" });
  using sizes = await GulpDirectory.open(path, {
    decode: (jpeg) => jpeg.length,
  });
  for (const { id, frames: expected, meta } of content.videos) {
    const shapes = async (directory: GulpDirectory) =>
      (await directory.get(id)).frames.map((
        { data, height, width, channels },
      ) => [data.length, height, width, channels]);
    const wanted = (channels?: 1 | 3) =>
      expected.map((frame) => {
        const depth = channels ?? frame.channels;
        const { width, height } = frame;
        return [width * height * depth, height, width, depth];
      });
    assert.deepEqual(await shapes(any), wanted());
    assert.deepEqual(await shapes(gray), wanted(1));
    assert.deepEqual(await shapes(rgb), wanted(3));
    const video = sizes.getSync(id);
    assert.deepEqual(video.frames, expected.map(({ size }) => size));
    assert.deepEqual(video.meta, meta);
  }
  const [{ id }] = content.videos as [typeof content.videos[0]];
  assert.throws(() => any.getSync(id), /use the method without Sync/);
  using promising = await GulpDirectory.open(path, {
    decode: (jpeg) => Promise.resolve(jpeg.length),
  });
  assert.throws(() => promising.getSync(id), TypeError);
  const twice = { decode: false, colorspace: "RGB" } as const;
  await assert.rejects(GulpDirectory.open(path, twice as never), TypeError);
  for (const wrong of [{ colorspace: "BGR" }, { decode: "sharp" }]) {
    await assert.rejects(GulpDirectory.open(path, wrong as never), {
      name: "TypeError",
      message: new RegExp(Object.keys(wrong)[0]!),
    });
  }
});

Deno.test("raw frames need no codec, and only permission to read", async () => {
  const { path, content } = gulpCase("v2_one_frame");
  const program = `
    import { GulpDirectory } from "${MODULE}";
    using directory = await GulpDirectory.open(${
    JSON.stringify(path)
  }, { decode: false });
    for (const chunk of directory) for (const { frames } of chunk) console.log(frames[0].length);`;
  await withTempDir(async (dir) => {
    const file = `${dir}/program.ts`;
    fs.writeFileSync(file, program);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-read", file],
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assert.equal(
      text(stdout),
      `${content.videos[0]!.frames[0]!.size}\n`,
      text(stderr),
    );
  });
});

Deno.test("a chunk is iterated in order, filtered, or shuffled by a seed", async () => {
  await withTempDir(async (dir) => {
    const ids = Array.from({ length: 30 }, (_, i) => `v${i}`);
    writeChunk(
      dir,
      0,
      ids.map((id, i) => ({ id, frames: [fakeJpeg(10 + i)], meta: { id } })),
    );
    const files = [`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`] as const;
    using chunk = await GulpChunk.load(...files, raw);
    const order = async (options: Parameters<typeof chunk.iterAll>[0]) =>
      (await Array.fromAsync(chunk.iterAll(options)))
        .map(({ meta }) => meta.id);
    assert.deepEqual(await order({}), ids);
    assert.deepEqual([...chunk].map(({ meta }) => meta.id), ids);
    assert.deepEqual(
      (await Array.fromAsync(chunk as AsyncIterable<{ meta: unknown }>)).length,
      30,
    );
    assert.deepEqual(
      await order({ acceptedIds: ["v9", "nobody", "v2", "v9"] }),
      ["v2", "v9"],
    );
    const mixed = await order({ shuffle: true, seed: 1 });
    assert.notDeepEqual(mixed, ids);
    assert.deepEqual(mixed.toSorted(), ids.toSorted());
    assert.deepEqual(await order({ shuffle: true, seed: 1 }), mixed);
    assert.notDeepEqual(await order({ shuffle: true, seed: 2 }), mixed);
    assert.notDeepEqual(
      await order({ shuffle: true }),
      await order({ shuffle: true }),
    );
    const again = chunk.iterAllSync({ shuffle: true, seed: 1 });
    assert.deepEqual([...again].map(({ meta }) => meta.id), mixed);
    using _open = chunk.open("rb");
    await assert.rejects(chunk.open("w" as "wb"), TypeError);
  });
});

Deno.test("new chunks take the numbers after the highest, and have no videos yet", async () => {
  const { path, content } = gulpCase("v2_chunk_numbers");
  using directory = await GulpDirectory.open(path);
  const highest = Math.max(...content.chunks.map(({ id }) => id));
  const chunks = directory.newChunks(2);
  assert.deepEqual(
    chunks.map((
      { dataPath, metaPath, length },
    ) => [dataPath, metaPath, length]),
    [1, 2].map((i) => [
      `${path}/data_${highest + i}.gulp`,
      `${path}/meta_${highest + i}.gmeta`,
      0,
    ]),
  );
  assert.throws(() => chunks[0]!.open(), /no such file/);
  assert.throws(() => directory.newChunks(-1), RangeError);
});

Deno.test("overlapping frames take no more memory than the file", async () => {
  await withTempDir(async (dir) => {
    const size = 1 << 20;
    fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(size));
    const infos = Array.from({ length: 3000 }, (_, i) => [i, 0, size - i]);
    fs.writeFileSync(
      `${dir}/meta_0.gmeta`,
      JSON.stringify({ v: { frame_info: infos, meta_data: [{}] } }),
    );
    using directory = await GulpDirectory.open(dir, raw);
    const { frames } = await directory.get("v", { step: -1 });
    assert.equal(frames.length, 3000);
    assert.equal(frames[0]!.length, size - 2999);
    assert.equal(new Set(frames.map(({ buffer }) => buffer)).size, 1);
  });
});

Deno.test("a meta file that is replaced after opening is an error", async () => {
  await withTempDir(async (dir) => {
    const videos = [{ id: "v", frames: [fakeJpeg(8)], meta: { label: "a" } }];
    writeChunk(dir, 0, videos);
    using directory = await GulpDirectory.open(dir, raw);
    const text = fs.readFileSync(`${dir}/meta_0.gmeta`, "utf8");
    fs.writeFileSync(`${dir}/new`, text.replace('"a"', '"b"'));
    fs.renameSync(`${dir}/new`, `${dir}/meta_0.gmeta`);
    // The open descriptor refers to the old file; a new one would refer to the new file.
    const read = await directory.get("v").catch((error) => error);
    if (read instanceof Error) {
      assert.ok(read instanceof FormatError && read.code === "changed");
    } else assert.deepEqual(read.meta, { label: "a" });
  });
});

Deno.test("labels are read, and damaged ones rejected", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, []);
    const labels = async (text: string) => {
      fs.writeFileSync(`${dir}/label2idx.json`, text);
      using directory = await GulpDirectory.open(dir);
      const labels = await directory.labels();
      assert.deepEqual(directory.labelsSync(), labels);
      return [...labels!];
    };
    assert.deepEqual(await labels('{"b": 1, "__proto__": 0}'), [
      ["b", 1],
      ["__proto__", 0],
    ]);
    // In file order, in which `classes[idx]` are counted.
    assert.deepEqual(await labels('{"10": 0, "2": 1, "a": 2, "10": 3}'), [
      ["10", 3],
      ["2", 1],
      ["a", 2],
    ]);
    for (const text of ["", "{", "[]", "null", '{"a": "b"}', '{"a": 0.5}']) {
      await assert.rejects(
        labels(text),
        (error) => error instanceof FormatError && error.code === "bad-meta",
        text,
      );
    }
  });
});

Deno.test("meta files are read by a custom serializer", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{
      id: "ignored",
      frames: [fakeJpeg(8), fakeJpeg(12)],
    }]);
    const lines: GulpSerializer = {
      load: (bytes) =>
        new TextDecoder().decode(bytes).trim().split("\n").map((line) => {
          const [id, ...numbers] = line.split(" ") as [string, ...string[]];
          const [loc, pad, length] = numbers.map(Number) as [
            number,
            number,
            number,
          ];
          return [id, {
            frameInfo: [[loc, pad, length] as const],
            metaData: [{ id, big: 2n ** 70n, none: NaN }, "more"],
          }] as const;
        }),
      dump: () => new Uint8Array(0),
    };
    fs.writeFileSync(`${dir}/meta_0.gmeta`, "a 8 0 12\nb 0 0 8\nbad 0 x 8\n");
    const options = { ...raw, serializer: lines };
    using directory = await GulpDirectory.open(dir, options);
    const { frames, meta } = await directory.get("a");
    assert.deepEqual(frames, [fakeJpeg(12)]);
    assert.deepEqual(meta, { id: "a", big: 2n ** 70n, none: NaN });
    const stored = directory.mergedMetaDict.get("b")!;
    assert.deepEqual([...stored.frameInfo], [[0, 0, 8]]);
    assert.deepEqual(stored.metaData[1], "more");
    await assert.rejects(directory.get("bad"), /three integers/);
    const failing: GulpSerializer = {
      ...lines,
      load() {
        throw new Error("not my file");
      },
    };
    await assert.rejects(
      GulpDirectory.open(dir, { serializer: failing }),
      (error) =>
        error instanceof FormatError && /not my file/.test(error.message),
    );
    await assert.rejects(
      GulpDirectory.open(dir, { serializer: "json" }),
      /is not JSON/,
    );
  });
});
