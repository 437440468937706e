/** Aborted writers. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { MDSWriter } from "../../../../src/formats/mds/mod.ts";
import { openMds } from "../../../support/mds/open_mds.ts";
import { withTempDir } from "../../../support/paths.ts";

Deno.test("a running write fails if its writer is aborted, and for no other reason", () =>
  withTempDir(async (dir) => {
    const options = { columns: { raw: "bytes" }, sizeLimit: 1 };
    const writer = await MDSWriter.open(`${dir}/m`, options);
    const writing = Array.from(
      { length: 20 },
      (_, i) => writer.write({ raw: new Uint8Array((i % 3) << 20) }),
    );
    writer.abort();
    const ended = await Promise.allSettled(writing);
    const reasons = ended.flatMap((one) =>
      one.status === "rejected" ? [one.reason.message] : []
    );
    assert.match(reasons[0]!, /m: its writer was aborted\. Open a new one/);
    for (const reason of reasons) {
      assert.match(reason, /was aborted|earlier .* failed/);
    }
    assert.deepEqual(fs.readdirSync(dir), []);
  }));

Deno.test("an aborted writer leaves nothing behind, and one without samples makes a dataset", () =>
  withTempDir(async (dir) => {
    {
      await using writer = await MDSWriter.open(`${dir}/a`, {
        columns: { t: "str" },
        shardLength: 1,
      });
      await writer.write({ t: "x" });
      await writer.write({ t: "y" });
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    await using writer = await MDSWriter.open(`${dir}/a`, {
      columns: { t: "str" },
    });
    await writer.close();
    using reader = await openMds(`${dir}/a`);
    assert.equal(reader.length, 0);
    assert.deepEqual(fs.readdirSync(dir), ["a"]);
    await assert.rejects(
      MDSWriter.open(`${dir}/a`, { columns: { t: "str" } }),
      {
        code: "not-empty",
      },
    );
  }));
