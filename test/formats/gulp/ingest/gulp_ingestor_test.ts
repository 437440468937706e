import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  GulpDirectory,
  GulpIngestor,
  makeAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import {
  FakeAdapter,
  filesOf,
  leftovers,
} from "../../../support/gulp/ingest.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { FULL, LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";

type IngestOptions = NonNullable<Parameters<GulpIngestor["run"]>[0]>;

const raw = { decode: false } as const;
const JOURNAL = ".recordfs-ingest.jsonl";

Deno.test("the same chunks with any number of workers", async () => {
  await withTempDir(async (dir) => {
    const results = [];
    for (const workers of FULL ? [1, 2, 5] : [1, 3]) {
      const out = `${dir}/${workers}/deep`;
      const told: Parameters<NonNullable<IngestOptions["onProgress"]>>[0][] =
        [];
      const adapter = new FakeAdapter({ count: 20 });
      const ingestor = new GulpIngestor(adapter, out, 6, workers);
      const { paths, ...report } = await ingestor.run({
        onProgress: (progress) => told.push(progress),
      });
      assert.deepEqual(
        paths,
        [0, 1, 2, 3].map((number) => `${out}/data_${number}.gulp`),
      );
      const { videos, failed, totalVideos, frames } = told.at(-1)!;
      assert.deepEqual([videos, failed, totalVideos], [18, 2, 20]);
      assert.ok(
        told.every((now, i) =>
          i === 0 ||
          now.videos + now.failed >= told[i - 1]!.videos + told[i - 1]!.failed
        ),
      );
      assert.ok(frames >= report.frames);
      results.push({ report, files: filesOf(out) });
    }
    const [{ report, files }] = results as [typeof results[0]];
    for (const other of results.slice(1)) assert.deepEqual(other, results[0]);
    assert.deepEqual(report.failed, [
      { id: "v6", reason: "cannot read 6" },
      { id: "v13", reason: "cannot read 13" },
    ]);
    assert.equal(report.videos, 18);
    assert.equal(
      report.bytes,
      Object.entries(files).reduce(
        (sum, [name, { length }]) =>
          sum + (name.endsWith(".gulp") ? length : 0),
        0,
      ),
    );
    using directory = await GulpDirectory.open(`${dir}/1/deep`, raw);
    const ids = [...directory.mergedMetaDict.keys()];
    const expected = Array.from({ length: 20 }, (_, i) => `v${i}`)
      .filter((id) => id !== "v6" && id !== "v13");
    assert.deepEqual(ids, expected);
    assert.deepEqual(
      (await directory.get("v8")).frames,
      [0, 1, 2, 3].map((k) => fakeJpeg(5, k)),
    );
    assert.deepEqual(leftovers(`${dir}/1/deep`), [JOURNAL]); // it lists failed videos
  });
});

Deno.test("a finished ingest can be resumed as well: nothing is written", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 7, [{ id: "old", frames: [fakeJpeg(8)] }]);
    const resume = (count: number, videosPerChunk: number, prefix = "v") =>
      new GulpIngestor(
        new FakeAdapter({ count, prefix }),
        dir,
        videosPerChunk,
        1,
      )
        .run({ resume: true });
    const adapter = new FakeAdapter({ count: 5 });
    const report = await new GulpIngestor(adapter, dir, 2, 1)
      .run({ extend: true });
    const before = filesOf(dir);
    assert.deepEqual(await resume(5, 2), report);
    for (
      const [count, videosPerChunk, prefix] of [
        [5, 3, "v"],
        [3, 2, "v"],
        [6, 2, "v"],
        [5, 2, "w"],
      ] as const
    ) {
      await assert.rejects(resume(count, videosPerChunk, prefix), {
        code: "nothing-to-resume",
      });
    }
    assert.deepEqual(filesOf(dir), before);
  });
});

