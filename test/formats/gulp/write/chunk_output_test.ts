import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { GulpChunk, type JsonValue } from "../../../../src/formats/gulp/mod.ts";
import type { SerializerChoice } from "../../../../src/formats/gulp/meta/serializer.ts";
import { chunkIn } from "../../../support/gulp/gulp_chunks.ts";
import { fakeJpeg } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

Deno.test("frames are padded to four bytes, and ids are strings in order of arrival", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    {
      await using _ = await chunk.open("wb");
      await chunk.append(10, { a: 1 }, [5, 6, 7, 8].map((n) => fakeJpeg(n)));
      await chunk.append(2n, { b: [] }, []);
      await chunk.append("é\ud800", { "ü": 'q"' }, [fakeJpeg(4)]);
      await chunk.flush();
    }
    const zeros = (count: number) => new Uint8Array(count);
    assert.deepEqual(
      new Uint8Array(fs.readFileSync(chunk.dataPath)),
      new Uint8Array(Buffer.concat([
        ...[fakeJpeg(5), zeros(3), fakeJpeg(6), zeros(2), fakeJpeg(7)],
        ...[zeros(1), fakeJpeg(8), fakeJpeg(4)],
      ])),
    );
    assert.equal(
      fs.readFileSync(chunk.metaPath, "utf8"),
      '{"10": {"frame_info": [[0, 3, 8], [8, 2, 8], [16, 1, 8], [24, 0, 8]], ' +
        '"meta_data": [{"a": 1}]}, ' +
        '"2": {"frame_info": [], "meta_data": [{"b": []}]}, ' +
        '"\\u00e9\\ud800": {"frame_info": [[32, 0, 4]], ' +
        '"meta_data": [{"\\u00fc": "q\\""}]}}',
    );
    assert.ok(chunk.has(2) && chunk.has("é\ud800"));
  });
});

Deno.test("appending to a chunk extends an id, and preserves the existing text", async () => {
  await withTempDir(async (dir) => {
    const before =
      '{ "x" : {"meta_data":[{"f": 1.0,"big":12345678901234567890}],' +
      '"frame_info":[[0,0,8]]}}';
    fs.writeFileSync(`${dir}/data_0.gulp`, fakeJpeg(8));
    fs.writeFileSync(`${dir}/meta_0.gmeta`, before);
    using chunk = await chunkIn(dir);
    {
      await using _ = await chunk.open("ab");
      await chunk.append("y", {}, [fakeJpeg(12)]);
      await chunk.append("x", { again: true }, [fakeJpeg(4)]);
      await chunk.flush();
    }
    assert.equal(
      fs.readFileSync(chunk.metaPath, "utf8"),
      '{ "x" : {"meta_data":[{"f": 1.0,"big":12345678901234567890}, ' +
        '{"again": true}],"frame_info":[[0,0,8], [20, 0, 4]]}, ' +
        '"y": {"frame_info": [[8, 0, 12]], "meta_data": [{}]}}',
    );
    const { frames, meta } = await chunk.readRaw("x");
    assert.deepEqual(frames, [fakeJpeg(8), fakeJpeg(4)]);
    assert.deepEqual(meta, { f: 1, big: 12345678901234567890n });
  });
});

Deno.test("unflushed videos are dropped, and a chunk can be flushed several times", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    {
      await using _ = await chunk.open("wb");
      await chunk.append("a", {}, [fakeJpeg(3_000_000)]);
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    {
      await using _ = await chunk.open("wb");
      await chunk.append("a", {}, [fakeJpeg(8)]);
      assert.deepEqual(
        fs.readdirSync(dir).filter((name) => name[0] !== "."),
        [],
      );
      await chunk.flush();
      await chunk.flush();
      await chunk.append("b", {}, [fakeJpeg(3_000_000)]);
      await chunk.flush();
      await chunk.append("c", {}, [fakeJpeg(3_000_000)]);
    }
    assert.deepEqual([...chunk.metaDict.keys()], ["a", "b"]);
    assert.equal(fs.statSync(chunk.dataPath).size, 3_000_008);
    assert.deepEqual(fs.readdirSync(dir).sort(), [
      "data_0.gulp",
      "meta_0.gmeta",
    ]);
    {
      await using _ = await chunk.open("wb");
      await chunk.append("new", {}, [fakeJpeg(4)]);
    }
    assert.deepEqual([...(await chunkIn(dir)).metaDict.keys()], ["a", "b"]);
    {
      await using _ = await chunk.open("wb");
      await chunk.append("new", {}, [fakeJpeg(4)]);
      await chunk.flush();
    }
    assert.deepEqual([...(await chunkIn(dir)).metaDict.keys()], ["new"]);
    assert.equal(fs.statSync(chunk.dataPath).size, 4);
  });
});

