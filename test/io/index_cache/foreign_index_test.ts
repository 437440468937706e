/** Index files of other contents than the container next to them, and such as only somebody hostile makes. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { check, open } from "../../../src/open/open.ts";
import { writeIndex } from "../../../src/open/write_index.ts";
import { crc32Of } from "../../../src/io/read/crc32_of.ts";
import { Sfc32 } from "../../../src/data/random/random.ts";
import { withTempDir } from "../../support/paths.ts";
import { memberBytes } from "../../support/tar/make_tar.ts";

const INDEX = ".recordfs-index";

Deno.test("a member that changed is not given out, and what is the index of something else is ignored", () =>
  withTempDir(async (dir) => {
    const tar = `${dir}/x.tar`;
    const members = Array.from(
      { length: 33_000 },
      (_, i) => memberBytes({ name: `${i}.txt`, data: `${i}` }),
    );
    const bytes = Buffer.concat([...members, Buffer.alloc(1024)]);
    const write = (at: number, member: Uint8Array) => {
      const other = Buffer.from(bytes);
      other.set(member, 1024 * at);
      fs.writeFileSync(tar, other);
    };
    fs.writeFileSync(tar, bytes);
    await writeIndex(tar);
    const warnings: string[] = [];
    const options = {
      remote: { cache: false as const },
      onWarning: (message: string) => warnings.push(message),
    };
    // One in the middle has another name, and another size.
    for (
      const member of [{ name: "other.txt", data: "1" }, {
        name: "5000.txt",
        data: "12345678",
      }]
    ) {
      write(5000, memberBytes(member));
      using container = await open(tar, options);
      await assert.rejects(async () => await container.read("5000.txt"), {
        code: "bad-index",
        member: "5000.txt",
      });
      assert.throws(() => container.readSync("5000.txt"), {
        code: "bad-index",
      });
      assert.equal(
        Buffer.from(await container.read("5001.txt")).toString(),
        "5001",
      );
      assert.deepEqual(warnings, []);
      const found: string[] = [];
      const report = await check(tar, {
        ...options,
        onDamage: ({ code, path }) => found.push(`${code} ${path}`),
      });
      assert.deepEqual([report.damaged, found], [1, [
        `bad-index ${tar}${INDEX}`,
      ]]);
      warnings.length = 0;
    }
    // The first, and one of those that are compared at once.
    write(0, memberBytes({ name: "first.txt", data: "first" }));
    {
      using container = await open(tar, options);
      assert.equal(
        Buffer.from(await container.read("first.txt")).toString(),
        "first",
      );
      assert.equal(warnings.length, 1);
      assert.match(
        warnings[0]!,
        /x\.tar\.recordfs-index is ignored: .*x\.tar has other content than it was made from/,
      );
    }
    fs.writeFileSync(tar, Buffer.concat([bytes, Buffer.alloc(10_240)]));
    using container = await open(tar, options);
    assert.equal(container.info.files, 33_000);
    assert.match(
      warnings[1]!,
      /is ignored: it is the index of a file of \d+ bytes/,
    );
  }));

/** Sets the CRC-32 of an index file's head anew. */
function sealed(file: Buffer): Buffer {
  const length = file.readUInt32LE(24);
  file.writeUInt32LE(crc32Of(file.subarray(32, 32 + length)), 28);
  return file;
}

Deno.test("hostile index files are ignored with a warning, and cost neither memory nor answers", () =>
  withTempDir(async (dir) => {
    const tar = `${dir}/x.tar`;
    const members = Array.from(
      { length: 33_000 },
      (_, i) => memberBytes({ name: `${i}.txt`, data: `${i}` }),
    );
    fs.writeFileSync(tar, Buffer.concat([...members, Buffer.alloc(1024)]));
    await writeIndex(tar);
    const right = fs.readFileSync(`${tar}${INDEX}`);
    const edited = (before: RegExp, after: string) => {
      const length = right.readUInt32LE(24);
      const head = right.subarray(32, 32 + length).toString("latin1");
      const other = head.replace(before, after);
      assert.notEqual(other, head);
      const file = Buffer.concat([
        right.subarray(0, 32),
        Buffer.from(other),
        right.subarray(32 + length),
      ]);
      file.writeUInt32LE(other.length, 24);
      return sealed(file);
    };
    const flipped = (at: number) => {
      const file = Buffer.from(right);
      file[at]! ^= 0x40;
      return file;
    };
    const huge = Buffer.from(right);
    huge.writeUInt32LE(0xffff_fff0, 24);
    const random = new Sfc32(7, 1, 1);
    const hostile = [
      Buffer.alloc(0),
      Buffer.from("x"),
      Buffer.from(Array.from({ length: 100_000 }, () => random.next() & 255)),
      huge,
      right.subarray(0, 31),
      right.subarray(0, 200),
      right.subarray(0, right.length - 1),
      flipped(3),
      flipped(40),
      flipped(right.length - 5),
      edited(/"size":\d+/, '"size":7'),
      edited(/"bytes":\d+/, '"bytes":9007199254740991'),
      edited(/"bytes":\d+/, '"bytes":16'),
      edited(/"bytes":(\d+)/, '"bytes":-1'),
      edited(/"length":\d+/, '"length":9007199254740991'),
      edited(/"start":\d+/, '"start":9007199254740991'),
      edited(/"marks":\[[^\]]*\]/, '"marks":[]'),
      edited(/"marks":\[\d+/, '"marks":[1'),
      edited(/"sections":\[/, '"sections":[null,'),
      edited(/"mtime":[\d.]+/, '"mtime":"x"'),
    ];
    for (const [i, file] of hostile.entries()) {
      fs.writeFileSync(`${tar}${INDEX}`, file);
      const warnings: string[] = [];
      using container = await open(tar, {
        remote: { cache: false },
        onWarning: (message) => warnings.push(message),
      });
      assert.equal(container.info.files, 33_000, String(i));
      assert.equal(
        Buffer.from(await container.read("32999.txt")).toString(),
        "32999",
      );
      assert.equal(warnings.length, 1, `${i}: ${warnings}`);
      assert.match(
        warnings[0]!,
        /recordfs-index is ignored: .*Make it again with `recordfs index`, or delete it$/,
      );
    }
  }));