Deno.test("chunks are added after the highest number, only on request", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 7, [{ id: "old", frames: [fakeJpeg(8)] }]);
    const before = filesOf(dir);
    const ingest = (prefix: string, options: object) =>
      new GulpIngestor(new FakeAdapter({ count: 3, prefix }), dir, 2, 1)
        .run(options);
    await assert.rejects(ingest("a", {}), {
      name: "IngestError",
      code: "not-empty",
      message: /has chunks already \(1\)\. Add more with the option `extend`/,
    });
    await assert.rejects(ingest("a", { resume: true }), {
      code: "nothing-to-resume",
      message: /its ingest is finished, and its videos are not these/,
    });
    assert.deepEqual(filesOf(dir), before);
    const { paths } = await ingest("a", { extend: true });
    assert.deepEqual(paths, [`${dir}/data_8.gulp`, `${dir}/data_9.gulp`]);
    await ingest("b", { extend: true, resume: true });
    using directory = await GulpDirectory.open(dir, raw);
    assert.equal(directory.numChunks, 5);
    assert.deepEqual(
      ["old", "a0", "a2", "b1"].map((id) => directory.chunkLookup.get(id)),
      [7, 8, 9, 10],
    );
    fs.rmSync(`${dir}/meta_8.gmeta`);
    await assert.rejects(ingest("c", { extend: true }), {
      code: "missing-meta",
    });
    assert.deepEqual(leftovers(dir), []);
  });
});

Deno.test("a duplicate id is an error before anything is written", async () => {
  await withTempDir(async (dir) => {
    const twice = new FakeAdapter({ count: 9, at: 8, how: "duplicate" });
    const duplicate = { name: "IngestError", code: "duplicate-id" };
    await assert.rejects(
      new GulpIngestor(twice, `${dir}/new`, 4, 1).run(),
      { ...duplicate, message: /the id "v0" would be in it twice/ },
    );
    assert.deepEqual(fs.readdirSync(dir), []);
    writeChunk(dir, 0, [{ id: "v2", frames: [fakeJpeg(8)] }]);
    const before = filesOf(dir);
    await assert.rejects(
      new GulpIngestor(new FakeAdapter({ count: 3 }), dir, 4, 1)
        .run({ extend: true }),
      { ...duplicate, message: /"v2"/ },
    );
    assert.deepEqual(filesOf(dir), before);
  });
});

Deno.test("if an adapter does not list its ids, no chunk with an existing id is finished", async () => {
  for (const workers of [1, 2]) {
    await withTempDir(async (dir) => {
      const twice = { count: 9, at: 8, how: "duplicate", silent: true };
      await assert.rejects(
        new GulpIngestor(new FakeAdapter(twice), dir, 3, workers).run(),
        { name: "IngestError", code: "duplicate-id" },
      );
      using directory = await GulpDirectory.open(dir, raw);
      assert.ok(directory.length < 9);
      const same = { count: 3, at: 2, how: "duplicate", silent: true };
      await assert.rejects(
        new GulpIngestor(new FakeAdapter(same), `${dir}/same`, 3, workers)
          .run(),
        { code: "duplicate-id" },
      );
      assert.deepEqual(leftovers(`${dir}/same`), [JOURNAL]);
    });
  }
});

