/** The journal of an ingest, as killed processes leave it. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  IngestJournal,
  planPath,
} from "../../../../src/formats/gulp/ingest/ingest_journal.ts";
import { withTempDir } from "../../../support/paths.ts";

const PLAN = { firstChunk: 0, videosPerChunk: 2, videos: 6 };
const REPORT = { videos: 2, frames: 3, bytes: 40, failed: [] };

/** Opens the journal of a directory for `act`, and closes it. */
function inJournal<T>(dir: string, act: (journal: IngestJournal) => T): T {
  using journal = IngestJournal.open(dir);
  return act(journal);
}

Deno.test("an incomplete line of a killed process is dropped, and the next one is complete", async () => {
  await withTempDir((dir) => {
    inJournal(dir, (journal) => {
      journal.begin(PLAN);
      journal.note({ chunk: 0, ...REPORT });
    });
    fs.appendFileSync(planPath(dir), '{"chunk":1,"vid');
    inJournal(dir, (journal) => {
      assert.deepEqual([...journal.done.keys()], [0]);
      journal.note({ chunk: 2, ...REPORT });
    });
    inJournal(dir, (journal) => {
      assert.deepEqual(journal.plan, PLAN);
      assert.deepEqual([...journal.done.keys()], [0, 2]);
    });
  });
});

Deno.test("an incomplete plan of a killed process is ignored, and leaves no file", async () => {
  await withTempDir((dir) => {
    fs.writeFileSync(planPath(dir), '{"firstChunk":0,');
    inJournal(dir, (journal) => assert.equal(journal.plan, undefined));
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("while a journal is open, another ingest is rejected", async () => {
  await withTempDir((dir) => {
    inJournal(dir, () =>
      assert.throws(() => IngestJournal.open(dir), {
        name: "WriteError",
        code: "busy",
      }));
  });
});

Deno.test("a plan replaces another one atomically: a killed process leaves one of them", async () => {
  await withTempDir((dir) => {
    inJournal(dir, (journal) => {
      journal.begin(PLAN);
      journal.note({ chunk: 0, ...REPORT });
    });
    const before = fs.readFileSync(planPath(dir), "utf8");
    // A reader of the old plan sees it unchanged, whenever the new one replaces it.
    const old = fs.openSync(planPath(dir), "r");
    try {
      inJournal(dir, (journal) => journal.finish(PLAN, ["b"]));
      assert.equal(fs.readFileSync(old, "utf8"), before);
    } finally {
      fs.closeSync(old);
    }
    assert.deepEqual(
      inJournal(dir, ({ plan, done }) => ({ plan, done: done.size })),
      { plan: { ...PLAN, failed: ["b"] }, done: 0 },
    );
    assert.deepEqual(fs.readdirSync(dir), [".recordfs-ingest.jsonl"]);
  });
});

Deno.test("while a plan replaces another one, no other ingest can start", async () => {
  await withTempDir((dir) => {
    inJournal(dir, (journal) => {
      journal.begin(PLAN);
      assert.throws(() => IngestJournal.open(dir), { code: "busy" });
    });
  });
});