Deno.test("a video whose frames fail is absent, whatever was written of it", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    await using _ = await chunk.open("wb");
    await chunk.append("good", {}, [fakeJpeg(8)]);
    async function* failing() {
      yield fakeJpeg(2_000_000);
      yield fakeJpeg(12);
      yield await Promise.reject(new Error("the camera is off"));
    }
    await assert.rejects(chunk.append("bad", {}, failing()), /camera is off/);
    await assert.rejects(
      chunk.append("no jpeg", {}, [fakeJpeg(8), new Uint8Array(8)]),
      { name: "TypeError", message: /is not a JPEG/ },
    );
    await assert.rejects(
      chunk.append("no list", {}, fakeJpeg(8) as never),
      { name: "TypeError", message: /given as a list/ },
    );
    const abort = new AbortController();
    abort.abort();
    await assert.rejects(
      chunk.append("aborted", {}, [fakeJpeg(8)], { signal: abort.signal }),
      { name: "AbortError" },
    );
    await chunk.append("next", {}, [fakeJpeg(4)]);
    await chunk.flush();
    assert.deepEqual([...chunk.metaDict.keys()], ["good", "next"]);
    assert.equal(fs.statSync(chunk.dataPath).size, 12);
    assert.deepEqual((await chunk.readRaw("next")).frames, [fakeJpeg(4)]);
  });
});

Deno.test("metadata that JSON cannot represent is rejected by position", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    await using _ = await chunk.open("wb");
    const loop: Record<string, unknown> = {};
    loop.loop = { loop };
    let deep: unknown = 0;
    for (let i = 0; i < 2000; i++) deep = [deep];
    const bad: [unknown, RegExp][] = [
      [{ a: { b: [1, undefined] } }, /undefined \(at meta\.a\.b\[1\]\)/],
      [{ when: new Date() }, /a Date \(at meta\.when\)/],
      [{ bytes: new Uint8Array(1) }, /a Uint8Array/],
      [{ map: new Map() }, /a Map/],
      [{ call: () => 0 }, /a function/],
      [{ hole: new Array(1) }, /undefined/],
      [loop, /contains itself/],
      [{ deep }, /levels/],
      [[], /must be an object/],
      [null, /must be an object/],
    ];
    for (const [meta, message] of bad) {
      await assert.rejects(
        chunk.append("a", meta as { [key: string]: JsonValue }, []),
        { name: "TypeError", message },
      );
    }
    await chunk.flush();
    assert.equal(chunk.length, 0);
  });
});

Deno.test("calls without await keep their order; two writers and closed ones are rejected", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    await assert.rejects(async () => await chunk.append("a", {}, []), {
      name: "WriteError",
      code: "closed",
    });
    await assert.rejects(
      chunk.open("r+" as "ab"),
      /must be 'rb', 'wb' or 'ab', not 'r\+'/,
    );
    {
      await using _ = await chunk.open("wb");
      await assert.rejects(chunk.open("ab"), { code: "busy" });
      const ids = Array.from({ length: 50 }, (_, i) => `${i}`);
      const appended = ids.map((id, i) =>
        chunk.append(id, { i }, [fakeJpeg(4 + i)])
      );
      assert.throws(() => chunk.flushSync(), { code: "busy" });
      await chunk.flush();
      await Promise.all(appended);
      assert.deepEqual([...chunk.metaDict.keys()], ids);
    }
    await assert.rejects(async () => await chunk.append("a", {}, []), {
      code: "closed",
    });
  });
});

Deno.test("the same with synchronous methods", async () => {
  await withTempDir(async (dir) => {
    using chunk = await chunkIn(dir);
    {
      using _ = chunk.openSync("wb");
      chunk.appendSync("a", { n: NaN }, [fakeJpeg(5)]);
      chunk.flushSync();
      chunk.appendSync("b", {}, [fakeJpeg(5)]);
      const image = {
        data: new Uint8Array(1),
        height: 1,
        width: 1,
        channels: 1,
      };
      assert.throws(
        () =>
          chunk.appendSync("c", {}, [image as { channels: 1 } & typeof image]),
        /asynchronously/,
      );
    }
    assert.deepEqual([...chunk.metaDict.keys()], ["a"]);
    assert.deepEqual(chunk.readRawSync("a").meta, { n: NaN });
    assert.equal(fs.statSync(chunk.dataPath).size, 8);
  });
});

Deno.test("images are encoded, and a chunk of a custom serializer is read and continued", async () => {
  await withTempDir(async (dir) => {
    const serializer: SerializerChoice = {
      load: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
      dump: (entries) =>
        new TextEncoder().encode(JSON.stringify(
          Array.from(entries, ([id, { frameInfo, metaData }]) => [
            id,
            { frameInfo: [...frameInfo], metaData },
          ]),
        )),
    };
    const data = new Uint8Array(16 * 8).fill(200);
    const image = { data, height: 8, width: 16, channels: 1 } as const;
    using chunk = await chunkIn(dir, serializer);
    for (const mode of ["wb", "ab"] as const) {
      await using _ = await chunk.open(mode);
      await chunk.append("gray", { mode }, [image]);
      await chunk.flush();
    }
    assert.equal(fs.readFileSync(chunk.metaPath, "utf8")[0], "[");
    using decoded = await GulpChunk.load(chunk.dataPath, chunk.metaPath, {
      serializer,
    });
    const { frames, meta } = await decoded.readFrames("gray");
    assert.deepEqual(meta, { mode: "wb" });
    assert.deepEqual(
      frames.map(({ height, width, channels }) => [height, width, channels]),
      [[8, 16, 1], [8, 16, 1]],
    );
    assert.ok(
      frames.every(({ data }) => data.every((v) => Math.abs(v - 200) < 3)),
    );
  });
});
