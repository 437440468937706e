/** Tars that are written: Python's tarfile reads them, and so do we. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/convert/mod.ts";
import { WebDataset } from "../../../../src/data/mod.ts";
import { TarReader, TarWriter } from "../../../../src/formats/tar/mod.ts";
import { check, open } from "../../../../src/vfs/mod.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

/** What a tar holds, as Python's tarfile says it. */
const LIST = `
import hashlib, json, sys, tarfile
found = []
with tarfile.open(sys.argv[1]) as tar:
    for member in tar:
        data = tar.extractfile(member).read() if member.isreg() else None
        found.append([member.name, None if data is None else data.decode("latin1"), int(member.mtime)])
print(json.dumps(found))
`;

async function byPython(path: string): Promise<[string, string, number][]> {
  const { code, stdout, stderr } = await output(PYTHON, "-c", LIST, path);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function requireSound(path: string): Promise<void> {
  const onDamage = (damage: Error) => assert.fail(damage.message);
  await check(path, { onDamage });
}

const text = (value: string) => new TextEncoder().encode(value);

Deno.test({
  name:
    "Python reads what was written: long names, names that are not UTF-8, streams, directories",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.tar`;
      const long = `${"directory/".repeat(30)}${"n".repeat(150)}.txt`;
      const hundred = "h".repeat(100);
      const mtime = new Date(1_234_567_890_000);
      async function* stream() {
        yield text("a ");
        yield text("stream");
      }
      await using writer = await TarWriter.open(path);
      await writer.write("a.txt", text("1"), { mtime });
      await writer.write(long, text("long"), { mtime });
      await writer.write(hundred, text("100"), { mtime });
      await writer.write("b\udcff", stream(), { mtime, size: 8 });
      await writer.makeDirectory("empty", { mtime });
      await writer.write("large", new Uint8Array(3 << 20).fill(65), { mtime });
      assert.deepEqual(fs.existsSync(path), false);
      await writer.close();
      const seconds = mtime.getTime() / 1000;
      const found = await byPython(path);
      assert.equal(found.pop()![1].length, 3 << 20);
      assert.deepEqual(found, [
        ["a.txt", "1", seconds],
        [long, "long", seconds],
        [hundred, "100", seconds],
        ["b\udcff", "a stream", seconds],
        ["empty", null, seconds],
      ]);
      await requireSound(path);
      using reader = await TarReader.open(path);
      assert.deepEqual(reader.names, [
        "a.txt",
        long,
        hundred,
        "b\udcff",
        "large",
      ]);
      assert.equal(fs.statSync(path).size % 10_240, 0);
    }),
});

Deno.test("what can't be a member is refused, and what is not closed leaves nothing", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/a.tar`;
    {
      await using writer = await TarWriter.open(path);
      await writer.write("a", text("1"));
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    for (const name of ["", "/a", "a/../b", "a//b", "a\0"]) {
      await using writer = await TarWriter.open(path);
      await assert.rejects(writer.write(name, text("1")), TypeError);
      await assert.rejects(writer.close(), { code: "failed" });
    }
    await using writer = await TarWriter.open(path);
    async function* short() {
      yield text("1");
    }
    await assert.rejects(
      writer.write("a", short()),
      /size of 'a' is not given/,
    );
    await assert.rejects(
      writer.write("a", short(), { size: 2 }),
      /did not give the 2 bytes/,
    );
    await assert.rejects(writer.write("b", text("1")), { code: "failed" });
  }));

Deno.test({
  name: "anything becomes a tar, or shards that part no sample",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const { path, content: { entries } } = tarCase("webdataset");
      await convert(path, `${dir}/one.tar`);
      using before = await open(path);
      using one = await open(`${dir}/one.tar`);
      const paths = entries.map(({ path }) => path);
      assert.deepEqual(await one.read(paths), await before.read(paths));
      assert.deepEqual(one.info.facts, { samples: 12 });
      const python = await byPython(`${dir}/one.tar`);
      assert.deepEqual(
        python.map(([name]) => name).filter((name) => name !== "train"),
        paths,
      );

      await convert(path, `${dir}/length`, { to: "tar", shardLength: 5 });
      assert.deepEqual(fs.readdirSync(`${dir}/length`).sort(), [
        ...["length-000000.tar", "length-000001.tar", "length-000002.tar"],
      ]);
      using dataset = await WebDataset.open(`${dir}/length`);
      const all = await dataset.get([0, 4, 5, 11]);
      assert.deepEqual(all.map(({ cls }) => cls), [0, 4, 5, 11]);
      assert.equal(dataset.length, 12);
      const last = await byPython(`${dir}/length/length-000002.tar`);
      assert.equal(last.length, 10);

      await convert(path, `${dir}/size`, { to: "tar", shardSize: 6000 });
      for (const name of fs.readdirSync(`${dir}/size`)) {
        using shard = await TarReader.open(`${dir}/size/${name}`);
        assert.equal(shard.length, 5 * shard.sampleCount);
        await requireSound(`${dir}/size/${name}`);
      }
      await assert.rejects(
        convert(path, `${dir}/other`, { to: "tar" }),
        /name of a tar ends in \.tar/,
      );
    }),
});
