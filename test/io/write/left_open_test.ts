// deno-lint-ignore-file no-console -- warnings go to the console by default
/** Writers that go out of scope before they are closed: written data is discarded, with a warning. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  BagWriter,
  DatasetWriter,
  ShardedDatasetWriter,
} from "../../../src/formats/bags/mod.ts";
import { FFRecordWriter } from "../../../src/formats/ffrecord/mod.ts";
import {
  AbstractDatasetAdapter,
  ChunkWriter,
  type GulpChunk,
} from "../../../src/formats/gulp/mod.ts";
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import { TarWriter } from "../../../src/formats/tar/mod.ts";
import { TFRecordWriter } from "../../../src/formats/tfrecord/mod.ts";
import type { WriterBase } from "../../../src/io/write/writer_base.ts";
import { chunkIn } from "../../support/gulp/gulp_chunks.ts";
import { fakeJpeg } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";

const BYTES = new Uint8Array(3);

interface Case<W extends WriterBase> {
  open(path: string): Promise<W>;
  add(writer: W): unknown;
}

function made<W extends WriterBase>(
  open: (path: string) => Promise<W>,
  add: (writer: W) => unknown,
): Case<WriterBase> {
  return { open, add: (writer) => add(writer as W) };
}

const CASES: Readonly<Record<string, Case<WriterBase>>> = {
  FFRecordWriter: made(
    (path) => FFRecordWriter.open(`${path}.ffr`),
    (writer) => writer.write(BYTES),
  ),
  TFRecordWriter: made(TFRecordWriter.open, (writer) => writer.write(BYTES)),
  TarWriter: made(TarWriter.open, (writer) => writer.write("a", BYTES)),
  MDSWriter: made(
    (path) => MDSWriter.open(path, { columns: { a: "int" } }),
    (writer) => writer.write({ a: 1 }),
  ),
  "BagWriter of generation 2": made(
    (path) => BagWriter.open(`${path}.bag`, { generation: 2 }),
    (writer) => writer.write(BYTES),
  ),
  "DatasetWriter": made(
    (path) => DatasetWriter.open(path, { t: "utf8" }),
    (writer) => writer.write({ t: "x" }),
  ),
  "ShardedDatasetWriter": made(
    (path) =>
      ShardedDatasetWriter.open(path, { t: "utf8" }, { shardLength: 10 }),
    (writer) => writer.write({ t: "x" }),
  ),
};

/** Returns what is written to the console during `run`. */
async function warned(run: () => Promise<void>): Promise<string[]> {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (line: string) => void lines.push(line);
  try {
    await run();
  } finally {
    console.warn = warn;
  }
  return lines;
}

for (const [name, { open, add }] of Object.entries(CASES)) {
  Deno.test(`${name}: samples lost at the end of a block are reported once`, () =>
    withTempDir(async (dir) => {
      let place = 0;
      /** Runs a block, and returns its warnings. */
      const ran = (block: (writer: WriterBase) => unknown) =>
        warned(async () => {
          await using writer = await open(`${dir}/${place++}`);
          await block(writer);
        });
      const lost = await ran(add);
      assert.equal(lost.length, 1, lost.join("\n"));
      assert.match(lost[0]!, /neither closed nor aborted\. Call close\(\)/);
      assert.ok(lost[0]!.includes(`${dir}/0`));
      const others = [
        () => {}, // nothing was lost
        async (writer: WriterBase) => {
          await add(writer);
          await writer.close();
        },
        async (writer: WriterBase) => {
          await add(writer);
          void writer.close();
        },
        async (writer: WriterBase) => {
          await add(writer);
          writer.abort();
        },
      ];
      for (const block of others) assert.deepEqual(await ran(block), []);
      // The block's own error is not hidden.
      const failed = new Error("of the block");
      const told = await warned(async () => {
        await assert.rejects(async () => {
          await using writer = await open(`${dir}/failed`);
          await add(writer);
          throw failed;
        }, failed);
      });
      assert.equal(told.length, 1);
      const own: string[] = [];
      const none = await ran(async (writer) => {
        writer.onWarning = (message) => own.push(message);
        await add(writer);
      });
      assert.deepEqual([none, own.length], [[], 1]);
    }));
}

