/** Directories with names of shards: only files are shards. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { withTempDir } from "../../../support/paths.ts";
import { fileOf } from "../../../support/tfrecord/make_tfrecord.ts";

Deno.test("numbered directories are not shards, whatever is in them", () =>
  withTempDir(async (dir) => {
    for (let i = 0; i < 3; i++) {
      const shard = `${dir}/train-0000${i}-of-00003`;
      fs.mkdirSync(shard);
      fs.writeFileSync(`${shard}/picture.jpg`, "picture");
    }
    await assert.rejects(() => open(dir), { code: "unknown-format" });
    fs.writeFileSync(
      `${dir}/x-00000-of-00001`,
      fileOf([new TextEncoder().encode("record")]),
    );
    // A file next to them is a shard; the directories are reported, not silently skipped.
    await assert.rejects(() => open(dir), /train-0000\d-of-00003/);
  }));

Deno.test("numbered files are shards, next to directories of other names", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/notes`);
    const record = new TextEncoder().encode("record");
    for (let i = 0; i < 2; i++) {
      fs.writeFileSync(`${dir}/train-0000${i}-of-00002`, fileOf([record]));
    }
    using container = await open(dir);
    assert.equal(container.info.format, "tfrecord");
    assert.equal(container.info.files, 2);
  }));