Deno.test("invalid numbers, no videos, and adapters that no thread can make are rejected", async () => {
  await withTempDir(async (dir) => {
    const adapter = new FakeAdapter({ count: 2 });
    for (const bad of [0, -1, 1.5, NaN]) {
      assert.throws(() => new GulpIngestor(adapter, dir, bad, 1), RangeError);
      assert.throws(() => new GulpIngestor(adapter, dir, 1, bad), RangeError);
    }
    const telling = new FakeAdapter({ count: 0 });
    await assert.rejects(
      new GulpIngestor(telling, dir, 1, 1).run(),
      { code: "no-videos", message: /the adapter has no videos/ },
    );
    Object.assign(telling, { whyEmpty: () => "no clips found in data/" });
    const run = new GulpIngestor(telling, dir, 1, 1).run();
    await assert.rejects(run, { message: /: no clips found in data\/$/ });
    class Own extends FakeAdapter {}
    const own = new Own({ count: 2 });
    await assert.rejects(new GulpIngestor(own, dir, 1, 2).run(), {
      code: "bad-adapter",
      message: /2 workers: they cannot make the adapter Own again/,
    });
    assert.deepEqual(fs.readdirSync(dir), []);
    assert.equal((await new GulpIngestor(own, dir, 1, 1).run()).videos, 2);
    const module =
      new URL("../../../support/gulp/ingest.ts", import.meta.url).href;
    await assert.rejects(
      makeAdapter({ module, name: "filesOf", options: {} }),
      { code: "bad-adapter", message: /no class filesOf .*FakeAdapter/ },
    );
    await assert.rejects(
      makeAdapter({ module: `${module}x`, name: "FakeAdapter", options: {} }),
      { code: "bad-adapter", message: /Cannot load the adapter / },
    );
    const made = await makeAdapter({
      module,
      name: "FakeAdapter",
      options: { count: 4 },
    });
    const out = `${dir}/made`;
    assert.equal((await new GulpIngestor(made, out, 2, 2).run()).videos, 4);
  });
});

for (
  const [how, expected] of Object.entries({
    throw: { name: "TypeError", message: "the adapter is wrong" },
    crash: { code: "worker-died", message: /a thread died: .*out of the blue/ },
    close: { message: /must not end its thread/ },
    exit: { message: /must not end its thread/ },
  })
) {
  Deno.test({
    name:
      `a thread whose adapter does '${how}' ends the ingest, which can be resumed`,
    ignore: !FULL && (how === "throw" || how === "close"),
    fn: () =>
      withTempDir(async (dir) => {
        const bad = new FakeAdapter({ count: 12, at: 7, how, delay: 5 });
        await assert.rejects(
          new GulpIngestor(bad, dir, 2, 2).run(),
          expected,
        );
        assert.deepEqual(leftovers(dir), [JOURNAL]);
        using partly = await GulpDirectory.open(dir, raw);
        assert.ok(partly.length < 12);
        await assert.rejects(
          new GulpIngestor(new FakeAdapter({ count: 12 }), dir, 2, 2)
            .run({ resume: true }),
          {
            code: "other-ingest",
            message: /option `at` was 7 and is undefined/,
          },
        );
      }),
  });
}

Deno.test("a signal leaves only complete chunks, and the ingest can be resumed", async () => {
  for (const workers of LONG ? [1, 3] : [3]) {
    await withTempDir(async (dir) => {
      const options = { count: 30, delay: 10 };
      const whole = `${dir}/whole`;
      await new GulpIngestor(new FakeAdapter(options), whole, 2, 1).run();
      const out = `${dir}/out`;
      const abort = new AbortController();
      const ingest = (signal?: AbortSignal) =>
        new GulpIngestor(new FakeAdapter(options), out, 2, workers).run({
          resume: signal === undefined,
          signal,
          onProgress: ({ videos }) => videos >= 8 && abort.abort(),
        });
      await assert.rejects(ingest(abort.signal), { name: "AbortError" });
      assert.deepEqual(leftovers(out), [JOURNAL]);
      using partly = await GulpDirectory.open(out, raw);
      assert.ok(partly.length > 0 && partly.length < 27);
      await assert.rejects(
        new GulpIngestor(new FakeAdapter(options), out, 2, 1).run(),
        {
          code: "unfinished",
          message: /Continue that with the option `resume`/,
        },
      );
      await assert.rejects(
        new GulpIngestor(new FakeAdapter(options), out, 3, 1)
          .run({ resume: true }),
        { code: "other-ingest", message: /`videosPerChunk` was 2 and is 3/ },
      );
      const report = await ingest();
      assert.equal(report.videos, 27);
      assert.deepEqual(report.failed.map(({ reason }) => reason), [
        "cannot read 6",
        "cannot read 13",
        "cannot read 27",
      ]);
      assert.deepEqual(filesOf(out), filesOf(whole));
    });
  }
});

