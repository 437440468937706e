/** What a tar says of a member is compared with a kept index, by everything that reads it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { TarReader } from "../../../../src/formats/tar/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { withTempDir } from "../../../support/paths.ts";
import { memberBytes } from "../../../support/tar/make_tar.ts";

Deno.test("the header before a content is compared with a kept index in every thread, and by every reader", () =>
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
    (await TarReader.open(tar, { remote })).close();
    // Time, size and inode stay, as when a copy is written over a file.
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
    using reader = await TarReader.open(tar, { remote });
    const [sample] = await reader.samples.read([1]);
    assert.equal(sample!.__key__, "./n1"); // as the tar spells it
    await assert.rejects(reader.samples.read([0]), stale);
    using shared = await TarReader.openShared(reader.share());
    await assert.rejects(shared.read("n0.cls"), stale);
    const bytes = await shared.read(["n2.txt", "n1.cls"]);
    assert.deepEqual(bytes.map((one) => Buffer.from(one).toString()), [
      "4",
      "3",
    ]);
  }));
