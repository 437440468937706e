/** Remote files: number of requests, and what is cached. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { openSamples, type SampleValues } from "../../../../mod.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { open } from "../../../../src/open/open.ts";
import { contentsOf } from "../../../support/contents.ts";
import { asked, serving } from "../../../support/remote/serving.ts";
import { exampleOf, fileOf } from "../../../support/tfrecord/make_tfrecord.ts";

/** Longest requested range in bytes. */
const LONGEST = 8 << 20;

function records(sizes: readonly number[]): Buffer {
  return fileOf(sizes.map((size, i) => Buffer.alloc(size, 65 + i % 26)));
}

Deno.test("small records are streamed once, and later opens only revalidate", () =>
  serving(async (served) => {
    const { dir, server, remote, directory } = served;
    const bytes = records(Array(6000).fill(4000));
    fs.writeFileSync(`${dir}/a.tfrecord`, bytes);
    const url = `${server.url}/a.tfrecord`;
    {
      using reader = await openSamples(url, { remote });
      assert.equal(reader.length, 6000);
      const { count } = asked(served, "/a.tfrecord");
      assert.ok(count <= Math.ceil(bytes.length / LONGEST) + 1, String(count));
    }
    server.asked.length = 0;
    {
      using reader = await openSamples(url, { remote });
      const read = await contentsOf(reader, [0, 5999, 3000]);
      assert.deepEqual(read.map(([first]) => first), [
        65,
        65 + 5999 % 26,
        65 + 3000 % 26,
      ]);
      assert.equal(asked(served, "/a.tfrecord").count, 1);
    }
    // The index of records is cached apart from their bytes.
    fs.rmSync(`${directory}/objects`, { recursive: true });
    server.asked.length = 0;
    using reader = await openSamples(url, { remote });
    assert.equal(reader.length, 6000);
    assert.equal(asked(served, "/a.tfrecord").count, 1);
  }));

Deno.test("large records are skipped", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const large = 9 << 20;
    const sizes = [10, large, 20, large, large, 4000, 5000, large];
    const bytes = records(sizes);
    fs.writeFileSync(`${dir}/a.tfrecord`, bytes);
    const url = `${server.url}/a.tfrecord`;
    using reader = await openSamples(url, { remote });
    assert.equal(reader.length, 8);
    const { count, bytes: fetched } = asked(served, "/a.tfrecord");
    assert.ok(count <= bytes.length / LONGEST + 4, String(count));
    assert.ok(fetched < 2 << 20, String(fetched));
    const [one] = await contentsOf(reader, [4]);
    assert.ok(one!.length === large && one!.every((byte) => byte === 69));
  }));

Deno.test("wrong bytes in the cache are fetched again, as the checksum of the record detects them", () =>
  serving(async (served) => {
    const { dir, server, directory, remote } = served;
    fs.writeFileSync(`${dir}/a.tfrecord`, records([5000, 5000]));
    const url = `${server.url}/a.tfrecord`;
    server.fault = (_asked, response, file) => {
      if (file === undefined) return false;
      // The first response has a wrong byte in the second record.
      const bytes = Buffer.from(file);
      bytes[6000]! ^= 1;
      response.writeHead(206, {
        "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}`,
        "content-length": bytes.length,
        etag: '"x"',
      }).end(bytes);
      return true;
    };
    using reader = await openSamples(url, { remote });
    server.fault = (_asked, response, file) => {
      if (file === undefined) return false;
      response.writeHead(206, {
        "content-range": `bytes 0-${file.length - 1}/${file.length}`,
        "content-length": file.length,
        etag: '"x"',
      }).end(file);
      return true;
    };
    const [, second] = await contentsOf(reader, [0, 1]);
    assert.ok(second!.every((byte) => byte === 66));
    assert.ok(fs.existsSync(directory));
  }));

Deno.test("a wrong length in the cache does not end a file", () =>
  serving(async ({ dir, server, remote }) => {
    fs.writeFileSync(`${dir}/a.tfrecord`, records([5000, 5000, 5000]));
    let isFirst = true;
    server.fault = ({ range }, response, file) => {
      if (file === undefined) return false;
      const bytes = Buffer.from(file);
      if (isFirst) bytes[2 * 5016]! ^= 1; // in the length of the third record
      isFirst = false;
      const [, first, end] = /(\d+)-(\d+)/.exec(range ?? "")!.map(Number);
      const last = Math.min(end!, bytes.length - 1);
      response.writeHead(206, {
        "content-range": `bytes ${first}-${last}/${bytes.length}`,
        "content-length": last + 1 - first!,
        etag: '"x"',
      }).end(bytes.subarray(first, last + 1));
      return true;
    };
    const url = `${server.url}/a.tfrecord`;
    using reader = await openSamples(url, { remote });
    assert.equal(isFirst, false);
    assert.equal(reader.length, 3);
    assert.ok((await contentsOf(reader, [2]))[0]!.every((byte) => byte === 67));
  }));

Deno.test("the complete records of a truncated file on a server are read, batch by batch", () =>
  serving(async ({ dir, server, remote }) => {
    const whole = records(Array(100).fill(5000));
    const end = 90 * 5016;
    for (const [length, count] of [[end + 7, 90], [end, 90], [end - 1, 89]]) {
      fs.writeFileSync(`${dir}/${length}.tfrecord`, whole.subarray(0, length));
      const warnings: string[] = [];
      using dataset = await openDataset(
        `${server.url}/${length}.tfrecord`,
        { remote, onWarning: (line) => warnings.push(line) },
      );
      assert.equal(dataset.length, count);
      const firsts: number[] = [];
      const loader = new DataLoader<SampleValues, SampleValues[]>(dataset, {
        ...{ batchSize: 16, collate: false },
      });
      for await (const batch of loader) {
        firsts.push(...batch.map(({ content }) => (content as Uint8Array)[0]!));
      }
      assert.deepEqual(
        firsts,
        Array.from({ length: count! }, (_, i) => 65 + i % 26),
      );
      assert.equal(warnings.length, length === end ? 0 : 1);
    }
  }));

Deno.test("examples on a server are samples, and files of their features", () =>
  serving(async ({ dir, server, remote }) => {
    const examples = Array.from(
      { length: 20 },
      (_, i) => exampleOf({ "a/id": [`${i}`] }),
    );
    for (
      const [s, part] of [examples.slice(0, 8), examples.slice(8)].entries()
    ) {
      fs.writeFileSync(`${dir}/x-0000${s}-of-00002`, fileOf(part));
    }
    const location = `${server.url}/x-%3F%3F%3F%3F%3F-of-00002`;
    using dataset = await openDataset(location, { remote });
    const samples = await dataset.get([19, 0, 8]);
    assert.deepEqual(
      samples.map((sample) =>
        String(Buffer.from((sample["a/id"] as Uint8Array[])[0]!))
      ),
      ["19", "0", "8"],
    );
    using shown = await open(location, { remote, decoded: true });
    const text = await shown.read("x-00001-of-00002/000003/a/id");
    assert.equal(String(Buffer.from(text)), "11");
  }));
