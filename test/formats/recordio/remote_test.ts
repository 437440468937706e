/** RecordIO on a server: with an index, few requests, however many records there are. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open, openSamples } from "../../../mod.ts";
import {
  imageRecord,
  recordioBytes,
  recordioIndex,
} from "../../support/recordio/make_recordio.ts";
import { serving } from "../../support/remote/serving.ts";

const CONTENTS = Array.from(
  { length: 4000 },
  (_, i) => new Uint8Array(5000 + i % 7).fill(i),
);
const RECORDS = CONTENTS.map((content, i) => imageRecord(i, i, content));

Deno.test("with an index, opening takes a few requests, and a batch those of its records", () =>
  serving(async ({ dir, server, remote }) => {
    fs.writeFileSync(`${dir}/x.rec`, recordioBytes(RECORDS));
    fs.writeFileSync(`${dir}/x.idx`, recordioIndex(RECORDS));
    const url = `${server.url}/x.rec`;
    using samples = await openSamples<{ label: number }>(url, { remote });
    assert.equal(samples.length, RECORDS.length);
    assert.ok(server.asked.length <= 6, `${server.asked.length} requests`);
    const indices = [3999, 12, 2000];
    server.asked.length = 0;
    const read = await samples.get(indices);
    assert.deepEqual(read.map(({ label }) => label), indices);
    assert.ok(server.asked.length <= 4, `${server.asked.length} requests`);

    using tree = await open(url, { remote });
    server.asked.length = 0;
    assert.equal(
      (await tree.stat("003000/image")).size,
      CONTENTS[3000]!.length,
    );
    assert.deepEqual(await tree.read("003000/image"), CONTENTS[3000]);
    const label = await tree.read("003000/label.json");
    assert.equal(new TextDecoder().decode(label), "3000\n");
    assert.ok(server.asked.length <= 3, `${server.asked.length} requests`);
  }));
