/** Bagz on a server: few requests, however many records there are. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open, openSamples } from "../../../mod.ts";
import { bagzBytes } from "../../support/bagz/make_bagz.ts";
import { serving } from "../../support/remote/serving.ts";

/** Records that do not become shorter. */
const RECORDS = Array.from(
  { length: 4000 },
  (_, i) => crypto.getRandomValues(new Uint8Array(5000 + i % 7)),
);

Deno.test("opening takes a few requests, and a batch those of its records", () =>
  serving(async ({ dir, server, remote }) => {
    fs.writeFileSync(`${dir}/x.bagz`, bagzBytes(RECORDS));
    const url = `${server.url}/x.bagz`;
    using samples = await openSamples(url, { remote });
    assert.equal(samples.length, RECORDS.length);
    assert.ok(server.asked.length <= 5, `${server.asked.length} requests`);
    const indices = [3999, 12, 2000];
    server.asked.length = 0;
    const read = await samples.read(indices);
    assert.deepEqual(
      read.map(({ content }) => content),
      indices.map((i) => RECORDS[i]),
    );
    assert.ok(server.asked.length <= 4, `${server.asked.length} requests`);
    const [first] = await samples.read([12]);
    assert.deepEqual(first!.content, RECORDS[12]);

    using tree = await open(url, { remote });
    server.asked.length = 0;
    assert.equal((await tree.stat("003000")).size, RECORDS[3000]!.length);
    assert.deepEqual(await tree.read("003000"), RECORDS[3000]);
    assert.ok(server.asked.length <= 3, `${server.asked.length} requests`);
  }));
