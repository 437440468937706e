/** Headers in a tar are compared with a cached index by everything that reads it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { withTempDir } from "../../../support/paths.ts";
import { memberBytes } from "../../../support/tar/make_tar.ts";
import { openWeb } from "../../../support/tar/open_web.ts";

Deno.test("the header before a content is compared with a cached index in every thread, and by every reader", () =>
  withTempDir(async (dir) => {
    const tar = `${dir}/t.tar`;
    const members = Array.from({ length: 33_000 }, (_, i) =>
      memberBytes({
        name: `./n${i >> 1}.${i % 2 ? "cls" : "txt"}`,
        data: `${i}`,
      }));
    fs.writeFileSync(tar, Buffer.concat([...members, Buffer.alloc(1024)]));
    fs.utimesSync(tar, 1_700_000_000, 1_700_000_000);
    const remote = { cache: { directory: `${dir}/cache` } };
    (await open(tar, { remote })).close();
    // Time, size and inode are unchanged, as when a copy is written over a file.
    const fd = fs.openSync(tar, "r+");
    fs.writeSync(
      fd,
      memberBytes({ name: "other.txt", data: "1" }),
      0,
      1024,
      1024,
    );
    fs.closeSync(fd);
    fs.utimesSync(tar, 1_700_000_000, 1_700_000_000);
    const stale = {
      code: "bad-index",
      member: "n0.cls",
      message: /Open it with the option `cache: false`$/,
    };
    const options = { remote, onWarning() {} };
    using container = await open(tar, options);
    assert.equal(Buffer.from(await container.read("n0.txt")).toString(), "0");
    await assert.rejects(async () => await container.read("n0.cls"), stale);
    assert.throws(() => container.readSync("n0.cls"), stale);
    await assert.rejects(async () => {
      await new Response(await container.stream("n0.cls")).bytes();
    }, stale);
    await assert.rejects(
      async () => await container.readRange("n0.cls", 0, 1),
      stale,
    );
    using samples = await openWeb(tar, options);
    const [sample] = await samples.read([1]);
    assert.equal(sample!.__key__, "./n1"); // as spelled in the tar
    await assert.rejects(samples.read([0]), stale);
    using shared = await OpenedSamples.openShared(samples.share());
    await assert.rejects(shared.get(0, { fields: ["cls"] }), stale);
    const read = await shared.get([2, 1]);
    assert.deepEqual(read.map((one) => ({ ...one })), [
      { __key__: "./n2", txt: "4", cls: 5 },
      { __key__: "./n1", txt: "2", cls: 3 },
    ]);
  }));
