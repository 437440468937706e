/** Members of zips that are too large to be inflated for a read: read at offsets, opened as containers, in other threads. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { runSync } from "../../../../src/io/concurrency/steps.ts";
import type { SourceList } from "../../../../src/io/storage/byte_source.ts";
import { newExtent, reopenHandle } from "../../../../src/tree/tree.ts";
import { findNode } from "../../../../src/tree/vfs/paths.ts";
import { mixedBytes } from "../../../support/compress.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import { makeZip } from "../../../support/zip/make_zip.ts";
import { withMemoryDir } from "../../../support/paths.ts";

const CONTENT = mixedBytes(18_000_000, 23);
const FILES = [0, 6_000_000, 12_000_000].map((start, i) => ({
  name: `${i}`,
  data: CONTENT.subarray(start, start + 6_000_000),
}));
const ZIP = makeZip([
  { name: "small", data: "1", method: 8 },
  { name: "large", data: CONTENT, method: 8 },
  { name: "inner.tar", data: tarBytes(FILES), method: 8 },
]);

Deno.test("a large deflated member is read at offsets, whole, and as a container", () =>
  withMemoryDir(async (dir) => {
    const path = `${dir}/a.zip`;
    fs.writeFileSync(path, ZIP);
    const remote = { cache: { directory: `${dir}/cache` } };
    using outer = await open(path, { remote });
    for (const at of [17_000_000, 100, 9_000_000]) {
      const part = await outer.readRange("large", at, 1000);
      assert.ok(Buffer.from(part).equals(CONTENT.subarray(at, at + 1000)));
    }
    assert.ok(Buffer.from(await outer.read("large")).equals(CONTENT));
    assert.deepEqual(await outer.read("small"), Uint8Array.of(0x31));
    for (let program = 0; program < 2; program++) {
      using inner = await open(`${path}!/inner.tar`, { remote });
      for (const { name, data } of FILES.toReversed()) {
        assert.ok(Buffer.from(await inner.read(name)).equals(data));
      }
    }
    assert.ok(
      Buffer.from(outer.readRangeSync("large", 50, 9)).equals(
        CONTENT.subarray(50, 59),
      ),
    );
    // Another thread rebuilds the tree, and finds the index in the cache.
    const tree = await reopenHandle(outer.tree.share());
    const extent = newExtent();
    assert.ok(tree.locate(runSync(findNode(tree, "large")), extent));
    const into = new Uint8Array(1000);
    const { sources } = tree as { sources: SourceList };
    const source = sources.at(extent.source)!;
    assert.equal(await source.readAt(into, 8_000_000), 1000);
    assert.ok(Buffer.from(into).equals(CONTENT.subarray(8_000_000, 8_001_000)));
  }));

Deno.test("a large deflated member of a zip on a server is read at offsets", () =>
  withMemoryDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.zip`, ZIP);
    await using server = await FileServer.start(dir);
    const remote = { cache: { directory: `${dir}/cache` } };
    using outer = await open(`${server.url}/a.zip`, { remote });
    for (const at of [12_345_678, 100]) {
      const part = await outer.readRange("large", at, 1000);
      assert.ok(Buffer.from(part).equals(CONTENT.subarray(at, at + 1000)));
    }
  }));
