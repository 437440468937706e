/** Remote zips: number of requests. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { open } from "../../../../src/open/open.ts";
import { serving } from "../../../support/remote/serving.ts";
import { makeZip } from "../../../support/zip/make_zip.ts";

/** Returns a zip of members of 100,000 bytes, every other one deflated. */
function zipOf(count: number): Uint8Array {
  return makeZip(
    Array.from({ length: count }, (_, i) => ({
      name: `d/${String(i).padStart(5, "0")}.bin`,
      data: contentOf(i),
      method: i % 2 * 8,
    })),
  );
}

function contentOf(i: number): Uint8Array {
  return new Uint8Array(100_000).map((_, k) => Math.imul(k, k + i) >> 5);
}

Deno.test("opening requests the end and the directory, and reading only the content that is read", () =>
  serving(async ({ dir, server, remote }) => {
    const bytes = zipOf(300);
    fs.writeFileSync(`${dir}/a.zip`, bytes);
    const url = `${server.url}/a.zip`;
    {
      using fs = await open(url, { remote });
      assert.equal(fs.info.files, 300);
      assert.ok(server.asked.length <= 3, String(server.asked.length));
    }
    server.asked.length = 0;
    using container = await open(url, { remote });
    assert.ok(server.asked.length <= 1, String(server.asked.length)); // only the revalidation
    server.asked.length = 0;
    const wanted = [7, 120, 121, 250, 299, 8];
    const names = wanted.map((i) => `d/${String(i).padStart(5, "0")}.bin`);
    const read = await container.read(names);
    for (const [k, i] of wanted.entries()) {
      assert.deepEqual(read[k], contentOf(i));
    }
    assert.ok(server.asked.length <= 2 * wanted.length);
    server.asked.length = 0;
    await container.read(names);
    assert.equal(server.asked.length, 0);
    // Once their headers are known, stored members are prefetched.
    const paths = ["d/00050.bin", "d/00052.bin"];
    using samples = await openSamples(url, { remote, paths });
    samples.prefetch([0, 1]);
    const { content } = await samples.read(1);
    assert.deepEqual(content, contentOf(52));
    assert.ok(samples.prefetch([1]) >= 100_000);
  }));
