/** Failed videos are retried when their ingest is resumed. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  GulpDirectory,
  GulpIngestor,
  ImageFolderAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import { put } from "../../../support/adapted.ts";
import { JPEGS } from "../../../support/gulp/gulp_content.ts";
import {
  FakeAdapter,
  type FakeOptions,
  filesOf,
  leftovers,
} from "../../../support/gulp/ingest.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

type IngestOptions = Parameters<GulpIngestor["run"]>[0];

const raw = { decode: false } as const;
const JOURNAL = ".recordfs-ingest.jsonl";

for (const workers of [1, 3]) {
  Deno.test(`failed videos are retried, and only those (${workers})`, async () => {
    await withTempDir(async (dir) => {
      for (let i = 0; i < 10; i++) put(`${dir}/in/a/${i}.jpg`, JPEGS[0]!);
      const bad = ["1", "4", "5", "8"];
      for (const name of bad) put(`${dir}/in/a/${name}.jpg`, "broken");
      const out = `${dir}/out`;
      writeChunk(out, 3, [{ id: "old", frames: [fakeJpeg(8)] }]);
      const ingest = (options: IngestOptions) => {
        const adapter = new ImageFolderAdapter({
          folder: `${dir}/in`,
          outputFolder: out,
          codec: "imagescript",
        });
        return new GulpIngestor(adapter, out, 2, workers).run(options);
      };
      const first = await ingest({ extend: true });
      const ids = (names: string[]) => names.map((name) => `a-${name}.jpg`);
      assert.deepEqual(first.failed.map(({ id }) => id), ids(bad));
      const before = filesOf(out);
      assert.equal("data_6.gulp" in before, false); // it would contain only 4 and 5, which fail

      const tried: string[] = [];
      const again = await ingest({
        resume: true,
        onFailure: ({ id }) => void tried.push(id),
      });
      assert.deepEqual(tried.sort(), ids(bad));
      assert.deepEqual(again, first); // with the causes, not a report of earlier failure
      assert.deepEqual(filesOf(out), before);

      put(`${dir}/in/a/1.jpg`, JPEGS[1]!);
      put(`${dir}/in/a/5.jpg`, JPEGS[1]!);
      const some = await ingest({ resume: true });
      assert.deepEqual(some.failed.map(({ id }) => id), ids(["4", "8"]));
      assert.equal(some.videos, 8);
      assert.deepEqual(leftovers(out).sort(), [JOURNAL, "label2idx.json"]);
      for (const name of ["data_5.gulp", "meta_5.gmeta"]) { // chunks of 2 and 3
        assert.equal(filesOf(out)[name], before[name]);
      }

      put(`${dir}/in/a/4.jpg`, JPEGS[1]!);
      put(`${dir}/in/a/8.jpg`, JPEGS[1]!);
      const all = await ingest({ resume: true });
      assert.deepEqual([all.videos, all.failed], [10, []]);
      assert.deepEqual(leftovers(out), ["label2idx.json"]);
      using directory = await GulpDirectory.open(out, raw);
      const chunks = [...directory.chunks()].map(({ metaDict }) =>
        [...metaDict.keys()].sort()
      );
      assert.deepEqual(chunks, [
        ["old"],
        ...[["0", "1"], ["2", "3"], ["4", "5"], ["6", "7"], ["8", "9"]].map(
          ids,
        ),
      ]);
      for (const [id, { metaData }] of directory.mergedMetaDict) {
        if (id === "old") continue;
        const path = `${dir}/in/a`;
        assert.deepEqual(metaData, [{ id, label: "a", path, idx: 0 }]);
        const wasBad = bad.some((name) => id === `a-${name}.jpg`);
        assert.deepEqual(directory.getRawSync(id).frames, [
          JPEGS[wasBad ? 1 : 0]!,
        ]);
      }
      const finished = filesOf(out);
      assert.deepEqual(await ingest({ resume: true }), all);
      assert.deepEqual(filesOf(out), finished);
    });
  });
}

Deno.test("an ingest with failed videos does not block others", async (t) => {
  const failing = { count: 8 }; // v6 fails
  const run = (dir: string, options: FakeOptions, how: IngestOptions) =>
    new GulpIngestor(new FakeAdapter(options), dir, 3, 1).run(how);
  const steps: Record<string, (dir: string) => Promise<void>> = {
    "others are added": async (dir) => {
      const others = { count: 3, prefix: "w" };
      const { videos } = await run(dir, others, { extend: true });
      assert.equal(videos, 3);
      assert.deepEqual(leftovers(dir), []);
    },
    "others are added, or it is resumed": async (dir) => {
      const others = { count: 3, prefix: "w" };
      await run(dir, others, { extend: true, resume: true });
      using directory = GulpDirectory.openSync(dir, raw);
      assert.equal(directory.length, 10);
    },
    "other ingests do not resume it": async (dir) => {
      await assert.rejects(run(dir, { count: 9 }, { resume: true }), {
        code: "other-ingest",
        message:
          /in which videos failed: it was another one: the number of videos was 8 and is 9/,
      });
      assert.deepEqual(leftovers(dir), [JOURNAL]);
    },
    "without an option, nothing is written": async (dir) => {
      await assert.rejects(run(dir, failing, {}), { code: "not-empty" });
      assert.deepEqual(leftovers(dir), [JOURNAL]);
    },
    "one that does not know its ids retries them too": async (dir) => {
      fs.rmSync(dir, { recursive: true });
      const silent = { ...failing, silent: true };
      const { failed } = await run(dir, silent, {});
      const before = filesOf(dir);
      const tried: string[] = [];
      const onFailure = ({ id }: { id: string }) => void tried.push(id);
      const again = await run(dir, silent, { resume: true, onFailure });
      assert.deepEqual(again.failed, failed);
      assert.deepEqual(tried, ["v6"]);
      assert.deepEqual(filesOf(dir), before);
    },
    "skipping existing ids leaves the failed ones": async (dir) => {
      fs.rmSync(dir, { recursive: true });
      put(`${dir}.in/a/0.jpg`, JPEGS[0]!);
      put(`${dir}.in/a/1.jpg`, "broken");
      const ingest = (how: IngestOptions) => {
        const adapter = new ImageFolderAdapter({
          folder: `${dir}.in`,
          outputFolder: dir,
          removeDuplicateIds: true,
          codec: "imagescript",
        });
        return new GulpIngestor(adapter, dir, 3, 1).run(how);
      };
      await ingest({});
      put(`${dir}.in/a/1.jpg`, JPEGS[1]!);
      assert.equal((await ingest({ resume: true })).videos, 1);
      assert.deepEqual(leftovers(dir), ["label2idx.json"]);
      using directory = GulpDirectory.openSync(dir, raw);
      const ids = [...directory.mergedMetaDict.keys()];
      assert.deepEqual(ids, ["a-0.jpg", "a-1.jpg"]);
    },
  };
  for (const [name, step] of Object.entries(steps)) {
    await t.step(name, () =>
      withTempDir(async (dir) => {
        await run(`${dir}/out`, failing, {});
        assert.deepEqual(leftovers(`${dir}/out`), [JOURNAL]);
        await step(`${dir}/out`);
      }));
  }
});