Deno.test("GulpChunk: videos lost because they were not flushed are reported once", () =>
  withTempDir(async (dir) => {
    let place = 0;
    type Block = (
      chunk: GulpChunk<Uint8Array>,
      opened: Disposable,
    ) => unknown;
    /** Runs a block with the chunk open for writing, and returns its warnings. */
    const ran = (block: Block) =>
      warned(async () => {
        using chunk = await chunkIn(fs.mkdtempSync(`${dir}/${place++}`));
        using opened = await chunk.open("wb");
        await block(chunk, opened);
      });
    const add = (chunk: GulpChunk<Uint8Array>) =>
      chunk.append("a", {}, [fakeJpeg(8)]);
    for (
      const block of [
        add,
        async (chunk, opened) => {
          await add(chunk);
          opened[Symbol.dispose]();
        },
        async (chunk) => {
          await add(chunk);
          chunk.close();
        },
        async (chunk) => {
          await add(chunk);
          await chunk.flush();
          await chunk.append("b", {}, [fakeJpeg(8)]);
        },
        (chunk) => chunk.appendSync("a", {}, [fakeJpeg(8)]),
      ] satisfies Block[]
    ) {
      const lost = await ran(block);
      assert.equal(lost.length, 1, lost.join("\n"));
      assert.match(
        lost[0]!,
        /data_0\.gulp: it was not flushed\. Call flush\(\)/,
      );
    }
    for (
      const block of [
        () => {},
        async (chunk) => {
          await add(chunk);
          await chunk.flush();
        },
        async (chunk) => {
          await add(chunk);
          chunk.abort();
        },
        (chunk) => assert.rejects(chunk.append("a", {}, [new Uint8Array(1)])),
        async (chunk) => {
          await add(chunk);
          const flushed = chunk.flush();
          chunk.close();
          await assert.rejects(flushed, { code: "closed" });
        },
      ] satisfies Block[]
    ) assert.deepEqual(await ran(block), []);
    const own: string[] = [];
    const none = await ran(async (chunk) => {
      chunk.onWarning = (message) => own.push(message);
      await add(chunk);
    });
    assert.deepEqual([none, own.length], [[], 1]);
  }));

Deno.test("a failing chunk writer reports only its error", () =>
  withTempDir(async (dir) => {
    class Failing extends AbstractDatasetAdapter {
      readonly length = 2;
      override *iterData() {
        yield { id: "a", meta: {}, frames: [fakeJpeg(8)] };
        throw new Error("the list ends early");
      }
    }
    const told = await warned(async () => {
      using chunk = await chunkIn(dir);
      const writer = new ChunkWriter(new Failing());
      await assert.rejects(
        writer.writeChunk(chunk, { start: 0, stop: 2 }),
        /the list ends early/,
      );
    });
    assert.deepEqual(told, []);
    assert.deepEqual(fs.readdirSync(dir), []);
  }));

Deno.test("a file that was not closed does not appear", () =>
  withTempDir(async (dir) => {
    for (const name of ["FFRecordWriter", "TarWriter", "MDSWriter"]) {
      const { open, add } = CASES[name]!;
      await warned(async () => {
        await using writer = await open(`${dir}/x`);
        await add(writer);
      });
      assert.deepEqual(fs.readdirSync(dir), []);
    }
  }));

Deno.test("flushed videos are not lost", () =>
  withTempDir(async (dir) => {
    const told = await warned(async () => {
      await using writer = await DatasetWriter.open(`${dir}/d`, { t: "utf8" });
      await writer.write({ t: "x" });
      await writer.flush();
    });
    assert.deepEqual(told, []);
    await using again = await DatasetWriter.open(`${dir}/d`, { t: "utf8" });
    assert.equal(again.length, 1);
    await again.close();
  }));