Deno.test("a truncated journal is ignored, a damaged one rejected", async () => {
  await withTempDir(async (dir) => {
    const adapter = new FakeAdapter({ count: 2 });
    for (
      const text of [
        "nonsense\n",
        "{}\n",
        '{"firstChunk":0,"videos":1,"videosPerChunk":-1}\n',
      ]
    ) {
      fs.writeFileSync(`${dir}/${JOURNAL}`, text);
      await assert.rejects(
        new GulpIngestor(adapter, dir, 2, 1).run({ resume: true }),
        { code: "unfinished", message: /is damaged\. Remove it/ },
      );
      assert.equal(fs.readFileSync(`${dir}/${JOURNAL}`, "utf8"), text);
    }
    fs.writeFileSync(`${dir}/${JOURNAL}`, '{"firstChunk":0,"vid');
    assert.equal((await new GulpIngestor(adapter, dir, 2, 1).run()).videos, 2);
    assert.deepEqual(leftovers(dir), []);
  });
});

Deno.test("a thread that does not stop is terminated, and its incomplete output removed", async () => {
  await withTempDir(async (dir) => {
    const abort = new AbortController();
    const blocked = new FakeAdapter({ count: 4, at: 2, how: "block" });
    const run = new GulpIngestor(blocked, dir, 2, 2).run({
      signal: abort.signal,
    });
    const ended = assert.rejects(run, /enough/);
    const isBegun = () =>
      fs.readdirSync(dir).some((name) => name.startsWith(".data_1.gulp."));
    while (!isBegun()) await new Promise((done) => setTimeout(done, 10));
    abort.abort(new Error("enough"));
    await ended;
    assert.deepEqual(leftovers(dir), [JOURNAL]);
  });
});

Deno.test("two concurrent ingests into one directory are rejected", async () => {
  await withTempDir(async (dir) => {
    const abort = new AbortController();
    const stuck = new FakeAdapter({ count: 4, at: 2, how: "hang" });
    const first = new GulpIngestor(stuck, dir, 2, 2).run({
      signal: abort.signal,
    });
    while (!fs.existsSync(`${dir}/${JOURNAL}`)) {
      await new Promise((done) => setTimeout(done, 10));
    }
    await assert.rejects(
      new GulpIngestor(stuck, dir, 2, 1).run({ resume: true }),
      {
        name: "WriteError",
        code: "busy",
        message: /another ingest is running/,
      },
    );
    abort.abort(new Error("enough"));
    await assert.rejects(first, /enough/);
  });
});

Deno.test({
  name:
    "a full disk ends the ingest with complete chunks, and it continues once there is room",
  ...needs("root"),
  fn: () =>
    withTmpfs("3m", async (dir, remount) => {
      for (const workers of [1, 2]) {
        const out = `${dir}/${workers}`;
        const options = { count: 40, size: 60_000 };
        const ingest = () =>
          new GulpIngestor(new FakeAdapter(options), out, 4, workers)
            .run({ resume: true });
        await assert.rejects(ingest(), {
          name: "WriteError",
          code: "ENOSPC",
          message: /disk is full/,
        });
        assert.deepEqual(leftovers(out), [JOURNAL]);
        {
          using partly = await GulpDirectory.open(out, raw);
          assert.ok(
            partly.length > 0 && partly.length < 36,
            `${partly.length}`,
          );
        }
        await remount("size=30m");
        assert.equal((await ingest()).videos, 36);
        assert.deepEqual(leftovers(out), [JOURNAL]); // it lists failed videos
        fs.rmSync(out, { recursive: true });
        await remount("size=3m");
      }
    }),
});
